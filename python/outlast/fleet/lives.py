"""Whole fleets that are played: what happens in them, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from outlast.fleet.plan import YEAR_HOURS, Planned

EVENTS_WANTED = 1_000_000
LIVES_LEAST, LIVES_MOST = 3, 1000
Z = 1.96
"""Quantile 97.5 % of the normal distribution."""


@dataclass(frozen=True)
class Lives:
    """Counts over all lives, and losses by year."""

    count: int
    counts: dict[str, Any]
    """Sums over lives."""
    lost_by_year: list[int]
    """Lives that had lost data by the end of each year."""
    groups_lost: int
    worst_groups: int
    """Groups that the life with most losses had lost."""
    causes: dict[str, int]


def played(fleet: Planned, tell: Callable[[int], None] | None = None) -> Lives:
    """Plays lives, as many as the settings say. `tell` gets the number of lives so far, and may raise."""
    asked, years = fleet.settings["study"]["lives"], fleet.settings["years"]
    counts: dict[str, Any] = {}
    by_year, causes = [0] * years, dict[str, int]()
    lost = worst = number = 0
    while number < (asked or LIVES_MOST):
        text = fleet.plan.life(years * YEAR_HOURS, fleet.settings["seed"], number)
        life: dict[str, Any] = json.loads(text)
        number += 1
        found = life.pop("losses")
        for name, value in life.items():
            if isinstance(value, list):
                counts[name] = [a + b for a, b in zip(counts.get(name, [0] * len(value)), value, strict=True)]
            else:
                counts[name] = counts.get(name, 0) + value
        if found:
            first = min(int(found[0][0] / YEAR_HOURS), years - 1)
            for year in range(first, years):
                by_year[year] += 1
        for _, _, cause in found:
            causes[cause] = causes.get(cause, 0) + 1
        lost += len(found)
        worst = max(worst, len(found))
        if tell is not None:
            tell(number)
        if not asked and number >= LIVES_LEAST and counts["events"] >= EVENTS_WANTED:
            break
    return Lives(number, counts, by_year, lost, worst, causes)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Interval that holds the true share with 95 % (Wilson, "Probable inference", 1927); from 0 to 1."""
    share, square = successes / trials, Z * Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = Z / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max(middle - half, 0.0), min(middle + half, 1.0)
