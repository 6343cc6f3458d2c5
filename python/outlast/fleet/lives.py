"""Whole fleets that are played: what happens in them, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from typing import Any

from outlast.fleet.layout import YEAR_HOURS
from outlast.fleet.plan import Planned, planned
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
    first_by_year: list[int]
    """Groups that had lost data by the end of each year, each counted once in a life, over all lives."""
    squares_by_year: list[int]
    """Sums of the squares of these numbers of single lives."""
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
    return Lives(sums.number, sums.counts, sums.by_year, sums.lost, sums.worst, sums.first, sums.squares, sums.causes)


def check_events(fleet: Planned) -> None:
    """Raises `ScenarioError` if the lives that are asked for are more events than a study may take."""
    most, years = fleet.settings["study"]["most_events"], fleet.settings["years"]
    lives = max(fleet.settings["study"]["lives"], LIVES_LEAST)
    events = fleet.plan.event_rate * years * YEAR_HOURS * lives
    if not events <= most:
        raise fleet.settings.refused(
            "study.most_events",
            most,
            f"{lives} lives of {fleet.plan.drives} drives over {years} years take {events:.3g} events: "
            "fewer drives, years, lives, bursts or failures, or more events",
        )


class _Sums:
    """Sums over lives, in the order of their numbers."""

    def __init__(self, years: int) -> None:
        self.number = self.lost = self.worst = 0
        self.counts: dict[str, Any] = {}
        self.by_year, self.first, self.squares = [0] * years, [0] * years, [0] * years
        self.causes: dict[str, int] = {}

    def add(self, text: str) -> None:
        life: dict[str, Any] = json.loads(text)
        self.number += 1
        first, lost, groups, causes = (life.pop(name) for name in ("first_loss", "losses", "groups_lost", "causes"))
        for name, value in life.items():
            if isinstance(value, list):
                before = self.counts.get(name, [0] * len(value))
                self.counts[name] = [a + b for a, b in zip(before, value, strict=True)]
            else:
                self.counts[name] = self.counts.get(name, 0) + value
        if first is not None:
            years = len(self.by_year)
            for year in range(min(int(first / YEAR_HOURS), years - 1), years):
                self.by_year[year] += 1
        for year, total in enumerate(accumulate(groups)):
            self.first[year] += total
            self.squares[year] += total * total
        for cause, count in causes.items():
            self.causes[cause] = self.causes.get(cause, 0) + count
        self.lost += lost
        self.worst = max(self.worst, lost)


def _here(fleet: Planned, count: int) -> Iterator[str]:
    for number in range(count):
        yield _life(fleet, number)


def _life(fleet: Planned, number: int) -> str:
    """One life as JSON. Raises `ScenarioError` if it alone takes more events than a study may."""
    settings = fleet.settings
    years, most = settings["years"], settings["study"]["most_events"]
    text = fleet.plan.life(years, YEAR_HOURS, settings["seed"], number, int(most))
    if text is None:
        limit = f"one life of {fleet.plan.drives} drives over {years} years takes more: fewer drives, years or failures"
        raise settings.refused("study.most_events", most, limit)
    return text


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
    return _life(_plan_of(json.dumps(settings.tables, sort_keys=True), settings), number)


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
    # An end that is the share itself, as all and none are, is rounded to either side of it.
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)
