"""Basis of a risk of data loss: duration of a rebuild, measured or assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.report.numbers import seconds, short


def rebuild(loss: Mapping[str, Any], unloaded: bool = False) -> str:
    """Phrase on the rebuild time behind a result's `array.data_loss`; empty without redundancy.

    `unloaded`: a part of what was measured came after the workload.
    """
    if loss["repair_hours"] is None:
        return ""
    took = seconds(3600.0 * loss["repair_hours"])
    if loss["repair_measured"]:
        return f"a rebuild taking {took} as measured" + (", partly without load" if unloaded else "")
    # Absent in results of versions that assumed one at the lower limit.
    limit = loss.get("repair_limit") or "array.background.min_rate"
    return f"assuming a rebuild of {took} ({limit})"


def assumed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Number, hours and limits of the assumed rebuilds of a sweep; `None` if all were measured."""
    name = "array.data_loss.repair_hours"
    assumed_rows = [row for row in rows if row.get("array.data_loss.repair_measured") is False]
    if not assumed_rows:
        return None
    hours = [float(row[name]) for row in assumed_rows]
    limits = dict.fromkeys(str(row["array.data_loss.repair_limit"]) for row in assumed_rows)
    return {"runs": len(assumed_rows), "hours": [min(hours), max(hours)], "limits": list(limits)}


def note(summary: Mapping[str, Any]) -> str:
    """The line below a sweep's table; empty where the table shows no risk, or every rebuild was measured."""
    found = summary.get("assumed_rebuild")
    if not found or not any(name.startswith("array.data_loss.") for name in summary["sweep"]["figures"]):
        return ""
    low, high = (seconds(3600.0 * hours) for hours in found["hours"])
    span = low if low == high else f"{low} to {high}"
    sentence = f"data loss: assuming a rebuild of {span} ({', '.join(found['limits'])})"
    whole = found["runs"] == summary["runs"]
    return (
        sentence if whole else f"{sentence} in the {short(found['runs'])} runs of {short(summary['runs'])} without one"
    )
