"""Dies in their places, endurance, the load curve, the order of a report, and what the terminal prints of all that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from conftest import Outlast
from outlast import endurance, models
from outlast.report import causes, dies, found, render, sweep_load, sweep_points
from outlast.report.differences import change
from outlast.report.names import heading, words, written
from outlast.report.single import sections
from outlast.result import Result
from outlast.sweeps import figures
from sample import sample_result, sample_summary, with_array, with_errors
from test_report_comparison import repaired
from test_report_widths import swept

WIDE = 80


def busy_table(channels: int, each: int, spans: int = 3) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Rows as of `dies_over_time` with spans of unequal length, and the share of the whole that each die was busy."""
    rng = np.random.default_rng(channels)
    busy = rng.random((spans, channels * each))
    ends = np.cumsum(rng.uniform(0.1, 1.0, spans))
    starts = np.append(0.0, ends[:-1])
    span, die = (index.ravel() for index in np.indices(busy.shape))
    table = {"start_s": starts[span], "end_s": ends[span], "die": die, "channel": die // each, "busy": busy.ravel()}
    return table, (busy * (ends - starts)[:, None]).sum(axis=0) / ends[-1]


@pytest.mark.parametrize(("channels", "each"), [(4, 2), (8, 1), (8, 4), (16, 32)], ids=str)
def test_every_die_is_in_its_place(channels: int, each: int) -> None:
    table, mean = busy_table(channels, each)
    figure = dies.busy(table)
    assert figure is not None
    (trace,) = figure.data
    assert np.asarray(trace["z"], dtype=float) == pytest.approx(mean.reshape(channels, each), rel=1e-3)
    assert figure.layout["yaxis"]["title"]["text"] == "channel"
    assert (trace["zmin"], trace["zmax"]) == (0, 1)
    for axis, cells in (("xaxis", each), ("yaxis", channels)):
        ticks = figure.layout[axis]["tickvals"]
        assert len(ticks) <= 9 and all(0 <= tick < cells for tick in ticks)


@pytest.mark.parametrize(("channels", "each"), [(1, 1), (4, 2), (16, 32)], ids=str)
def test_the_summary_alone_puts_every_die_in_its_place(channels: int, each: int) -> None:
    shares = np.random.default_rng(1).random(channels * each)
    queue = {"utilisation_by_die": list(shares), "channel_utilisation": [0.5] * channels}
    figure = dies.busy_all_along(queue)
    assert figure is not None
    assert np.asarray(figure.data[0]["z"], dtype=float) == pytest.approx(shares.reshape(channels, each), rel=1e-3)
    # Of an array, and in results of an earlier version, there is no such list.
    assert dies.busy_all_along({"channel_utilisation": [0.5] * channels}) is None


def test_more_dies_than_cells_are_means_of_neighbours() -> None:
    table, mean = busy_table(1, 1024)
    figure = dies.busy(table)
    assert figure is not None
    (row,) = figure.data[0]["z"]
    assert len(row) == dies.MOST_COLUMNS
    assert row == pytest.approx(mean.reshape(-1, 8).mean(axis=1), rel=1e-3)
    assert "each cell 8 dies" in figure.hint


def test_members_of_an_array_are_rows_and_bad_blocks_do_not_count() -> None:
    table = {"device": [0, 0, 1, 1, 1], "die": [0, 1, 0, 1, 1], "channel": [0, 1, 0, 1, 1]}
    figure = dies.cycles(table | {"cycles": [10, 20, 30, 40, 9999], "bad": [0, 0, 0, 0, 1]})
    assert figure is not None
    assert figure.data[0]["z"] == [[10, 20], [30, 40]]
    assert figure.layout["yaxis"]["title"]["text"] == "member"


def rated(cycles: int | None, chip: str | None = None) -> dict[str, Any]:
    summary = sample_summary()
    device = summary["scenario"]["device"]
    device["defects"] = {"endurance": cycles}
    device["reliability"] = {"chip": chip} if chip else None
    return summary


def test_endurance_is_the_closed_form_of_the_glossary() -> None:
    summary = rated(3000)
    own = endurance.endurance_of(summary)
    assert own is not None
    # What the flash programs in its life, by what it programs for each byte of the host.
    assert own.tbw_bytes * summary["write_amplification"]["total"] == pytest.approx(
        3000 * summary["device"]["raw_bytes"]
    )
    a_day = summary["device"]["capacity_bytes"] * own.dwpd
    assert a_day * 365 * 5 == pytest.approx(own.tbw_bytes)
    assert own.figures().keys() == {name.partition(".")[2] for name in figures.units() if name.startswith("endurance.")}


def test_a_chips_end_of_life_is_its_rating_and_no_rating_is_no_endurance() -> None:
    known = models.chips()["tlc-72-layer"]
    own = endurance.endurance_of(rated(None, "tlc-72-layer"))
    assert own is not None
    assert own.rated_cycles == known.end_of_life_cycles
    assert known.source in own.source
    assert endurance.endurance_of(rated(None)) is None
    assert endurance.endurance_of(rated(None, "mine.csv")) is None
    written_nothing = rated(3000)
    written_nothing["write_amplification"]["total"] = None
    assert endurance.endurance_of(written_nothing) is None


def test_endurance_is_where_it_is_known(tiny: Path) -> None:
    result = outlast.run(tiny, {"device.defects.endurance": 3000})
    page = render([result])
    assert "drive writes a day" in page
    assert "device.defects.endurance of the scenario" in page
    assert "DWPD" in render([result, result])
    assert figures.flat(result.summary)["endurance.dwpd"] == endurance.endurance_of(result.summary).dwpd  # type: ignore[union-attr]
    without = outlast.run(tiny)
    assert "DWPD" not in render([without])
    assert "endurance.dwpd" not in figures.flat(without.summary)


def test_the_first_part_answers_the_scenarios_question() -> None:
    plain, errs = sample_result(), with_errors(sample_result())
    array, repair = with_array(sample_result()), repaired("IDR", 1.5, 2**20)
    array.summary["repair"] = None
    repair.summary["repair"][0] |= {"scheme": "isolated", "identifier": "l2p-one-core"}
    for result, first in ((plain, "latency"), (errs, "errors"), (array, "array")):
        assert sections(result)[0].name == first == found.question(result.summary)
    assert found.question(repair.summary) == "repair"
    assert found.title(repair.summary).endswith("repairs the failed die in 1.50 s")
    assert "Rebuilding took" not in found.title(array.summary)
    for result in (plain, errs, array):
        assert 3 <= len(found.sentences(result.summary)) <= 5
        # A title says a number.
        assert re.search(r"\d", found.title(result.summary).partition(": ")[2])


def test_where_the_load_changes_latency_over_time_comes_first() -> None:
    result = sample_result()
    result.summary["scenario"]["workload"]["synthetic"] = {"phases": [{"duration": "3s"}, {"duration": "2s"}]}
    first = sections(result)[0]
    assert first.name == "time" == found.question(result.summary)
    assert [chart.name for chart in first.figures] == ["latency-time", "throughput", "bandwidth"]


def test_latency_stands_beside_the_state_of_a_degraded_array() -> None:
    result = with_array(sample_result())
    result.summary["repair"] = None
    parts = {part.name: [chart.name for chart in part.figures] for part in sections(result)}
    assert parts["array"] == ["latency-time", "array-states", "array-wear"]
    assert parts["time"] == ["throughput", "bandwidth"]
    chart = sections(result)[0].figures[0]
    spans = [(box["x0"], box["x1"], box["fillcolor"]) for box in chart.layout["shapes"]]
    assert spans == [(3.0, 7.0, "var:--warn")]
    # An array that was clean all along has it where a drive has it.
    result.summary["array"] |= {"rebuild": None}
    tables = dict(result.tables)
    tables["array_states"] = dict(tables["array_states"]) | {"state": ["clean"] * 3}
    result = Result(result.summary, tables, result.scenario_toml)
    parts = {part.name: [chart.name for chart in part.figures] for part in sections(result)}
    assert "latency-time" not in parts["array"] and "latency-time" in parts["time"]


def caused(parts: dict[str, float], tail: dict[str, float], to_tail: float = 99.0) -> dict[str, Any]:
    """A summary of reads that spend their time so, the slowest of them so."""
    bands = [
        {"from": 0.0, "to": to_tail, "requests": 99.0, "latency_ns": 1.0, "mean_ns": parts},
        {"from": to_tail, "to": 100.0, "requests": 1.0, "latency_ns": 1.0, "mean_ns": tail},
    ]
    return {"latency_causes": {"read": {"count": 100, "mean_ns": parts, "bands": bands}, "write": None}}


def test_a_comparison_tells_where_the_time_of_each_goes() -> None:
    quick = caused({"sensing": 60_000.0}, {"sensing": 60_000.0, "die_erase": 3_000_000.0})
    slow = caused({"sensing": 60_000.0, "queue": 20_000.0}, {"sensing": 60_000.0, "die_erase": 9_000_000.0})
    every, slowest = causes.side_by_side([("a", quick), ("b", slow)], "read")
    assert {bar["name"]: bar["x"] for bar in every.data} == {"queue": [0.0, 20.0], "sensing": [60.0, 60.0]}
    assert {bar["name"]: bar["x"] for bar in slowest.data} == {"die: erasures": [3000.0, 9000.0], "sensing": [60.0] * 2}
    assert slowest.title == "The slowest reads, above 99 %"
    # Runs without such a band in common are compared by their means alone; one run with causes, not at all.
    other = caused({"sensing": 1.0}, {"sensing": 1.0}, to_tail=99.9)
    assert [chart.name for chart in causes.side_by_side([("a", quick), ("b", other)], "read")] == ["causes-read"]
    assert causes.side_by_side([("a", quick), ("b", {})], "read") == []


def test_noise_is_told_from_a_difference() -> None:
    first, other = sample_summary(), sample_summary()
    name = "write_amplification.total"
    value = first["write_amplification"]["total"]
    for summary, middle in ((first, value), (other, 1.05 * value)):
        summary["gc"]["write_amplification_interval"] = {"low": 0.96 * middle, "high": 1.04 * middle}
    assert change(name, (value, first), (1.05 * value, other)) == "+5.0 %, within error"
    other["gc"]["write_amplification_interval"] = {"low": 1.045 * value, "high": 1.06 * value}
    assert change(name, (value, first), (1.05 * value, other)) == "+5.0 %"
    assert change(name, (value, first), (value, other)) == "the same"
    assert change(name, (value, first), (value * 1.0001, other)) == "the same"
    assert change(name, (value, first), (0.5 * value, {})) == "−50.0 %"
    assert change("reliability.exact.after_ecc.log10_uber", (-20.0, {}), (-18.0, {})) == "× 1.00 · 10²"


def test_small_numbers_and_units_are_written_in_one_way() -> None:
    assert written("reliability.uber_exact", 6.45e-15) == "6.45 · 10⁻¹⁵"
    assert written("reliability.exact.after_ecc.log10_uber", -353.8) == "1.58 · 10⁻³⁵⁴"
    assert (heading("latency_us.read.p99"), written("latency_us.read.p99", 2460.0)) == (
        "read latency, 99th percentile",
        "2.46 ms",
    )
    assert heading("throughput.read_mib_s") == "read throughput (MiB/s)"
    assert heading("wear.mean_pe") == "P/E cycles, mean"
    assert written("endurance.tbw_bytes", 7.68e12) == "7.68 TB"
    for name in figures.units():
        assert "_" not in words(name.replace("OP", "read").replace("STEP", "after_ecc")), name


def test_throughput_and_latency_are_drawn_where_the_load_varies() -> None:
    summary = swept().summary
    part = sweep_load.section(summary)
    (chart,) = (figure for figure in part.figures if figure.name == "load-read")
    curves = {trace["name"]: trace for trace in chart.data}
    assert set(curves) == {
        f"gc policy {policy}, {key}" for policy in ("greedy", "cost-benefit") for key in ("median", "99th percentile")
    }
    own = curves["gc policy greedy, 99th percentile"]
    assert own["x"] == [9990, 19980, 39960]
    assert own["y"] == [500, 700, 1100]
    for each in summary["sweep"]["vary"]:
        each["setting"] = each["setting"].replace("workload", "device")
    assert sweep_load.section(summary).figures == []


def test_the_best_point_and_those_within_error_of_it_are_marked() -> None:
    summary = swept().summary
    # Write amplification goes from 4.1 to 4.6 by 0.1, each ± 4 %: the intervals of the first four overlap the first's.
    assert sweep_points.best_of(summary, "write_amplification.total") == ([0], [1, 2, 3])
    assert sweep_points.best_of(summary, "throughput.iops") == ([4, 5], [])
    # What is neither good nor bad has no winner.
    assert sweep_points.best_of(summary, "host.bytes_written") == ([], [])
    titles, rows = sweep_points.points_table(summary)
    assert titles[:4] == ["rate (IOPS)", "gc policy", "IOPS", "read latency, median"]
    assert "6.45 · 10⁻¹⁵" in rows[0][8]
    assert rows[0][6].endswith("*") and rows[1][6].endswith("~") and not rows[5][6].endswith(("*", "~"))


@pytest.mark.parametrize("preset", ["demo", "array-raid5-5"])
def test_the_terminal_has_80_columns(outlast: Outlast, preset: str, tmp_path: Path) -> None:
    short = ("--set", "workload.synthetic.duration=700ms")
    names = [f"a result with quite a long name, number {number}" for number in range(3)]
    printed = []
    for number, name in enumerate(names):
        out = ("--out", str(number), "--seed", str(number), "--set", f"name={name}")
        printed.append(outlast("run", preset, *short, *out).stdout)
    printed += [outlast("compare", "0", "1", "2", *more).stdout for more in ((), ("--all",))]
    (tmp_path / "s.toml").write_text(
        f'scenario = "{preset}"\nset = {{ "workload.synthetic.duration" = "600ms" }}\n'
        '[[vary]]\nsetting = "workload.synthetic.rate_iops"\nvalues = [1000, 2000]\n'
    )
    printed.append(outlast("sweep", "s.toml", "--jobs", "1").stdout)
    for text in printed:
        assert max(map(len, text.splitlines())) <= WIDE
        assert "…" not in text
    assert "write amplification" in printed[0]
    for name in names:
        assert name.split()[-1] in printed[3]
