"""Predicates that statements share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from outlast.products.reproduce.model import Found, Number

SLACK = 0.01
"""Figures within 1 % of each other are taken as equal when put in order: a few thousand reads decide a tail."""


def rising(name: str, values: Sequence[float], *, unit: str = "×", slack: float = SLACK) -> Found:
    """Each is at least as great as the one before."""
    holds = all(after >= before * (1 - slack) for before, after in pairwise(values))
    return Found(holds, f"{name} {' ≤ '.join(f'{value:.4g}{unit}' for value in values)}".strip())


def every(parts: Sequence[Found]) -> Found:
    """All hold."""
    if not parts:
        raise LookupError("nothing to judge")
    numbers = tuple(number for part in parts for number in part.numbers)
    return Found(all(part.holds for part in parts), "; ".join(part.words for part in parts), numbers)


def tolerance(expected: float, unit: str = "") -> float:
    """Largest distance from a number that a paper measured or simulated at which ours agrees: one rule for all papers.

    Percentages: two points, twice the standard deviation of a comparison of two runs that scatter by 0.5 % each, in the
    paper as here (2 * sqrt(4) * 0.5), and never more than half of the number. All others: 8 %, the most by which a
    paper is apart from itself (32 TB at 12 Gbit/s take 8.14 hours by the coding of the link and 8.8 in Reparo; one
    array makes 14,000 and 15 K writes a second in Diff-RAID, 7 % apart).
    """
    return min(POINTS, abs(expected) / 2) if unit.strip() in ("%", "points") else SHARE * abs(expected)


POINTS, SHARE = 2.0, 0.08


def near(name: str, value: float, expected: float, within: float, unit: str = "", closed: float | None = None) -> Found:
    """The value is the expected one, so far as that; `closed` is a closed form of what was simulated."""
    words = f"{name} {value:.4g}{unit} (expected {expected:.4g}{unit} within {within:.3g})"
    return Found(abs(value - expected) <= within, words.strip(), (Number(name, value, expected, unit, closed=closed),))
