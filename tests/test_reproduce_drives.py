"""Are real drives read, made smaller, loaded and judged as is said of them?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from outlast import api
from outlast.fio import Request, requests
from outlast.products.reproduce import DRIVES, PAPERS, cells, command, paper
from outlast.products.reproduce.drives import common, latency, load, measured
from outlast.products.reproduce.drives.shapes import RULES, Point, shapes
from outlast.products.reproduce.model import Setting, Table, incomplete
from outlast.why.quantity import nanos

PAPER = paper("drives")
SCENARIOS = ROOT / "scenarios"
CAPACITY = 1 << 34
QUICK = Setting(PAPER.modes["quick"], SCENARIOS / "drives")
MAX, P5520, PM9A3, PE8110 = common.DRIVES
WAF, RATES = PAPER.figures[:2]
PRESETS = sorted(file for file in (SCENARIOS / "presets" / "drives").glob("*.toml") if file.stem != "wd-zn540")
SECTORS = {
    "hynix-pe8110-960g": 1_875_385_008,
    "kioxia-cm7r-3840g": 7_501_476_528,
    "micron-7450-max-800g": 1_562_824_368,
    "micron-7450-pro-960g": 1_875_385_008,
    "samsung-980pro-1t": 1_953_525_168,
    "samsung-pm9a3-960g": 1_875_385_008,
    "solidigm-p5336-7680g": 15_002_931_888,
    "solidigm-p5520-1920g": 3_750_748_848,
}
"""Sectors by the data sheets, equal to IDEMA's formula for the capacity in each drive's name."""


def test_sectors_are_those_of_the_name() -> None:
    for name, sectors in SECTORS.items():
        size = name.rpartition("-")[2]
        gigabytes = int(size[:-1]) * (1000 if size.endswith("t") else 1)
        # IDEMA LBA1-03: 97 696 368 + 1 953 504 for each GB beyond 50.
        assert sectors == 97_696_368 + 1_953_504 * (gigabytes - 50), name


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: file.stem)
def test_a_preset_has_its_size_and_runs_for_a_moment(file: Path) -> None:
    whole = api.resolve(str(file))
    assert whole["name"] == file.stem
    assert api.resolve(file.stem) == whole
    if file.stem in SECTORS:
        spare = common.spare_for(whole, SECTORS[file.stem] * 512 / 2**30)
        assert math.isclose(spare, whole["device"]["ftl"]["over_provisioning"], rel_tol=1e-5)
    pages = {common.PAGES: 12, "device.geometry.blocks_per_plane": 128, "device.controller.write_buffer": "64MiB"}
    brief = {"workload.synthetic.duration": "20ms", "run.warm_up": "0s", "precondition.max_drive_writes": 3.0}
    summary = api.run([str(file)], pages | brief | {"precondition.min_drive_writes": 0.5}).summary
    assert summary["host"]["reads"] > 0
    assert summary["host"]["writes"] > 0
    assert summary["host"]["errors"] == 0
    assert summary["latency_us"]["read"]["p50"] > 20


def test_a_smaller_drive_has_as_many_superblocks_and_as_much_spare_space() -> None:
    whole = api.resolve(str(QUICK.scenarios / "7450.toml"))
    part = api.resolve(whole, common.smaller(whole, 8))
    geometries = [each["device"]["geometry"] for each in (whole, part)]
    assert geometries[0]["pages_per_block"] == 8 * geometries[1]["pages_per_block"]
    assert geometries[0] | {"pages_per_block": 0} == geometries[1] | {"pages_per_block": 0}
    assert part["device"]["ftl"] == whole["device"]["ftl"]
    share = [nanos(each["device"]["timing"]["erase"]) for each in (whole, part)]
    assert share[0] == 8 * share[1]


def test_measurements_are_cited_whole() -> None:
    for drive in common.DRIVES:
        loads = measured.loads(drive.name)
        assert len(loads) >= 15
        assert [own["rate"] for own in loads] == sorted({own["rate"] for own in loads})
        assert all(own[f"{op}50"] <= own[f"{op}99"] for own in loads for op in "rw")
        # What is asked for is reached until the drive is saturated.
        for own in loads:
            assert own["writes"] <= 1.02 * latency.requested_rate(own["rate"])
            if latency.requested_rate(own["rate"]) < 0.95 * measured.most(drive.name):
                assert own["writes"] > 0.98 * latency.requested_rate(own["rate"])
    counted = [own for own in measured.writes(MAX.name) if own["how"] == "counted"]
    assert [own["gib"] for own in counted] == [372.6, 447, 521.7, 596, 670.6, 745.2]


def arrivals(tmp_path: Path, rate: int, runtime: str) -> dict[str, list[Request]]:
    """Requests of each thread of one load, from a drive that answers at once."""
    file = tmp_path / "load.fio"
    file.write_text(load.job([rate], "0s", runtime).replace("ramp_time=0s\n", ""))
    found: dict[str, list[Request]] = {}
    for request in requests(file, capacity=CAPACITY, latency_s=2e-6, most=1_000_000):
        found.setdefault(request.job, []).append(request)
    return found


def test_the_load_is_the_one_of_the_measurement(tmp_path: Path) -> None:
    """Rates by kind, constant gaps of the measured thread, exponential ones of the others, addresses over the drive."""
    rate, seconds = 60_000, 0.2
    threads = arrivals(tmp_path, rate, "200ms")
    measured_thread = threads.pop(f"{load.MEASURED}-{rate}")
    others = [request for own in threads.values() for request in own]
    for op in ("read", "write"):
        times = np.array([own.at for own in measured_thread if own.op == op])
        assert abs(len(times) - 5_000 * seconds) <= 2
        gaps = np.diff(times)
        # The two directions are paced each for itself: one request may wait for the other's turn.
        assert abs(gaps.mean() - 200e-6) < 1e-6
        assert gaps.std() < 0.5 * gaps.mean()
    writes = np.sort([own.at for own in others if own.op == "write"])
    for count, expected in (
        (len(writes), 0.99 * 55_000 * seconds),
        (len(others) - len(writes), 0.01 * 55_000 * seconds),
    ):
        # Six Poisson processes: five standard deviations, and fio's whole requests a second of each.
        assert abs(count - expected) <= 5 * math.sqrt(expected) + load.THREADS * seconds
    # Gaps of the sum of Poisson processes are exponential: by Kolmogorov and Smirnov, at a level of one in a million,
    # in whole microseconds, which is what fio counts in.
    gaps = np.sort(np.diff(writes))
    law = 1 - np.exp(-gaps / gaps.mean())
    ranks = np.arange(1, len(gaps) + 1) / len(gaps)
    assert (
        max(abs(ranks - law).max(), abs(ranks - 1 / len(gaps) - law).max())
        <= 2.7 / math.sqrt(len(gaps)) + 1e-6 / gaps.mean()
    )
    assert {own.bytes for own in (*others, *measured_thread)} == {4096}
    tenths = np.bincount([own.offset * 10 // CAPACITY for own in others], minlength=10)
    assert len(tenths) == 10
    assert all(abs(tenths - len(others) / 10) <= 5 * math.sqrt(len(others) / 10))


def test_rates_of_the_threads_sum_to_the_load() -> None:
    for rate in (10_000, 60_000, 200_000):
        reads, writes = load.rates(rate)
        asked = 2 * load.OWN_RATE + load.THREADS * (reads + writes)
        assert math.isclose(asked, rate + load.OWN_RATE, rel_tol=0.005)
    text = load.job([30_000, 10_000], "1s", "2s")
    assert text.count("stonewall") == 1
    assert text.index("measured-30000") < text.index("stonewall") < text.index("load-10000")


def curve(drive: common.Drive) -> list[Point]:
    return [{"asked": latency.requested_rate(own["rate"])} | own for own in measured.loads(drive.name)]


def test_the_shapes_of_the_measured_curves() -> None:
    found = {drive.key: {name for name, there in shapes(curve(drive)).items() if there} for drive in common.DRIVES}
    assert found == {
        "7450": {"bursts"},
        "p5520": {"knee"},
        "pm9a3": {"knee", "drowned reads"},
        "pe8110": {"knee", "drowned reads"},
    }
    assert set(RULES) == {"knee", "bursts", "drowned reads"}


def test_a_curve_without_saturation_has_no_shape() -> None:
    points = [own for own in curve(P5520) if own["asked"] < 100_000]
    with pytest.raises(LookupError, match="saturates"):
        shapes(points)


def test_what_stands_for_a_share_of_the_maximum() -> None:
    loads = {drive.key: [own["rate"] // 1000 for own in latency.judged(drive).values()] for drive in common.DRIVES}
    assert loads["7450"] == [30, 60, 90, 120]
    assert loads["p5520"] == [30, 60, 90, 130]
    assert loads["pm9a3"] == [20, 40, 60, 80]
    assert loads["pe8110"] == [20, 40, 60, 90]


def rows_of_a_drive(drive: common.Drive, factor: float) -> Table:
    """Table of a run whose percentiles are `factor` times the measured ones."""
    jobs = []
    for own in latency.chosen(drive):

        def figures(op: str, iops: float, latencies: dict[str, float]) -> dict[str, Any]:
            names = {"p50": f"{op}50", "p99": f"{op}99", "p99_9": f"{op}99.9"}
            return {"iops": iops, "latency_us": {key: factor * latencies[own] - 4.0 for key, own in names.items()}}

        mine = {op: figures(op[0], own["writes"], own) for op in ("read", "write")}
        jobs.append({"name": f"{load.MEASURED}-{own['rate']}"} | mine)
    return Table(latency.rows_of(drive, {"host": {"jobs": jobs}}))


def test_threads_of_a_load_share_what_is_written() -> None:
    """Beside the measured thread there are as many jobs of one name as there are threads."""
    rate = latency.chosen(MAX)[0]["rate"]
    times = dict.fromkeys(("p50", "p99", "p99_9"), 1.0)
    jobs = [
        {"name": f"{name}-{own['rate']}", "write": {"iops": 10.0, "latency_us": times}, "read": {"latency_us": times}}
        for own in latency.chosen(MAX)
        for name in (load.MEASURED, *[load.OTHERS] * load.THREADS)
    ]
    row = Table(latency.rows_of(MAX, {"host": {"jobs": jobs}})).row(load=f"{rate // 1000} k/s")
    assert row["writes simulated"] == 10 * (1 + load.THREADS)


def test_the_slowest_requests_are_told_by_cause() -> None:
    bands = [
        {"from": 50.0, "requests": 400, "mean_ns": {"queue": 900.0, "sensing": 0.0}},
        {"from": 99.0, "requests": 9, "mean_ns": {"queue": 10.0, "die_erase": 30.0, "sensing": 0.0}},
        {"from": 99.9, "requests": 1, "mean_ns": {"queue": 10.0, "die_erase": 0.0, "sensing": 120.0}},
    ]
    # Of 10 · 10, 9 · 30 and 120 in all 490.
    assert latency.slowest({"read": {"bands": bands}, "write": None}) == [
        "reads (die erase 55 %, sensing 24 %, queue 20 %)"
    ]
    assert latency.slowest({}) == []


@pytest.mark.parametrize("drive", common.DRIVES, ids=lambda drive: drive.key)
def test_percentiles_are_judged_by_their_tolerances(drive: common.Drive) -> None:
    figure = latency.figure(drive)
    for factor, wrong in (
        (1.0, []),
        (1.2, ["medians"]),
        (1.4, ["medians", "99th"]),
        (0.4, ["medians", "99th", "99.9th"]),
    ):
        verdicts = figure.verdicts(rows_of_a_drive(drive, factor))
        for verdict in verdicts:
            judged = "shape" not in verdict["statement"] and any(words in verdict["statement"] for words in wrong)
            expected = "differs" if judged else "agrees"
            if verdict["verdict"] != expected:
                # A statement of which one point was fitted stands for the other.
                assert verdict["verdict"] == "agrees", verdict
                assert "fitted" in verdict["found"]
            assert incomplete(verdict) is None
    for chart in figure.charts(rows_of_a_drive(drive, 1.0)):
        assert "NaN" not in chart.html()


def test_amplifications_are_judged_by_their_tolerances() -> None:
    def verdicts(factor: float, steady: float) -> list[dict[str, Any]]:
        ours = {"off_percent": 100 * (factor - 1), "steady": steady}
        labels = [dict(cell.labels) for cell in WAF.cells(QUICK)]
        return WAF.verdicts(Table([own | ours | {"simulated": factor * own["measured"]} for own in labels]))

    def words(factor: float) -> list[str]:
        return [verdict["verdict"] for verdict in verdicts(factor, steady=1.0)]

    assert set(words(1.0)) == {"agrees"}
    assert words(1.02)[:2] == ["agrees", "differs"]
    assert words(1.04)[:2] == ["differs", "differs"]
    assert words(1.04).count("agrees") == 3
    assert set(words(1.06)) == {"differs"}
    assert verdicts(1.06, steady=0.0)[-1]["because"].startswith("the simulated drive was not steady")
    assert verdicts(1.06, steady=1.0)[-1]["because"].startswith("measured values are derived")


def test_what_the_drive_writes_of_its_own_is_a_factor(tiny: Path) -> None:
    summary = api.run(tiny).summary
    planned = WAF.cells(QUICK)
    assert WAF.rows is not None
    rows = WAF.rows(QUICK, planned, [{"scenario": summary["scenario"], "summary": summary}] * len(planned))
    assert {row["factor"] for row in rows} == {1.033, 1.067, 1.0}
    for row in rows:
        assert math.isclose(row["simulated"], row["factor"] * summary["write_amplification"]["total"])
        assert math.isclose(row["off_percent"], 100 * (row["simulated"] / row["measured"] - 1))


def test_one_run_stands_for_both_drives_of_one_hardware() -> None:
    keys = [(cell.labels["drive"], cells.prepare(cell, 1).key) for cell in RATES.cells(QUICK)]
    own, other = ({key for name, key in keys if name == drive} for drive in (MAX.name, "Micron 7450 PRO 960 GB"))
    assert own == other


def test_every_cell_is_sound() -> None:
    for mode in ("quick", "full"):
        setting = Setting(PAPER.modes[mode], SCENARIOS / "drives")
        for figure in PAPER.figures:
            planned = figure.cells(setting)
            assert (setting.scenarios / f"{figure.name}.toml").is_file()
            labels = [tuple(sorted(cell.labels.items())) for cell in planned]
            assert len(set(labels)) == len(labels)
            for cell in planned:
                scenario = cells.prepare(cell, 1).scenario
                json.dumps(scenario, allow_nan=False)
                assert scenario["device"]["geometry"]["blocks_per_plane"] > 400


def test_fitted_points_exist() -> None:
    for figure, fitted in ((WAF, 4), (RATES, 3)):
        assert [cell.labels["kind"] for cell in figure.cells(QUICK)].count(common.FITTED) == fitted
    for drive in common.DRIVES:
        points = {(str(own["rate"]), name) for own in measured.loads(drive.name) for name in measured.FIGURES}
        assert points >= {(rate, name) for rate, names in drive.fitted.items() for name in names}


def test_drives_are_run_if_they_are_named() -> None:
    assert [known.name for known, _ in command.select([])] == list(PAPERS)
    assert [known.name for known, _ in command.select(["hrm", *DRIVES])] == ["hrm", *DRIVES]
    ((known, figures),) = command.select(["drives/rates", "waf"])
    assert (known.name, [figure.name for figure in figures]) == ("drives", ["waf", "rates"])
