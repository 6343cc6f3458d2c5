"""Is a sweep over a few names shown as bars with their values, and what is the same everywhere in a line?"""

from __future__ import annotations

from typing import Any

import pytest

from outlast.report import sweep_bars
from outlast.report.names import words
from outlast.report.sweep import sections

LEVELS = ["raid5", "raid6", "raid10"]


def swept(values: list[Any], figures: dict[str, list[float]]) -> dict[str, Any]:
    """The summary of a sweep over RAID levels."""
    points = [
        {
            "point": index,
            "values": {"array.level": each},
            "runs": 1,
            "not_steady": 0,
            "figures": {
                name: {"mean": means[index], "half": None, "count": 1, "sd": None} for name, means in figures.items()
            },
        }
        for index, each in enumerate(values)
    ]
    spec: dict[str, Any] = {
        "vary": [{"setting": "array.level", "values": values}],
        "method": "grid",
        "figures": list(figures),
    }
    spec |= {"repeats": 1, "confidence": 0.95, "pareto": []}
    pareto: dict[str, list[Any]] = {"figures": [], "front": [], "left_out": []}
    made = {"name": "levels", "runs": len(points), "sweep": spec, "points": points, "pareto": pareto, "failed": []}
    return made | {"not_steady": 0}


def test_names_are_bars_from_zero_with_their_values() -> None:
    summary = swept(LEVELS, {"throughput.iops": [9000.0, 4000.0, 12000.0]})
    assert sweep_bars.is_choice(summary)
    (chart,) = sweep_bars.section(summary, ["throughput.iops"]).figures
    (bars,) = chart.data
    assert (bars["type"], bars["orientation"]) == ("bar", "h")
    assert bars["y"] == LEVELS
    assert bars["text"] == ["9\u202f000", "4\u202f000", "12.00 k"]
    assert chart.layout["xaxis"]["rangemode"] == "tozero"
    assert chart.height < 250


def test_means_that_differ_a_hundredfold_are_dots_on_a_logarithmic_axis() -> None:
    summary = swept(LEVELS, {"array.data_loss.per_year": [1e-10, 1e-19, 5e-11]})
    (chart,) = sweep_bars.section(summary, ["array.data_loss.per_year"]).figures
    assert chart.data[0]["mode"] == "markers+text"
    assert chart.layout["xaxis"]["type"] == "log"


@pytest.mark.parametrize("values", [[4, 8, 16], ["1GiB", "2GiB", "4GiB"], ["raid5"]])
def test_numbers_and_single_points_are_no_choices(values: list[Any]) -> None:
    assert not sweep_bars.is_choice(swept(values, {"throughput.iops": [1.0, 2.0, 3.0]}))


def test_what_is_the_same_everywhere_is_a_line_and_no_chart() -> None:
    summary = swept(LEVELS, {"array.degraded_s": [0.0, 0.0, 0.0], "throughput.iops": [1.0, 2.0, 3.0]})
    parts = {part.name: part for part in sections(summary, summary["points"])}
    assert "array degraded: <b>0 s</b>" in parts["same"].html()
    assert [chart.name for part in parts.values() for chart in part.figures] == ["throughput-iops-0"]


def test_units_are_not_part_of_a_name() -> None:
    assert words("array.degraded_s") == "array degraded"
    assert words("array.rebuild.rate_mib_s") == "array rebuild rate"
    assert words("device.capacity_bytes") == "device capacity"
    assert words("gc.start_free") == "gc start free"
