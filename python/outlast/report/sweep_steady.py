"""Which points of a sweep have runs that were not in steady state."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import short

MARK = "†"


def mark(point: dict[str, Any]) -> str:
    """What stands behind the values of a point; empty where all of its runs were in steady state."""
    return f" {MARK}" if point.get("not_steady") else ""


def badge(point: dict[str, Any], repeats: int) -> str:
    """The same as HTML, with the number of runs under the pointer."""
    if not mark(point):
        return ""
    said = f"{short(point['not_steady'])} of {short(repeats)} runs not in steady state"
    return f' <span class="change" title="{said}">{MARK}</span>'


def note(summary: dict[str, Any]) -> str:
    """The line below a table that says what the mark means; empty where all runs were in steady state."""
    if not summary["not_steady"]:
        return ""
    said = f"{short(summary['not_steady'])} of {short(summary['runs'])} runs were not in steady state"
    return f"{said}: at the points with {MARK}" if any(map(mark, summary["points"])) else said
