"""Are latency against throughput within one run, and the four corners of a drive, what was counted?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from conftest import Outlast
from outlast import api, corners
from outlast.cli.corners import COLUMNS, rows_of, run_corners
from outlast.report import load
from outlast.report.tiles import series_of
from outlast.sweeps.plan import make
from outlast.sweeps.reading import read

JOBS = """\
[global]
rw=randread
bs=4k
size=8m
time_based
runtime=30ms
[one]
iodepth=1
[eight]
stonewall
iodepth=8
[thirty-two]
stonewall
iodepth=32
"""
SPAN = "50ms"


def ramp(rates: list[int]) -> dict[str, Any]:
    """A load of 50 ms at each rate."""
    phases = [{"name": f"p{rate}", "rate_iops": rate, "duration": SPAN} for rate in rates]
    return {"workload.synthetic.phases": phases, "run.warm_up": "0s", "run.window": "5ms"}


def test_each_job_that_runs_alone_is_a_point(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "ramp.fio").write_text(JOBS)
    done = outlast.run([str(tiny), {"workload": {"synthetic": None, "fio": {"file": str(tmp_path / "ramp.fio")}}}])
    jobs = {job["name"]: job["read"] for job in done.summary["host"]["jobs"]}
    figure = load.of_jobs(done.summary["host"]["jobs"], "read")
    assert figure is not None and len(jobs) == 3
    rates = sorted(job["iops"] for job in jobs.values())
    for trace, key in zip(figure.data, ("p50", "p99"), strict=True):
        assert trace["x"] == rates
        assert sorted(trace["y"]) == sorted(job["latency_us"][key] for job in jobs.values())
    assert load.of_jobs(done.summary["host"]["jobs"], "write") is None


def test_jobs_that_run_together_make_no_curve(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "mix.fio").write_text(JOBS.replace("stonewall\n", ""))
    done = outlast.run([str(tiny), {"workload": {"synthetic": None, "fio": {"file": str(tmp_path / "mix.fio")}}}])
    assert load.of_jobs(done.summary["host"]["jobs"], "read") is None


def test_a_ramp_of_phases_joins_windows_of_like_throughput(tiny: Path) -> None:
    done = outlast.run(str(tiny), ramp([1000, 3000, 9000]))
    series = series_of(done, 900)
    assert series is not None
    section = load.section(done.summary, series)
    assert section.name == "load"
    figure = load.of_windows(series, "read")
    assert figure is not None
    windows, curve = figure.data
    assert max(windows["x"]) > 3 * min(windows["x"]) and curve["x"] == sorted(curve["x"])


def test_a_step_has_the_mean_over_its_requests() -> None:
    """Against sums by hand: the mean of a step counts requests and not windows."""
    rate = np.array([60.0, 20.0, 21.0, 59.0, 61.0, 19.0])
    count, mean = np.array([1.0, 1.0, 3.0, 2.0, 1.0, 1.0]), np.array([9.0, 10.0, 20.0, 8.0, 7.0, 30.0])
    at, latency = load.steps(rate, count, mean)
    assert at.tolist() == [20.0, 60.0]
    assert latency.tolist() == pytest.approx([(10 + 60 + 30) / 5, (9 + 16 + 7) / 4])


def test_throughput_without_gaps_is_cut_into_steps() -> None:
    rate = np.linspace(10.0, 100.0, 200)
    at, latency = load.steps(rate, np.ones(200), rate)
    assert latency.tolist() == pytest.approx(at.tolist())
    assert len(at) == 6 and np.ptp(np.diff(at)) < 1


def test_a_steady_load_makes_no_curve(tiny: Path) -> None:
    done = outlast.run(str(tiny), {"workload.synthetic.duration": "100ms", "run.window": "5ms"})
    assert load.section(done.summary, series_of(done, 900)).html() == ""
    series = series_of(outlast.run(str(tiny), ramp([1000, 9000])), 900)
    assert series is not None and load.of_windows(series, "read") is not None
    even = series | {name: np.full(len(series["reads"]), 20.0) for name in ("reads", "writes", "trims")}
    even["end_s"] = even["start_s"] + 0.005
    assert load.of_windows(even, "read") is None


def test_the_corners_are_four_loads_of_one_drive(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    sheet = '[device.data_sheet]\nread = "100MB/s"\nrandom_write = 1000\n'
    (tmp_path / "drive.toml").write_text(f'extends = "{tiny.name}"\nname = "mine"\n{sheet}')
    short = ("--set", "workload.synthetic.duration=30ms", "--set", "run.warm_up=0s", "--jobs", "1")
    printed = outlast("run", "drive.toml", "--corners", *short, "-o", "out").stdout
    found = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert [point["values"]["corner"] for point in found["points"]] == [each.name for each in corners.CORNERS]
    assert all(each.name in printed for each in corners.CORNERS)
    whole = {"device": {"data_sheet": {"read": "100MB/s", "random_write": 1000}}}
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in rows_of(found["points"], whole)]
    assert [row["data sheet"] for row in rows] == ["100 MB/s", "–", "–", "1\u202f000 IOPS"]
    figures = [point["figures"] for point in found["points"]]
    assert [bool(each["throughput.read_mib_s"]["mean"]) for each in figures] == [True, False, True, False]
    for row, each, corner in zip(rows, figures, corners.CORNERS, strict=True):
        promised = corners.promise(whole, corner)
        size = 128 << 10 if not corner.is_random else 4096
        reached = each["throughput.iops"]["mean"] * (1 if corner.is_random else size)
        if promised is not None:
            assert row["difference"] == f"{reached / promised - 1:+.0%}"


def test_corners_keep_nothing_of_the_workload_and_all_of_the_drive(tiny: Path) -> None:
    """Addresses, rates and phases of the scenario hold at no corner; settings by name hold at each."""
    skewed = {"pattern": "zipf", "zipf_theta": 0.9, "span": "50%", "phases": [{"name": "p", "duration": "1s"}]}
    layers: list[Any] = [str(tiny), {"workload": {"synthetic": skewed}}]
    spec = corners.spec(api.resolve(layers, []), layers, [("workload.synthetic.duration", "70ms")])
    plan = make(read(spec), [])
    plain = make(
        read(corners.spec(api.resolve(str(tiny), []), [str(tiny)], [("workload.synthetic.duration", "70ms")])), []
    )
    assert [run.job.key for run in plan.runs] == [run.job.key for run in plain.runs]
    for run, corner in zip(plan.runs, corners.CORNERS, strict=True):
        synthetic = run.job.scenario["workload"]["synthetic"]
        assert synthetic["duration"] == "70ms" and synthetic["queue_depth"] == corner.depth
        assert (synthetic["pattern"] == "uniform") == corner.is_random


@pytest.mark.parametrize("more", [("--trace", "t.csv"), ("--repeats", "2"), ("--junit", "j.xml"), ("--force",)])
def test_what_is_of_one_run_is_refused_with_corners(outlast: Outlast, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "t.csv").write_text("128166372003061629,hm,0,Read,0,4096,1331\n")
    done = outlast("run", "demo", "--corners", *more, check=False)
    assert done.returncode == 2 and f"{more[0]} belongs to one run, not to --corners" in done.stderr, done.stderr


def test_corners_that_take_long_are_told_before_they_run(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = corners.spec(api.resolve(str(tiny), []), [str(tiny)], [])
    single = [outlast.estimate(str(tiny), spec["set"] | choice["set"]).cpu_s for choice in spec["vary"][0]["choices"]]
    assert corners.cost([str(tiny)], spec) == pytest.approx(sum(single), rel=0.01)
    # Overwriting is most of it, and only random writes are about it.
    assert [c["set"]["precondition.overwrite"] for c in spec["vary"][0]["choices"]] == [
        "none",
        "none",
        "none",
        "random",
    ]
    told: list[str] = []

    class StartedError(Exception):
        pass

    def start(*_: Any, **__: Any) -> None:
        told.append(capsys.readouterr().err)
        raise StartedError

    monkeypatch.setattr("outlast.sweeps.sweep", start)
    for limit, says in ((0.0, "four runs, "), (1e9, "")):
        monkeypatch.setattr("outlast.cli.corners.LONG_S", limit)
        with pytest.raises(StartedError):
            run_corners([str(tiny)], [], 1, {}, out=None, as_json=False, quiet=False)
        assert told[-1].startswith(says) and bool(told[-1]) == bool(says)
