"""Whole fleets that are played: what happens in them, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from outlast.fleet.plan import YEAR_HOURS, Planned, planned
from outlast.fleet.reading import Settings

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


def played(fleet: Planned, tell: Callable[[int], None] | None = None, *, on: str = "") -> Lives:
    """Plays lives, as many as the settings say. `tell` gets the number of lives so far, and may raise.

    `on` is the address of a Dask scheduler, whose workers have the same build of Outlast; the result is the same.
    """
    asked, years = fleet.settings["study"]["lives"], fleet.settings["years"]
    sums = _Sums(years)
    for life in _elsewhere(fleet, on) if on else _here(fleet, asked or LIVES_MOST):
        sums.add(life)
        if tell is not None:
            tell(sums.number)
        if not asked and sums.number >= LIVES_LEAST and sums.counts["events"] >= EVENTS_WANTED:
            break
    return Lives(sums.number, sums.counts, sums.by_year, sums.lost, sums.worst, sums.causes)


class _Sums:
    """Sums over lives, in the order of their numbers."""

    def __init__(self, years: int) -> None:
        self.number = self.lost = self.worst = 0
        self.counts: dict[str, Any] = {}
        self.by_year = [0] * years
        self.causes: dict[str, int] = {}

    def add(self, text: str) -> None:
        life: dict[str, Any] = json.loads(text)
        self.number += 1
        found = life.pop("losses")
        for name, value in life.items():
            if isinstance(value, list):
                before = self.counts.get(name, [0] * len(value))
                self.counts[name] = [a + b for a, b in zip(before, value, strict=True)]
            else:
                self.counts[name] = self.counts.get(name, 0) + value
        if found:
            years = len(self.by_year)
            for year in range(min(int(found[0][0] / YEAR_HOURS), years - 1), years):
                self.by_year[year] += 1
        for _, _, cause in found:
            self.causes[cause] = self.causes.get(cause, 0) + 1
        self.lost += len(found)
        self.worst = max(self.worst, len(found))


def _here(fleet: Planned, count: int) -> Iterator[str]:
    hours = fleet.settings["years"] * YEAR_HOURS
    for number in range(count):
        yield fleet.plan.life(hours, fleet.settings["seed"], number)


def _elsewhere(fleet: Planned, on: str) -> Iterator[str]:
    """Lives from the workers of a Dask scheduler, as the records of a sweep come; in the order of their numbers."""
    from outlast.points.cluster import connect

    settings = fleet.settings
    if not settings["study"]["lives"]:
        raise settings.refused("study.lives", 0, "must be given: how many lives the Dask cluster simulates")
    with connect(on, {}) as cluster:
        yield from cluster.map(life_elsewhere, range(settings["study"]["lives"]), settings)


def life_elsewhere(number: int, settings: Settings) -> str:
    """One life as JSON, on a worker, which makes the plan of the settings once."""
    fleet = _plan_of(json.dumps(settings.tables, sort_keys=True), settings)
    return fleet.plan.life(settings["years"] * YEAR_HOURS, settings["seed"], number)


_PLANS: dict[str, Planned] = {}


def _plan_of(key: str, settings: Settings) -> Planned:
    if key not in _PLANS:
        _PLANS.clear()
        _PLANS[key] = planned(settings)
    return _PLANS[key]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Interval that holds the true share with 95 % (Wilson, "Probable inference", 1927); from 0 to 1."""
    share, square = successes / trials, Z * Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = Z / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max(middle - half, 0.0), min(middle + half, 1.0)
