"""Do the charts, tiles and sentences of one result say no more than its figures?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from outlast import endurance
from outlast.report import dies, errors, findings, repair, timeline
from outlast.report import endurance as endured
from outlast.report.figure import Figure, latency_axis
from outlast.report.jobs import job_table
from outlast.report.latency import FEW, FEW_NOTE
from outlast.report.names import terabytes
from outlast.report.numbers import Floats
from outlast.report.tiles import tiles
from sample import sample_result, sample_summary
from test_report_comparison import repaired
from test_report_parts import rated


@pytest.mark.parametrize(("worn", "left"), [(3010, 1990 / 5000), (20, None), (7000, 0.0)], ids=str)
def test_wear_that_is_already_there_is_taken_off(worn: float, left: float | None) -> None:
    summary = rated(5000)
    summary["wear"]["mean_pe"] = worn
    own = endurance.endurance_of(summary)
    assert own is not None
    assert own.left_bytes == (None if left is None else pytest.approx(left * own.tbw_bytes))
    said, table = endured.sentence(summary), endured.table(summary)
    assert ("over its whole life" in said) == (">left<" in table) == (left is not None)
    if left is not None:
        assert f"of which <b>{terabytes(own.left_bytes)}</b> is left" in said


@pytest.mark.parametrize(
    ("reached", "doubt"),
    [(True, ""), (False, " (not that of the steady state)"), (None, " (not known to be that of the steady state)")],
)
def test_endurance_outside_the_steady_state_is_said_to_be(reached: bool | None, doubt: str) -> None:
    summary = rated(5000)
    summary["steady_state"]["measured"]["reached"] = reached
    assert f"At this write amplification{doubt} the host can write " in endured.sentence(summary)


def test_a_drive_without_spare_blocks_is_not_said_to_have_none_left() -> None:
    summary = sample_summary()
    device = summary["scenario"]["device"]
    device |= {"defects": {"factory_bad": 0.0}, "ftl": {"spare_blocks": 0}, "hazards": {}}
    summary["wear"] |= {"bad_blocks": 0, "spare_blocks_left": 0}
    assert "bad block" not in findings.wear(summary) and "spare" not in findings.wear(summary)
    device |= {"defects": {"endurance": 3000}, "ftl": {"spare_blocks": 2}}
    assert findings.wear(summary).endswith("; 0 bad blocks, 0 spare blocks left.")
    device |= {"defects": {}, "ftl": {}}
    summary["wear"]["bad_blocks"] = 1
    assert findings.wear(summary).endswith("; 1 bad block.")


def worn_dies(cycles: list[float]) -> dict[str, Any]:
    """The wear table of two members with two dies each."""
    return {"device": [0, 0, 1, 1], "die": [0, 1, 0, 1], "channel": [0, 1, 0, 1], "cycles": cycles, "bad": [0] * 4}


def test_a_die_that_failed_is_marked_on_the_map_of_wear() -> None:
    summary = repaired("CDR", 2.1, 2**20).summary
    summary["repair"][0] |= {"device": 1, "die": 1, "detected_s": 5.0057, "detected_after_ms": 5.7}
    figure = dies.cycles(worn_dies([6, 6, 6, 4]), dies.failed(summary))
    assert figure is not None
    cross = figure.data[1]
    assert (round(cross["x"][0]), cross["y"]) == (1, [1])
    assert cross["text"] == ["die 1 of member 1 failed at 5.00 s, noticed at 5.01 s"]
    assert "× marks a die that failed" in figure.hint


def test_dies_of_a_chip_that_the_scenario_breaks_failed() -> None:
    summary = sample_summary()
    summary["scenario"]["device"]["geometry"] = {"channels": 2, "chips_per_channel": 2, "dies_per_chip": 2}
    late = {"kind": "die", "die": 0, "at": f"{math.ceil(summary['time']['simulated_s']) + 1}s"}
    chip = {"kind": "chip", "channel": 1, "chip": 0, "at": "250ms"}
    summary["scenario"]["faults"] = [chip, late, {"kind": "power", "at": "1ms"}]
    assert dies.failed(summary) == [(None, die, "failed at 250 ms") for die in (4, 5)]


@pytest.mark.parametrize(
    ("cycles", "limits"), [([8.87] * 4, (0, 8.87)), ([3005, 3006, 3005, 3005], (0, 3006)), ([10, 20, 30, 40], (10, 40))]
)
def test_dies_that_are_worn_alike_have_one_colour(cycles: list[float], limits: tuple[float, float]) -> None:
    figure = dies.cycles(worn_dies(cycles))
    assert figure is not None
    assert (figure.data[0]["zmin"], figure.data[0]["zmax"]) == limits


def test_the_tile_of_throughput_is_its_sum() -> None:
    result = sample_result()
    result.summary["throughput"] |= {"read_mib_s": 1458.0, "write_mib_s": 1391.0}
    page = tiles(result)
    assert '<span class="value">2\u202f849</span>' in page
    assert "1\u202f458 read, 1\u202f391 written" in page


def test_percentiles_of_few_requests_have_a_star_in_tiles_and_jobs() -> None:
    result = sample_result()
    latency = result.summary["latency_us"]["read"] | {"resolved_percentile": 95.0}
    result.summary["latency_us"]["read"] = latency
    assert f"{FEW}</span>" in tiles(result)
    job = {"name": "a", "runtime_s": 1.0, "write": None, "trim": None, "sync": None}
    job["read"] = {"iops": 20.0, "mib_s": 0.1, "ios": 100, "latency_us": latency}
    page = job_table({"host": {"jobs": [job]}})
    assert page.count(f"{FEW}</td>") == 2 and FEW_NOTE in page
    latency["resolved_percentile"] = 99.9
    assert FEW not in job_table({"host": {"jobs": [job]}})


def exact(*logs: float | None) -> dict[str, Any]:
    """`reliability.exact` with these logarithms."""
    return {key: {"log10_uber": log} for key, log in zip(errors.TAILS, logs, strict=True)}


@pytest.mark.parametrize(
    ("logs", "step"), [((-5.6, -6.0, None), 1), ((-5.1, -33.2, None), 5), ((-0.2, -17.4, -352.8), 50)]
)
def test_exact_tails_have_round_ticks_and_room(logs: tuple[float | None, ...], step: int) -> None:
    figure = errors.tails([("drive", "var:--read", exact(*logs))])
    assert figure is not None
    axis, known = figure.layout["yaxis"], [log for log in logs if log is not None]
    low, high = axis["range"]
    assert low <= min(known) - 2 and high <= 0 and high >= min(max(known) + 2, 0)
    assert 2 <= len(axis["tickvals"]) <= 9
    assert set(np.diff(axis["tickvals"])) == {step} and not any(tick % step for tick in axis["tickvals"])
    assert figure.data[0]["mode"] == "markers+text"
    assert all("<br>" in name for name in figure.layout["xaxis"]["ticktext"])


def amplified(write_mib: Sequence[float], collected: Sequence[float]) -> Figure:
    """The chart of these windows, of which each unit is 1 MiB."""
    zeros = np.zeros(len(write_mib))
    starts = np.arange(len(write_mib), dtype=np.float64)
    series: dict[str, Floats] = {"start_s": starts, "end_s": starts + 1.0}
    series |= {"write_mib": np.array(write_mib), "gc_units": np.array(collected), "partial_write_bytes": zeros}
    figure = timeline.amplification(series, 2**20, None)
    assert figure is not None
    return figure


def test_windows_without_writes_are_gaps() -> None:
    host, gc = amplified([10, 0, 0.1, 10], [10, 0, 9, 20]).data
    assert host["y"] == [1, None, None, 1]
    assert gc["y"] == [1, None, None, 2]


def test_a_window_with_few_writes_does_not_flatten_the_others() -> None:
    figure = amplified([10] * 14 + [0.3], [20] * 14 + [15])
    assert figure.layout["yaxis"]["range"] == [0, pytest.approx(1.3 * 3)]
    assert figure.hint.endswith("the axis ends here; windows with few writes reach 51")
    assert "range" not in amplified([10] * 15, [20] * 15).layout["yaxis"]


def test_the_level_of_preconditioning_is_in_the_legend() -> None:
    rounds = {"drive_writes": [1.0, 2.0], "write_amplification": [3.0, 2.0]}
    figure = timeline.preconditioning(rounds, {"reached": True, "write_amplification": 2.0}, None)
    assert figure is not None
    assert [trace["name"] for trace in figure.data] == ["round", timeline.LEVEL]


def test_repairs_are_dots_with_values_and_the_scale_of_space_is_said() -> None:
    result = repaired("CDR", 2.1, 2**20)
    own = {"identify_s": 0.0, "recover_s": 2.1, "space_utilisation_by_core": [0.79, 0.8], "scheme": "isolated"}
    result.summary["repair"][0] |= own
    result.summary["scenario"]["device"]["repair"] = {"repaired_dies": [1]}
    runs = [(result, "CDR", "var:--read")]
    figure = repair.times(runs)
    assert figure is not None
    assert [trace["text"] for trace in figure.data] == [["–"], ["2.10 s"], ["2.10 s"]]
    space = repair.utilisation(runs)
    assert space is not None
    assert space.layout["yaxis"]["range"] == pytest.approx([0.75, 0.85])
    assert space.hint.endswith("scale from 0.75 to 0.85")
    assert {trace["type"] for trace in (*figure.data, *space.data)} == {"scatter"}


@pytest.mark.parametrize(("low", "high"), [(60, 300), (60, 3000), (50, 60_000), (1, 1e6), (0.5, 0.6)])
def test_an_axis_of_latencies_names_two_ticks_and_marks_those_between(low: float, high: float) -> None:
    shown = latency_axis(low, high)
    first, last = (10**end for end in shown["range"])
    named = [tick for tick in shown["tickvals"] if first <= tick <= last]
    assert 2 <= len(named) <= 16
    assert sum(first <= tick <= last for tick in shown["minor"]["tickvals"]) >= 1
