"""Predicates that statements share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from outlast.reproduce.model import Found, Number

SLACK = 0.01
"""Figures within 1 % of each other are taken as equal when put in order: a few thousand reads decide a tail."""


def times(value: float) -> str:
    """A ratio in words."""
    return f"{value:.2f}×" if value < 100 else f"{value:.0f}×"


def rising(name: str, values: Sequence[tuple[str, float]], *, unit: str = "×", slack: float = SLACK) -> Found:
    """Each is at least as great as the one before."""
    holds = all(b >= a * (1 - slack) for (_, a), (_, b) in pairwise(values))
    words = ", ".join(f"{label} {value:.2f}{unit}" for label, value in values)
    return Found(holds, f"{name}: {words}" if name else words)


def every(parts: Sequence[Found]) -> Found:
    """All hold."""
    if not parts:
        raise LookupError("nothing to judge")
    numbers = tuple(number for part in parts for number in part.numbers)
    return Found(all(part.holds for part in parts), "; ".join(part.words for part in parts), numbers)


def near(name: str, value: float, expected: float, within: float, unit: str = "", closed: float | None = None) -> Found:
    """The value is the expected one, so far as that; `closed` is a closed form of what was simulated."""
    words = f"{name} {value:.4g}{unit} (paper {expected:.4g}{unit})"
    return Found(abs(value - expected) <= within, words, (Number(name, value, expected, unit, closed=closed),))


def percent(name: str, value: float, expected: float, points: float) -> Found:
    """A percentage of the paper, judged in its own unit: so many points off at most."""
    return near(name, value, expected, points, " %")


def beside(found: Found, *numbers: Number) -> Found:
    """The same finding with figures of the paper beside ours."""
    return Found(found.holds, found.words, (*found.numbers, *numbers))
