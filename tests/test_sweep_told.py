"""Do the table, the title, the sentences and the charts of a sweep say what was found, and no more?"""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

import outlast
from outlast.cli import paper
from outlast.report import sweep, sweep_points, sweep_steady
from outlast.report.names import setting, spread
from outlast.sweeps import result
from test_report_widths import swept


def told(figures: dict[str, list[float]], vary: str = "device.ftl.over_provisioning") -> dict[str, Any]:
    """The summary of a sweep of one setting with these means."""
    count = len(next(iter(figures.values())))
    points: list[dict[str, Any]] = [
        {"point": at, "values": {vary: at / 10}}
        | {"figures": {name: {"count": 1, "mean": own[at], "half": None} for name, own in figures.items()}}
        for at in range(count)
    ]
    spec: dict[str, Any] = {"vary": [{"setting": vary, "values": [at / 10 for at in range(count)]}], "method": "grid"}
    spec |= {"figures": list(figures), "repeats": 1, "confidence": 0.95, "pareto": []}
    whole: dict[str, Any] = {"name": "s", "sweep": spec, "points": points, "runs": count, "not_steady": 0, "failed": []}
    return whole | {"pareto": {"figures": [], "front": [], "left_out": []}}


def test_a_setting_is_named_as_one_writes_it() -> None:
    assert setting("device.ftl.over_provisioning") == "over-provisioning"
    assert setting("device.ftl.gc.policy") == "gc policy"
    chart = sweep.curve(told({"throughput.iops": [1.0, 2.0]}), "throughput.iops", 0)
    assert chart is not None and chart.title == "by over-provisioning"


@pytest.mark.parametrize(
    ("name", "mean", "half", "said"),
    [
        ("throughput.iops", 75_600.0, 1_267.0, "1.27 k"),
        ("latency_us.read.p99", 4.24e6, 77_300.0, "0.077 s"),
        ("latency_us.read.p99", 1.89, 0.0114, "0.011 µs"),
        ("latency_us.read.p99", 629.0, 3279.0, "3\u202f279 µs"),
        ("write_amplification.total", 10.15, 0.047, "0.047"),
        ("reliability.uber_exact", 6.45e-15, 2.6e-16, "0.26 · 10⁻¹⁵"),
        ("reliability.uber_exact", 6.45e-300, 2.6e-301, "0.26 · 10⁻³⁰⁰"),
        ("host.bytes_written", 2.0**33, 2.0**30, "1.0 GiB"),
        ("write_amplification.total", 0.0, 0.5, "0.50"),
    ],
)
def test_a_deviation_has_the_unit_of_its_mean(name: str, mean: float, half: float, said: str) -> None:
    assert spread(name, half, mean, 4) == said


def test_a_tie_has_no_winner() -> None:
    said = sweep_points.sentences(told({"latency_us.write.p99": [2.079, 2.08, 2.081, 2.08, 900.0, 2000.0]}))
    assert said == [
        "99th-percentile write latency is lowest, <b>2.08 µs</b> at 4 of 6 points, and highest, <b>2.00 ms</b> "
        "at over-provisioning 0.5."
    ]
    assert sweep_points.sentences(told({"latency_us.write.p99": [2.0799, 2.08, 2.0801]})) == []


def test_the_title_takes_the_figure_that_varies_most() -> None:
    figures = {"throughput.iops": [8000.0, 8100.0], "write_amplification.total": [4.0, 2.0]}
    assert sweep_points.title(told(figures)) == "s: write amplification from 2 to 4"
    # How much was asked of the drive is no finding.
    figures = {"throughput.iops": [100.0, 90_000.0], "latency_us.read.p99": [80.0, 100.0]}
    loaded = told(figures, "workload.synthetic.rate_iops")
    assert sweep_points.title(loaded) == "s: 99th-percentile read latency from 80.0 µs to 100 µs"
    assert sweep_points.title(told({"throughput.iops": [8000.0, 8000.1]})) == "s"


def test_the_front_has_the_axes_of_the_figures_own_charts() -> None:
    names = ["latency_us.read.p99", "write_amplification.total"]
    summary = told({names[0]: [0.5, 20.0, 3000.0], names[1]: [4.0, 2.0, 1.5]})
    summary["pareto"] = {"figures": [{"figure": name, "best": "lowest"} for name in names]}
    summary["pareto"] |= {"front": [0, 1, 2], "left_out": []}
    (front,) = (each.figures[0] for each in sweep.sections(summary, summary["points"]) if each.name == "pareto")
    own = sweep.curve(summary, names[0], 0)
    assert own is not None and front.layout["xaxis"] == own.layout["yaxis"]
    assert front.layout["xaxis"]["type"] == "log" and "type" not in front.layout["yaxis"]
    labels = dict(zip(front.layout["xaxis"]["tickvals"], front.layout["xaxis"]["ticktext"], strict=True))
    assert [labels[value] for value in (0.1, 1.0, 10.0, 100.0, 1e4)] == ["0.1", "1", "10", "100", "10⁴"]


def printed(most: int | None, titles: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The lines of the tables that the terminal shows."""
    left = [True, *[False] * (len(titles) - 1)]
    shown = []
    for table in paper.whole(titles, rows, left, 1, most):
        out = io.StringIO()
        Console(file=out, width=500).print(table)
        shown.append([line.rstrip() for line in out.getvalue().splitlines() if line.strip()])
    return shown


def test_values_stay_whole_and_titles_break_between_words() -> None:
    titles = ["over-provisioning", "write amplification, closed form", "latency_us.read.mean_interval.low", "[IOPS]"]
    rows = [["0.07", "13.88 ± 7.96", "3.08 ms ± 0.20 ms ~", "75.60 k ± 1.27 k *"]]
    for most in (None, 80, 60, 10):
        tables = printed(most, titles, rows)
        for cell in rows[0]:
            assert any(cell in line for lines in tables for line in lines)
        if most in (80, 60):
            assert all(len(line) <= most for lines in tables for line in lines)
    assert len(printed(None, titles, rows)) == 1
    assert len(printed(60, titles, rows)) == 2
    (lines,) = printed(200, titles, rows)
    assert lines[0].split() == [word for title in titles for word in title.split()], "where there is room, in one line"


@pytest.mark.parametrize("width", range(1, 40))
def test_titles_break_at_spaces_dots_and_underscores_only(width: int) -> None:
    for title in ("write amplification, closed form", "latency_us.read.mean_interval.low", "over-provisioning", ""):
        at, lines = 0, paper.broken(title, width).split("\n")
        for line in lines[:-1]:
            assert title[at:].startswith(line)
            at += len(line)
            assert title[at] == " " or line[-1] in "._"
            at += title[at] == " "
        assert title[at:] == lines[-1]
        assert all(len(line) <= width or len(re.split("[ ._]", line.rstrip("._"))) == 1 for line in lines)


def test_columns_are_those_of_the_environment_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert paper.room() is None
    monkeypatch.setenv("COLUMNS", "132")
    assert paper.room() == 132
    monkeypatch.setenv("COLUMNS", "wide")
    assert paper.room() is None


def test_runs_that_failed_or_were_not_judged_do_not_count_as_not_steady() -> None:
    name = "steady_state.measured.reached"
    rows: list[dict[str, Any]] = [{name: False}, {name: True}, {name: None}, {"error": "no memory"}, {name: False}]
    assert result._not_steady(rows) == 2


def test_points_that_were_not_steady_are_marked() -> None:
    plain = swept()
    points = [point | {"not_steady": 2 if point["point"] == 1 else 0} for point in plain.summary["points"]]
    done = outlast.Sweep(plain.summary | {"points": points}, {})
    summary = done.summary
    rows = sweep_points.points_table(summary)[1]
    assert [row[1] for row in rows[:3]] == ["greedy", "cost-benefit †", "greedy"]
    note = "2 of 18 runs were not in steady state: at the points with †"
    assert sweep_steady.note(summary) == note
    page = sweep.page(done)
    assert note in page and page.count('title="2 of 3 runs not in steady state">†<') == 1
    # A sweep of an earlier version has only the number of all of them.
    assert sweep_steady.note(plain.summary) == "2 of 18 runs were not in steady state"
