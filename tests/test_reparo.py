"""Are Reparo's runs the ones that its figures mean, and are its statements judged by their numbers?"""

from __future__ import annotations

import copy
import functools
import itertools
from typing import Any

import pytest

from conftest import ROOT
from outlast import models, points
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.model import Cell, Figure, Row, Setting, Table
from outlast.products.reproduce.reparo import example

REPARO = paper("reparo")
FIGURES = {figure.name: figure for figure in REPARO.figures}
QUICK, FULL = (Setting(REPARO.modes[mode], ROOT / "scenarios" / "reparo") for mode in ("quick", "full"))
SMALL = {"device.geometry.blocks_per_plane": 182, "device.geometry.pages_per_block": 16, "run.capacity_scale": 2.0}
UNIT = 64 * 1024
SIMULATED = ("fig10", "fig11", "fig12", "fig13", "fig14", "fig15", "fig16", "future", "mttdl", "runtime", "fit")
BASELINE, IDR, CDR, CDR_STAR = "baseline", "IDR", "CDR", "CDR*"
DIES = {"4 TB": 64, "8 TB": 128, "16 TB": 256, "32 TB": 512}
GONE = "device.repair.repaired_dies"


def planned(figure: str, setting: Setting = QUICK, **labels: str) -> list[Cell]:
    """Cells of a figure with these labels."""
    return [own for own in FIGURES[figure].cells(setting) if labels.items() <= own.labels.items()]


@functools.cache
def demo() -> dict[str, Any]:
    """The record of a short run, run once for all."""
    return points.measure(
        cells.prepare(Cell({}, ["demo"], {"workload.synthetic.duration": "1ms", "run.warm_up": "0s"}), 1)
    )


def rows(figure: str, ran: list[Cell], *records: dict[str, Any]) -> list[Row]:
    """Rows of a figure for these cells alone."""
    made = FIGURES[figure].rows
    assert made is not None
    return made(QUICK, ran, records)


def run(own: Cell, **more: Any) -> tuple[Row, dict[str, Any]]:
    """A cell of Figure 10 or 11 on small dies: its row in Figure 10, and the summary."""
    record = points.measure(cells.prepare(Cell(own.labels, own.layers, {**own.overrides, **SMALL, **more}), 1))
    return rows("fig10", [own], record)[0], record["summary"]


def repaired_by(scheme: str, **more: Any) -> tuple[Row, dict[str, Any]]:
    """A repair of a die of Figure 10, of a drive of 4 TB."""
    (own,) = planned("fig10", capacity="4 TB", scheme=scheme, bandwidth="all bandwidth")
    return run(own, **more)


def test_a_repair_writes_what_the_die_held_and_reads_seven_of_it() -> None:
    row, summary = repaired_by(IDR)
    repair, device = summary["repair"][0], summary["device"]
    # Everything was written once, over all 64 dies alike.
    assert repair["failed_units"] == pytest.approx(device["capacity_bytes"] / 7 / UNIT / DIES["4 TB"], rel=0.02)
    # Some the host read before, and what it could not read was written back at once.
    healed = summary["array"]["sectors_repaired"] * 512
    most = 2 * repair["failed_units"] * UNIT / 1e9
    assert most - 2 * healed / 1e9 <= row["written_gb"] < most
    assert row["read_gb"] == pytest.approx(7 * row["written_gb"])
    # One core looks at every entry, and at what it found once more.
    entries = device["capacity_bytes"] / 7 / UNIT
    least = 2 * (entries * 4160e-9 + repair["failed_units"] * 52.8e-6) / 60
    assert row["identify_min"] == pytest.approx(least, rel=0.02)
    assert row["total_min"] == pytest.approx(row["identify_min"] + row["recover_min"])


def test_the_baseline_copies_a_whole_drive_at_the_rate_of_the_link() -> None:
    row, summary = repaired_by(BASELINE, **{"device.geometry.pages_per_block": 64})
    capacity = summary["device"]["capacity_bytes"] / 7
    assert row["written_gb"] * 1e9 == pytest.approx(2 * capacity, rel=0.01)
    assert row["total_min"] * 60 == pytest.approx(2 * capacity / 1010e6, rel=0.03)


def test_failed_dies_are_of_one_core_and_spread_over_its_channels() -> None:
    named = {tuple(own.overrides[GONE]): own for name in SIMULATED for own in planned(name) if GONE in own.overrides}
    assert max(len(gone) for gone in named) == 6
    for gone, own in named.items():
        per_channel = own.overrides.get("device.geometry.dies_per_chip", 32)
        assert len(set(gone)) == len(gone)
        # Core 0 has the first four of sixteen channels.
        channels = [die // per_channel for die in gone]
        assert sorted(channels) == sorted(index % 4 for index in range(len(gone)))
    for die in (0, 4, 15, 16):
        _, summary = repaired_by(IDR, faults=[{"at": 0, "kind": "die", "device": 0, "die": die}])
        assert (summary["repair"][0]["die"], summary["repair"][0]["core"]) == (die, die // 16)


def test_full_size_runs_only_where_there_is_memory_for_it() -> None:
    def in_full(setting: Setting) -> list[str]:
        return [own.labels["in_full"] for own in planned("fig10", setting) if "in_full" in own.labels]

    assert in_full(QUICK) == ["4 TB"]
    assert in_full(FULL) == ["4 TB", "32 TB"]


@pytest.mark.parametrize("name", SIMULATED)
def test_every_cell_is_a_scenario_of_its_own(name: str) -> None:
    own = planned(name)
    assert len({tuple(sorted(each.labels.items())) for each in own}) == len(own)
    assert len({cells.prepare(each, 1).key for each in own}) == len(own)


def test_drives_of_a_capacity_have_its_dies_and_four_requests_for_each() -> None:
    for name in ("fig10", "fig12", "fig13", "fig14"):
        for own in planned(name, FULL):
            device, workload = (cells.prepare(own, 1).scenario[part] for part in ("device", "workload"))
            dies = DIES[own.labels.get("capacity") or own.labels["in_full"]]
            geometry = device["geometry"]
            assert geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"] == dies
            if name != "fig10":
                assert workload["synthetic"]["queue_depth"] == 4 * dies


def judged(figure: Figure, rows: list[dict[str, Any]]) -> dict[str, str]:
    """The verdicts of a figure on made-up rows, by the start of the statement."""
    return {each.text[:24]: each.judge(Table(rows))["verdict"] for each in figure.statements}


def repairs(speeds: dict[str, float]) -> list[Row]:
    """Rows of Figure 10 for repairs that take a part of the baseline's time, all of it search, at each capacity."""
    ran = planned("fig10", bandwidth="all bandwidth")
    records = []
    for own in ran:
        base = 66.0 * DIES[own.labels["capacity"]] / 64
        scheme = own.labels["scheme"]
        seconds = 60 * base / speeds.get(scheme, 1.0)
        moved = 8e12 * base / 66 if scheme == BASELINE else 5e11 + 3e11 * (scheme != IDR)
        one = {"way": "die", "lost_bytes": 0, "total_s": seconds, "identify_s": seconds, "finished_s": seconds}
        one |= {"failed_units": 1, "fake_failures": 0, "bytes_read_from_peers": 0, "bytes_read_from_member": 0}
        one |= {"bytes_written": moved, "way": "assist" if scheme == BASELINE else "die"}
        record = copy.deepcopy(demo())
        record["summary"]["repair"] = [one]
        if scheme == BASELINE:
            filled = {"done": 1.0, "started_s": 0.0, "finished_s": seconds, "bytes_read": 0, "bytes_written": moved}
            record["summary"]["array"] = {"rebuild": filled}
        records.append(record)
    return rows("fig10", ran, *records)


def test_a_repair_that_has_not_ended_or_that_lost_data_has_no_times() -> None:
    own = planned("fig10", capacity="4 TB", bandwidth="all bandwidth")[1]
    record = copy.deepcopy(demo())
    one = {"way": "die", "lost_bytes": 0, "total_s": 60.0, "identify_s": 6.0, "finished_s": 60.0, "bytes_written": 0}
    one |= {"failed_units": 1, "fake_failures": 0, "bytes_read_from_peers": 0, "bytes_read_from_member": 0}
    filled = {"done": 1.0, "started_s": 0.0, "finished_s": 120.0, "bytes_read": 0, "bytes_written": 0}

    def minutes(rebuild: dict[str, Any] | None = None, **more: Any) -> float | None:
        record["summary"] |= {"repair": [one | more], "array": {"rebuild": rebuild}}
        found: float | None = rows("fig10", [own], record)[0]["total_min"]
        return found

    assert (minutes(), minutes(filled, way="assist")) == (1, 2)
    # Data is lost; it goes on; the spare is not full; the drive was replaced although its die was to be repaired.
    assert minutes(lost_bytes=512) is minutes(finished_s=None) is None
    assert minutes(filled | {"done": 0.5}, way="assist") is minutes(filled) is minutes(way="assist") is None


def test_figure_10_is_judged_by_its_numbers() -> None:
    agreed = judged(FIGURES["fig10"], repairs({IDR: 14.0, CDR: 43.0, CDR_STAR: 55.0}))
    assert agreed["A rebuild of a 32-TB SSD"] == "agrees"
    assert agreed["CDR is about 3.1 times a"] == agreed["CDR* is about 1.27 times"] == "agrees"
    assert agreed["CDR* is 57 times as fast"] == "agrees"
    assert agreed["IDR is 9.3 times as fast"] == "differs"
    assert agreed["With a tenth of the band"] == "not judged"
    slower = judged(FIGURES["fig10"], repairs({IDR: 14.0, CDR: 35.0, CDR_STAR: 36.0}))
    assert slower["CDR is about 3.1 times a"] == slower["CDR* is about 1.27 times"] == "differs"
    assert slower["CDR* is 57 times as fast"] == "differs"
    assert slower["CDR takes less time than"] == "agrees"


def several(figure: str, drops: dict[tuple[str, str], float]) -> list[Row]:
    """Rows of Figure 15 or 16 for drives that each failure makes so much slower, by utilisation and scheme."""
    ran = planned(figure)
    records = []
    for own in ran:
        drop = drops[own.labels["utilisation"], own.labels["scheme"]] * int(own.labels["failures"])
        record = copy.deepcopy(demo())
        record["summary"]["throughput"]["iops"] = 1000 * (1 - drop)
        record["summary"]["write_amplification"] |= {"total": 2 * (1 + drop), "by_core": [2 * (1 + drop)] * 4}
        records.append(record)
    return rows(figure, ran, *records)


def test_failures_within_ten_percent_are_counted() -> None:
    def counts(figure: str, drops: dict[tuple[str, str], float]) -> list[float]:
        verdicts = FIGURES[figure].verdicts(Table(several(figure, drops)))
        return [number["simulation"] for own in verdicts for number in own["numbers"]]

    drops = {("0.9", IDR): 0.08, ("0.9", CDR): 0.022, ("0.87", IDR): 0.08, ("0.87", CDR): 0.0197}
    assert counts("fig15", drops) == [4, 1]
    assert counts("fig16", drops) == [5]
    assert set(judged(FIGURES["fig15"], several("fig15", drops)).values()) == {"agrees"}
    # All six are borne, or none, and with the same drop nothing is steeper.
    assert counts("fig15", dict.fromkeys(drops, 0.01)) == [6, 6]
    assert counts("fig15", dict.fromkeys(drops, 0.11)) == [0, 0]
    alike = judged(FIGURES["fig15"], several("fig15", dict.fromkeys(drops, 0.03)))
    assert set(alike.values()) == {"differs"}


def test_closed_forms_of_failures_within_ten_percent_are_the_first_that_is_more() -> None:
    def survived(dies: int, utilisation: float) -> int:
        def speed(failures: int) -> float:
            left = (dies - failures) / dies
            return float(models.waf(1 / utilisation - 1) / models.waf(left / utilisation - 1))

        return next(failures - 1 for failures in itertools.count(1) if speed(failures) < 0.9)

    drops = dict.fromkeys(itertools.product(("0.9", "0.87"), (IDR, CDR)), 0.02)
    found = {}
    for figure in ("fig15", "fig16"):
        verdicts = FIGURES[figure].verdicts(Table(several(figure, drops)))
        found[figure] = [number["closed_form"] for own in verdicts for number in own["numbers"]]
    assert found == {"fig15": [survived(512, 0.9), survived(128, 0.9)], "fig16": [survived(512, 0.87)]}


def test_speeds_after_a_repair_stand_beside_the_new_drive() -> None:
    own = [planned("fig12", capacity="4 TB", stream="random write", scheme=scheme)[0] for scheme in ("new", IDR)]
    small = {"device.geometry.blocks_per_plane": 128, "device.geometry.pages_per_block": 4}
    short = {"workload.synthetic.requests": 40_000, "device.controller.write_buffer": "8MiB"}
    tiny = [Cell(each.labels, each.layers, {**each.overrides, **small, **short}) for each in own]
    records = [points.measure(cells.prepare(each, 1)) for each in tiny]
    new, repaired = rows("fig13", tiny, *records)
    assert new["waf_ratio"] == new["core_ratio"] == 1
    # One core of four has lost most of its spare space: it writes more, the others do not.
    assert repaired["core_ratio"] > 1.3
    assert 1.05 < repaired["waf_ratio"] < repaired["core_ratio"]
    assert rows("fig12", tiny, *records)[1]["speed"] < 0.8


def test_a_drive_loses_and_moves_the_addresses_of_figures_7_and_8() -> None:
    assert example.lost() == (15, 31, 47)
    assert example.redirected() == {3: 0, 7: 1, 11: 2}


def test_more_cores_search_faster() -> None:
    techniques = ("one core", "two cores", "three cores", "four cores")
    took = [run(planned("fig11", capacity="4 TB", technique=own)[0])[0]["identify_min"] for own in techniques]
    assert took == sorted(took, reverse=True)
    assert len(set(took)) == 4
