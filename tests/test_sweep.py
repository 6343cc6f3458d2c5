"""Are the points of a sweep where its method says, its means right, its runs made once, its mistakes named?"""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import outlast
from conftest import ROOT, Outlast, files_below
from outlast.errors import DeviceError, OutputError, ScenarioError
from outlast.points import job as work
from outlast.sweeps import figures, plan, statistics
from outlast.sweeps.reading import read
from patience import PATIENCE_S, eventually
from processes import has_ended
from test_bad_input import refused
from test_report import drawn, opened, own_html

CAPACITY = {"setting": "device.ftl.capacity", "values": ["22MiB", "24MiB"]}
POLICY = {"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}
SWEEP = """\
scenario = "tiny.toml"
repeats = 2
set = { workload.synthetic.duration = "200ms" }

[[vary]]
setting = "device.ftl.capacity"
values = ["22MiB", "24MiB"]

[[vary]]
setting = "device.ftl.gc.policy"
values = ["greedy", "fifo"]
"""


@pytest.fixture
def spec(tiny: Path) -> dict[str, Any]:
    """A sweep of four points, each in a moment."""
    return {
        "name": "four",
        "scenario": str(tiny),
        "set": {"workload.synthetic.duration": "200ms"},
        "vary": [CAPACITY, POLICY],
    }


@pytest.fixture
def file(tiny: Path, tmp_path: Path) -> Path:
    """A sweep file of four points, each twice."""
    path = tmp_path / "spare.toml"
    path.write_text(SWEEP)
    return path


# Where the points are


# Means and fronts


# Runs


def test_repeats_have_seeds_of_their_own_and_points_share_them(spec: dict[str, Any]) -> None:
    made = plan.make(read(spec | {"repeats": 3}))
    seeds = {(run.point, run.repeat): run.job.scenario["seed"] for run in made.runs}
    assert len(seeds) == 12
    assert all(seeds[point, repeat] == seeds[0, repeat] for point, repeat in seeds)
    assert len({seeds[0, repeat] for repeat in range(3)}) == 3
    assert seeds[0, 0] == 1  # the scenario's own
    assert len({run.job.key for run in made.runs}) == 12


def test_a_point_is_what_a_run_of_its_settings_gives(spec: dict[str, Any], tmp_path: Path) -> None:
    done = outlast.sweep(spec | {"figures": ["latency_us.read.p99"]}, tmp_path / "out", jobs=1)
    changes = spec["set"] | {"device.ftl.capacity": "24MiB", "device.ftl.gc.policy": "fifo"}
    alone = outlast.run(spec["scenario"], changes)
    row = done.table().row(3, named=True)
    for name, value in figures.flat(alone.summary).items():
        if not name.startswith(("time.", "memory.")) and name != "throughput.requests_per_cpu_s":
            assert row[name] == value, name
    assert row["scenario.device.ftl.gc.policy"] == row["device.ftl.gc.policy"] == "fifo"
    assert done.points[3]["figures"]["latency_us.read.p99"]["mean"] == alone.latency_us.read.p99


def test_the_means_are_those_of_the_table(spec: dict[str, Any], tmp_path: Path) -> None:
    done = outlast.sweep(spec | {"repeats": 3}, tmp_path / "out", jobs=1)
    table = done.table()
    assert table["repeat"].to_list() == [0, 1, 2] * 4
    for point in done.points:
        own = table.filter(pl.col("point") == point["point"])["write_amplification.total"].to_numpy()
        told = point["figures"]["write_amplification.total"]
        assert math.isclose(told["mean"], own.mean())
        assert math.isclose(told["sd"], own.std(ddof=1))
        assert math.isclose(told["half"], 4.302652729911275 * own.std(ddof=1) / math.sqrt(3))
    assert pl.read_parquet(tmp_path / "out" / "sweep.parquet").equals(table)
    again = outlast.load_sweep(tmp_path / "out")
    assert again.summary == done.summary
    assert again.table().equals(table)


def test_differences_are_taken_repeat_by_repeat(spec: dict[str, Any], tmp_path: Path) -> None:
    done = outlast.sweep(spec | {"repeats": 4}, tmp_path / "out", jobs=1)
    name = "write_amplification.total"
    table = done.table()
    low, high = (table.filter(pl.col("point") == point)[name].to_numpy() for point in (0, 2))
    told = done.difference(name, 2, 0)
    assert told == statistics.mean_of((high - low).tolist(), 0.95)
    assert told.mean is not None
    assert told.mean > 0
    with pytest.raises(ScenarioError, match="point = 4: must be within 0 to 3"):
        done.difference(name, 4, 0)
    with pytest.raises(ScenarioError, match=r"no figure write_amplification\.totl"):
        done.difference("write_amplification.totl", 1, 0)


def test_what_was_done_is_not_done_again(spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    real = work.measure

    def counted(job: work.Job) -> work.Record:
        ran.append(job.key)
        return real(job)

    monkeypatch.setattr(work, "measure", counted)
    outlast.sweep(spec, tmp_path / "out", jobs=1)
    assert len(ran) == 4
    before = (tmp_path / "out" / "sweep.json").read_bytes()
    records = sorted((tmp_path / "out" / "points").iterdir())
    records[1].unlink()
    records[2].write_text("{ half a rec")
    outlast.sweep(spec, tmp_path / "out", jobs=1)
    assert len(ran) == 6
    assert (tmp_path / "out" / "sweep.json").read_bytes() == before
    # A larger sweep runs what is new, and other figures run nothing.
    larger = spec | {"vary": [CAPACITY | {"values": ["22MiB", "24MiB", "25MiB"]}, POLICY], "figures": ["wear.max_pe"]}
    done = outlast.sweep(larger, tmp_path / "out", jobs=1)
    assert len(ran) == 8
    assert all(point["figures"]["wear.max_pe"]["mean"] > 0 for point in done.points)


def test_a_run_that_fails_is_tried_again_and_then_reported(
    spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: dict[str, int] = {}
    real = work.measure

    def fails(job: work.Job) -> work.Record:
        ftl = job.scenario["device"]["ftl"]
        place = f"{ftl['capacity']} {ftl['gc']['policy']}"
        tries[place] = tries.get(place, 0) + 1
        # One never works, one works the third time.
        if place == "22MiB fifo" or (place == "24MiB greedy" and tries[place] < 3):
            raise DeviceError("no more\nspare blocks")
        return real(job)

    monkeypatch.setattr(work, "measure", fails)
    done = outlast.sweep(spec | {"retries": 2}, tmp_path / "out", jobs=1)
    assert tries == {"22MiB greedy": 1, "22MiB fifo": 3, "24MiB greedy": 3, "24MiB fifo": 1}
    assert done.failed == [{"point": 1, "repeat": 0, "error": "DeviceError: no more spare blocks"}]
    row = done.table().row(1, named=True)
    assert row["error"] == "DeviceError: no more spare blocks"
    assert row["latency_us.read.p99"] is None
    assert row["scenario.device.ftl.gc.policy"] == "fifo"
    assert done.points[1]["figures"]["latency_us.read.p99"] == {"count": 0, "mean": None, "sd": None, "half": None}
    assert 1 in done.summary["pareto"]["left_out"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "1 of 4 runs failed" in page
    assert "no more spare blocks" in page
    # It is not kept, so that the same call tries it again.
    monkeypatch.setattr(work, "measure", real)
    assert not outlast.sweep(spec, tmp_path / "out", jobs=1).failed


ONE_FAILS = """\
[scenario]
extends = "array-raid5-5"
array = { level = "raid0", consistency = "resync" }
workload = { synthetic = { duration = "1s" } }

[[vary]]
setting = "faults"
values = [[], [{ at = "500ms", kind = "replace", device = 1 }]]
labels = ["none", "the only copy is taken away"]
"""


def test_the_command_says_what_failed_and_keeps_the_rest(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "fails.toml").write_text(ONE_FAILS)
    done = outlast("sweep", "fails.toml", check=False)
    assert done.returncode == 1
    assert "failed: point 1, repeat 0: ScenarioError: " in done.stderr
    assert "faults[0].device = 1" in done.stderr
    assert "written: out/fails/sweep.parquet" in done.stderr
    table = pl.read_parquet(tmp_path / "out" / "fails" / "sweep.parquet")
    assert table["faults"].to_list() == ["none", "the only copy is taken away"]
    assert table["host.errors"].to_list() == [0, None]
    assert len(list((tmp_path / "out" / "fails" / "points").iterdir())) == 1


def test_what_varies_may_be_tables_with_labels(spec: dict[str, Any], tmp_path: Path) -> None:
    collection = {"setting": "device.ftl.gc", "values": [{"policy": "greedy"}, {"policy": "d-choices", "choices": 4}]}
    done = outlast.sweep(spec | {"vary": [collection | {"labels": ["all", "four"]}]}, tmp_path / "out", jobs=1)
    assert done.table()["device.ftl.gc"].to_list() == ["all", "four"]
    assert done.table()["scenario.device.ftl.gc.choices"].to_list()[1] == 4


# The report


def test_choices_change_several_settings_together_under_one_name(spec: dict[str, Any], tmp_path: Path) -> None:
    small = {"device.ftl.capacity": "22MiB", "device.ftl.gc": {"policy": "fifo"}}
    drives = {"name": "drive", "choices": [{"label": "small", "set": small}, {"label": "as it is"}]}
    called = {"name": "policy", "setting": "device.ftl.gc.policy", "values": ["greedy", "d-choices"]}
    done = outlast.sweep(spec | {"vary": [drives, called]}, tmp_path / "out")
    assert [point["values"] for point in done.points] == [
        {"drive": drive, "policy": policy} for drive in ("small", "as it is") for policy in ("greedy", "d-choices")
    ]
    table = done.table()
    assert set(table.filter(pl.col("drive") == "small")["scenario.device.ftl.capacity"]) == {"22MiB"}
    # The axis that comes later wins where two change one setting.
    assert list(table["scenario.device.ftl.gc.policy"]) == ["greedy", "d-choices"] * 2
    assert done.summary["sweep"]["vary"][0]["name"] == "drive"
    assert "drive" in done.report(tmp_path / "again.html").read_text()
    for wrong, message in (
        ({"choices": [{"label": "a"}]}, "vary[0].name = absent: must be a text"),
        ({"name": "x", "choices": []}, "vary[0].choices = []: must be a list"),
        (
            {"name": "x", "choices": [{"label": "a"}, {"label": "a"}]},
            "vary[0].choices[1].label = a: must be a text that",
        ),
        ({"name": "x", "choices": [{"label": "a", "sets": {}}]}, "vary[0].choices[0].sets: unknown setting; did you"),
        ({"name": "x", "choices": [{"label": "a"}], "values": [1]}, "vary[0].values = [1]: belongs to one setting"),
    ):
        with pytest.raises(ScenarioError, match=re.escape(message)):
            read(spec | {"vary": [wrong]})
    with pytest.raises(ScenarioError, match=re.escape("vary[1].name = drive: varies already; name each name once")):
        read(spec | {"vary": [drives, drives]})


def test_the_report_has_a_curve_for_each_series_and_the_front(
    browser: Any, spec: dict[str, Any], tmp_path: Path
) -> None:
    asked = ["latency_us.read.p99", "write_amplification.total", "closed_form.greedy_waf", "array.rebuilds"]
    rate = {"setting": "workload.synthetic.rate_iops", "from": 300, "to": 3000, "scale": "log"}
    outlast.sweep(spec | {"repeats": 2, "figures": asked}, tmp_path / "grid", jobs=1)
    drawn_at = {"method": "latin-hypercube", "points": 6, "vary": [POLICY, rate], "figures": asked}
    outlast.sweep(spec | drawn_at, tmp_path / "drawn", jobs=1)
    each_axis = [
        f"{figure}-{axis}" for figure in ("latency_us-read-p99", "write_amplification-total") for axis in (0, 1)
    ]
    for name, expected in (
        ("grid", ["latency_us-read-p99-0", "write_amplification-total-0", "front"]),
        ("drawn", ["load-read", "load-write", *each_axis, "front"]),
    ):
        assert opened(browser, tmp_path / name / "report.html") == []
        ids = browser.execute_script("return [...document.querySelectorAll('figure.chart')].map(f => f.id)")
        assert ids == expected
        assert drawn(browser) == len(expected)
        overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(overflow) <= 0
    page = own_html((tmp_path / "grid" / "report.html").read_text())
    charts = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]
    greedy, theory, fifo, same = charts[1]["data"]
    assert [trace["name"] for trace in charts[1]["data"]] == [
        *("gc policy greedy", "closed form, greedy", "gc policy fifo", "closed form, greedy")
    ]
    assert theory["y"] == same["y"]
    assert greedy["x"] == fifo["x"] == [22, 24]
    assert all(half > 0 for half in greedy["error_y"]["array"])
    assert theory["line"]["dash"] == "dot"
    assert charts[1]["layout"]["xaxis"]["title"]["text"] == "ftl capacity (MiB)"


# The command


def test_the_command_writes_prints_and_goes_on(
    outlast: Outlast, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    done = outlast("sweep", "spare.toml")
    assert "written: out/spare/sweep.parquet" in done.stderr
    assert done.stdout.count("MiB") == 4
    before = files_below(tmp_path)
    again = outlast("sweep", "spare.toml", "--json", "--jobs", "1")
    assert again.stderr == ""
    told = json.loads(again.stdout)
    assert told == json.loads((tmp_path / "out" / "spare" / "sweep.json").read_text())
    assert told["schema"] == "outlast-sweep/1"
    assert told["runs"] == 8
    assert files_below(tmp_path) == before
    (tmp_path / "out" / "spare" / "report.html").unlink()
    outlast("report", "out/spare")
    assert files_below(tmp_path) == before
    # What it said is a sweep itself.
    (tmp_path / "again.json").write_text(json.dumps(told["sweep"]))
    outlast("sweep", "again.json", "--out", "out/again", "--quiet")
    same = json.loads((tmp_path / "out" / "again" / "sweep.json").read_text())
    assert same["points"] == told["points"]


def test_scenarios_are_found_beside_the_sweep_file(outlast: Outlast, tmp_path: Path, file: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "tiny.toml").rename(tmp_path / "below" / "tiny.toml")
    for scenario in ('"tiny.toml"', '{ extends = "tiny.toml", seed = 1 }', '["tiny.toml", { seed = 1 }]'):
        (tmp_path / "below" / "spare.toml").write_text(SWEEP.replace('"tiny.toml"', scenario))
        outlast("sweep", "below/spare.toml", "--quiet")
    # All are the same runs, and found again.
    assert len(list((tmp_path / "out" / "spare" / "points").iterdir())) == 8


def test_set_changes_every_point(outlast: Outlast, tmp_path: Path, file: Path) -> None:
    outlast("sweep", "spare.toml", "--quiet", "--set", "workload.synthetic.read_percent=0")
    table = pl.read_parquet(tmp_path / "out" / "spare" / "sweep.parquet")
    assert set(table["scenario.workload.synthetic.read_percent"]) == {0.0}
    assert set(table["host.reads"]) == {0}


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, file: Path) -> None:
    file.write_text(SWEEP.replace('"200ms"', '"30s"').replace("repeats = 2", "repeats = 30"))
    command = [sys.executable, "-m", "outlast", "sweep", "spare.toml", "--jobs", "2"]
    program = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept = tmp_path / "out" / "spare" / "points"
    assert eventually(lambda: kept.is_dir() and any(kept.glob("*.json")))
    program.send_signal(signal.SIGINT)
    out, messages = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 130
    assert out == ""
    told = re.fullmatch(
        r"stopped by Ctrl-C: at least (\d+) of 120 runs are kept; the same command continues\n", messages
    )
    assert told, messages
    # Runs that end in that moment, one of each job, are kept, too, and not counted any more.
    assert 0 < len(list(kept.iterdir())) < 120
    assert 0 <= len(list(kept.iterdir())) - int(told[1]) <= 2
    assert {path.name for path in (tmp_path / "out" / "spare").iterdir()} == {"points"}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to list a program's children")
def test_killed_outright_no_process_goes_on(tmp_path: Path, file: Path) -> None:
    file.write_text(SWEEP.replace('"200ms"', '"2000h"'))
    command = [sys.executable, "-m", "outlast", "sweep", "spare.toml", "--jobs", "2"]
    program = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = Path(f"/proc/{program.pid}/task/{program.pid}/children")

    try:
        assert eventually(lambda: len(children.read_text().split()) == 2)
        workers = children.read_text().split()
        time.sleep(1.0)  # well within their runs
    finally:
        program.kill()
        program.wait()
    assert eventually(lambda: all(has_ended(pid) for pid in workers))


# What is refused


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("repeats = 2", "repeats = 0", ["repeats = 0", "within 1 to 1000"]),
        ("repeats = 2", "repeats = 2.5", ["repeats = 2.5", "whole number"]),
        ("repeats = 2", "repeat = 2", ["repeat: unknown", "did you mean `repeats`"]),
        ("repeats = 2", "repeats = 1000\nconfidence = 1", ["confidence = 1", "between 0 and 1"]),
        ("repeats = 2", 'method = "gird"', ["method = gird", 'did you mean "grid"']),
        ("repeats = 2", 'method = "random"', ["points = absent", "within 1 to 100000"]),
        ("repeats = 2", "points = 4", ["points = 4", "method is grid"]),
        ("repeats = 2", "seed = -1", ["seed = -1", "within 0 to 9007199254740991"]),
        ("repeats = 2", 'figures = ["latency_us.raed.p99"]', ["figures[0]", "raed", 'mean "latency_us.read.p99"']),
        ("repeats = 2", 'figures = ["time.cpu_s"]', ["figures[0] = time.cpu_s", "no such figure"]),
        ("repeats = 2", 'pareto = ["gc.victims"]', ["pareto", "two figures or more"]),
        (
            "repeats = 2",
            'pareto = ["gc.victims", { figure = "throughput.iops", best = "most" }]',
            ["pareto[1].best = most", "lowest, highest"],
        ),
        ("repeats = 2", 'name = "../up"', ["name = ../up", "without /"]),
        ('scenario = "tiny.toml"', "", ["scenario = absent", "preset"]),
        ('scenario = "tiny.toml"', 'scenario = "absent.toml"', ["absent.toml", "No such file"]),
        ('scenario = "tiny.toml"', 'scenario = "tinny"', ["tinny"]),
        ('"device.ftl.gc.policy"', '"device.ftl.gc.polcy"', ["point 0 of 4", "polcy", "did you mean `policy`"]),
        ('"device.ftl.gc.policy"', '"device.ftl.capacity"', ["vary[1].setting", "varies already"]),
        ('"device.ftl.gc.policy"', "7", ["vary[1].setting = 7", "dotted name"]),
        ('["22MiB", "24MiB"]', "[]", ["vary[0].values = []", "at least one"]),
        ('values = ["22MiB", "24MiB"]', "", ["vary[0] = device.ftl.capacity", "values, or from and to"]),
        ('["22MiB", "24MiB"]', '["22MiB", "64MiB"]', ["point 2 of 4", "device.ftl.capacity = 64MiB", "raw capacity"]),
        ('["22MiB", "24MiB"]', '["22MiB", "24MiB"]\nlabels = ["a"]', ["vary[0].labels", "2 different texts"]),
        ('["22MiB", "24MiB"]', '["22MiB"]\nsteps = 4', ["vary[0].steps = 4", "belongs to a range"]),
        ('values = ["22MiB", "24MiB"]', "from = 3\nto = 2", ["vary[0].to = 2", "more than from = 3"]),
        ('values = ["22MiB", "24MiB"]', "from = 1\nto = 2", ["vary[0].steps = absent", "within 2"]),
        (
            'values = ["22MiB", "24MiB"]',
            'from = 0\nto = 2\nsteps = 2\nscale = "log"',
            ["vary[0].from = 0", "more than 0 on a log"],
        ),
        ('values = ["22MiB", "24MiB"]', "from = 1\nto = 2\nsteps = 36000", ["144000 runs", "at most 100000"]),
        ("[[vary]]", "[[vary]", ["spare.toml", "line"]),
        ("repeats = 2", 'method = "list"\nseed = 3', None),
        ('["greedy", "fifo"]', '["greedy"]\n#', None),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_sweeps_that_cannot_be(
    outlast: Outlast, tmp_path: Path, file: Path, old: str, new: str, says: list[str] | None
) -> None:
    assert old in SWEEP
    file.write_text(SWEEP.replace(old, new, 1))
    if says is None:
        read(file)
    else:
        refused(outlast, tmp_path, "sweep", "spare.toml", says=["spare.toml", *says])


def test_a_list_needs_as_many_values_on_every_axis(spec: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=r"vary\[1\] = device.ftl.gc.policy: has 1 values, .* 2"):
        plan.make(read(spec | {"method": "list", "vary": [CAPACITY, POLICY | {"values": ["fifo"]}]}))


def test_a_folder_of_something_else_is_left_alone(outlast: Outlast, tmp_path: Path, file: Path) -> None:
    refused(outlast, tmp_path, "sweep", "absent.toml", says=["absent.toml", "No such file"])
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    refused(outlast, tmp_path, "sweep", "spare.toml", "--out", "thesis", says=["thesis", "thesis.tex", "not part of"])
    refused(outlast, tmp_path, "sweep", "spare.toml", "--out", "spare.toml", says=["spare.toml", "not a folder"])
    target = "/proc/outlast-sweep"
    refused(outlast, tmp_path, "sweep", "spare.toml", "--out", target, says=[target, "cannot be written"])
    refused(outlast, tmp_path, "sweep", "spare.toml", "--on", "cluster", says=["on = cluster", "tcp://"])
    (tmp_path / "sweep.json").write_text('{"schema": "outlast-sweep/99"}')
    refused(outlast, tmp_path, "report", ".", says=["sweep.json", "outlast-sweep/99", "outlast-sweep/1"])


def test_every_documented_figure_can_be_asked_for_and_no_other() -> None:
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text().split("## Tables")[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*)\| ([^|]*)", text, re.M)
    of_the_run = ("schema", "version", "name", "seed", "partial", "notes", "scenario")
    documented = {
        name: unit.strip()
        for name, unit, _ in rows
        if name not in of_the_run
        and not name.startswith(("time.", "memory.", "policies."))
        and name != "throughput.requests_per_cpu_s"
    }
    # A figure that is new, or has another unit, goes into python/outlast/sweeps/figures.txt: name, tab, unit.
    assert figures.units() == documented
    assert figures.is_figure("array.wear[3].mean_pe")
    assert not figures.is_figure("array.wear.mean_pe")
    assert figures.unit("latency_us.trim.p99_9") == "µs"


def test_a_sweep_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot read a sweep"):
        outlast.load_sweep(tmp_path)


# Figures


RATED = {"device.defects.endurance": 3000, "run.causes": True, "run.utilisation": True, "run.twin": False}


def test_a_sweep_has_every_figure_that_a_single_run_has(spec: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    single = outlast.run(tiny, RATED | {"workload.synthetic.duration": "200ms"})
    own = figures.flat(single.summary)
    listed = [name for name in own if figures.is_figure(name)]
    assert len(listed) > 150
    assert {
        "endurance.dwpd",
        "endurance.tbw_bytes",
        "queue.channel_utilisation[1]",
        "queue.controller.cores[0]",
    } <= set(listed)
    vary = [CAPACITY | {"values": [single.summary["scenario"]["device"]["ftl"]["capacity"]]}]
    done = outlast.sweep(spec | {"vary": vary, "set": spec["set"] | RATED}, tmp_path / "out", jobs=1)
    for name in listed:
        assert done.columns[name][0] == own[name], name


def test_figures_that_no_run_has_are_named_with_the_reason(spec: dict[str, Any], tmp_path: Path) -> None:
    asked = [
        "throughput.iops",
        "endurance.dwpd",
        "latency_us.trim.p99",
        "queue.channel_utilisation",
        "array.data_loss.per_year",
    ]
    done = outlast.sweep(spec | {"figures": asked, "pareto": []}, tmp_path / "out", jobs=1)
    assert set(done.summary["absent"]) == set(asked[1:])
    assert "rating" in done.summary["absent"]["endurance.dwpd"]
    assert "queue.channel_utilisation[0]" in done.summary["absent"]["queue.channel_utilisation"]
    assert "endurance.dwpd: in none of the runs, because" in (tmp_path / "out" / "report.html").read_text()
    rated = outlast.sweep(
        spec | {"figures": asked[:2], "pareto": [], "set": spec["set"] | {"device.defects.endurance": 3000}},
        tmp_path / "rated",
        jobs=1,
    )
    assert rated.summary["absent"] == {}
    assert all(point["figures"]["endurance.dwpd"]["count"] == 1 for point in rated.points)
    # What nobody asked for is not missed.
    assert outlast.sweep(spec, tmp_path / "usual", jobs=1).summary["absent"] == {}
