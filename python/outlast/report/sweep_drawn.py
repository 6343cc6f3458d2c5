"""Points that the charts of a large sweep draw: a page of all of them would have tens of megabytes, and stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.report.numbers import short
from outlast.report.sweep_points import Point, shown_figures

MOST_DRAWN = 5_000
"""Points that a chart draws at most. Browsers draw each as an element of its own."""


def drawn(summary: dict[str, Any]) -> list[Point]:
    """The points that charts draw, in their order: all, or the front, both ends of each figure, and an even choice."""
    points: list[Point] = summary["points"]
    if len(points) <= MOST_DRAWN:
        return points
    kept = set(summary["pareto"]["front"])
    for name in shown_figures(summary):
        means = [(mean, p["point"]) for p in points if (mean := p["figures"][name]["mean"]) is not None]
        kept |= {min(means)[1], max(means)[1]}
    chosen = set(_evenly(sorted(kept), MOST_DRAWN))
    others = [point["point"] for point in points if point["point"] not in kept]
    chosen |= set(_evenly(others, MOST_DRAWN - len(chosen)))
    return [point for point in points if point["point"] in chosen]


def note(summary: dict[str, Any]) -> str:
    """Sentence on what charts leave out; empty where they draw all points."""
    count = len(summary["points"])
    if count <= MOST_DRAWN:
        return ""
    return f"charts draw {short(MOST_DRAWN)} of them: the front, both ends of each figure, and an even choice"


def _evenly(numbers: Sequence[int], most: int) -> list[int]:
    """Numbers spread evenly over some, `most` of them; all if there are not more."""
    if len(numbers) <= most:
        return list(numbers)
    return [numbers[index * len(numbers) // most] for index in range(most)]
