"""Differences between the settings and figures of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import foreign

if TYPE_CHECKING:
    from outlast.fio import Measured
    from outlast.result import Result

VARYING = (
    "time.wall_s",
    "time.cpu_s",
    "time.precondition_cpu_s",
    "time.precondition_wall_s",
    "throughput.requests_per_cpu_s",
    "memory.peak_rss_mib",
)
"""The only figures that differ between two runs of one scenario with one seed: what the run itself cost."""

_ASIDE = ("schema", "version", "notes", "scenario", "name")


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings or figures by dotted name."""
    if isinstance(value, Mapping):
        flat: dict[str, Any] = {}
        for key, item in value.items():
            flat |= flatten(item, f"{prefix}.{key}" if prefix else str(key))
        return flat
    if isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value):
        return {k: v for i, item in enumerate(value) for k, v in flatten(item, f"{prefix}[{i}]").items()}
    return {prefix: value}


def _side_by_side(trees: Sequence[Any]) -> dict[str, list[Any]]:
    flats = [flatten(tree) for tree in trees]
    names = dict.fromkeys(name for flat in flats for name in flat)
    return {name: [flat.get(name) for flat in flats] for name in names}


def change(first: Any, other: Any) -> float | None:
    """`other / first - 1`, where both are numbers and `first` is not zero."""
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (first, other))
    return other / first - 1 if numbers and first else None


def load_any(path: str) -> Result | Measured:
    """A result, or what fio measured: told apart by what the file says."""
    from outlast.fio import Measured, is_report
    from outlast.result import load

    place = Path(path)
    if place.is_file() and place.name != "result.json":
        try:
            text = place.read_text(encoding="utf-8")
            measured = is_report(foreign.json_of(text[max(0, text.find("{")) :]))
        except (OSError, ValueError):
            measured = False
        if measured:
            return Measured.load(place)
    return load(path)


def with_measured(results: Sequence[Result | Measured]) -> dict[str, Any]:
    """Differences where some are drives measured with fio: all rates and latencies by job and direction.

    A job stands beside the job of the same name; where every one has but one job, their names do not matter.
    """
    from outlast.fio import Measured, figures
    from outlast.fio_report import to_fio

    reports = [result.report if isinstance(result, Measured) else to_fio(result) for result in results]
    if all(len(report["jobs"]) == 1 for report in reports):
        name = reports[0]["jobs"][0].get("jobname", "job")
        reports = [report | {"jobs": [report["jobs"][0] | {"jobname": name}]} for report in reports]
    rows = _side_by_side([figures(report) for report in reports])
    return {
        "names": [result.name if isinstance(result, Measured) else result.summary["name"] for result in results],
        "settings": {},
        "figures": {
            name: {"values": values, "change": [change(values[0], value) for value in values]}
            for name, values in rows.items()
        },
    }


def of_runs(results: Sequence[Result]) -> dict[str, Any]:
    """Settings and figures that differ, by dotted name, each with the value in every result.

    `figures` also have `change`: the relative change of each against the first. What a run costs (CPU time, memory) is
    left out, since it differs every time.
    """
    summaries = [result.summary for result in results]
    settings = _side_by_side([summary["scenario"] for summary in summaries])
    figures = _side_by_side([{k: v for k, v in summary.items() if k not in _ASIDE} for summary in summaries])
    return {
        "names": [summary["name"] for summary in summaries],
        "settings": {
            name: values for name, values in settings.items() if name not in ("name", "description") and _differ(values)
        },
        "figures": {
            name: {"values": values, "change": [change(values[0], value) for value in values]}
            for name, values in figures.items()
            if name not in VARYING and _differ(values)
        },
    }


def _differ(values: list[Any]) -> bool:
    return any(value != values[0] for value in values[1:])
