"""Losses by the end of each year: exactly by a chain, or by a rare-event method on groups of the fleet."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from outlast import models
from outlast.fleet.plan import YEAR_HOURS, Planned

GROUPS_SAMPLED = 4
"""Groups of a fleet whose groups are unlike each other that a rare-event method looks at."""


@dataclass(frozen=True)
class Found:
    """Probability that one group has lost data by the end of each year."""

    engine: str
    reason: str
    """Reason for this engine."""
    mean: list[float]
    low: list[float]
    high: list[float]
    causes: dict[str, float] = field(default_factory=dict)
    """Share of each cause in the losses."""
    events: int = 0


def obstacles(fleet: Planned) -> list[str]:
    """Reasons why no chain describes the fleet exactly; empty if one does."""
    said, repair = fleet.settings["drive"], fleet.settings["repair"]
    order = repair["order"] or ("together" if fleet.settings["placement"]["kind"] == "aligned" else "exposure")
    found = {
        "the code is none of any m pieces": fleet.code["kind"] != "mds",
        "groups share drives": not fleet.plan.is_disjoint,
        "repair times are not exponential": repair["distribution"] != "exponential",
        "failures depend on age": len(fleet.hazard[1]) > 1 or bool(said["retire_years"]),
        "batches differ": bool(said["frailty"]),
        "failures come together": bool(fleet.settings["bursts"] or fleet.settings["contagion"]),
        "some failures are repaired by drives": bool(said["die_share"] and said["die_repair"]),
        "repair waits": repair["threshold"] > 1,
        "pieces of a drive come back one by one": order != "together",
    }
    return [reason for reason, holds in found.items() if holds]


def exact(fleet: Planned) -> list[float]:
    """Loss of one group by the end of each year, by the chain of `models.loss_by()`."""
    repair, code = fleet.settings["repair"], fleet.code
    rate = fleet.hazard[1][0]
    years = [YEAR_HOURS * year for year in range(1, fleet.settings["years"] + 1)]
    if rate == 0.0:
        return [0.0] * len(years)
    found = models.loss_by(
        years,
        code["data"] + code["parity"],
        code["parity"],
        1.0 / rate,
        max(repair["detection_hours"] + fleet.rebuild_hours, 1e-9),
        parallel_repair=repair["mode"] == "parallel",
        read_failure=fleet.read_failure,
    )
    return [float(each) for each in found]


def losses(fleet: Planned, *, quick: bool = False) -> Found:
    """Loss of one group by the end of each year, by the engine that the settings ask for. `quick`: one round only."""
    engine = fleet.settings["study"]["engine"]
    against = obstacles(fleet)
    if engine == "exact" and against:
        raise fleet.settings.refused("study.engine", engine, f"no chain describes this fleet: {'; '.join(against)}")
    if engine == "exact" or (engine in ("auto", "crude") and not against):
        mean = exact(fleet)
        return Found("exact", "one Markov chain describes each group", mean, mean, mean)
    method = "biasing" if engine == "biasing" else "splitting"
    asked = engine in ("splitting", "biasing")
    return _rare(fleet, method, "asked for" if asked else "; ".join(against), quick=quick)


def _rare(fleet: Planned, method: str, reason: str, *, quick: bool) -> Found:
    settings = fleet.settings
    alike = fleet.plan.is_disjoint and not settings["drive"]["frailty"] and not settings["drive"]["age_spread"]
    count = min(1 if alike or quick else GROUPS_SAMPLED, fleet.plan.groups)
    # Spread evenly over the list: groups of one permutation lie side by side.
    chosen = [index * fleet.plan.groups // count for index in range(count)]
    each = [_until_exact(fleet, group, method, number, quick=quick) for number, group in enumerate(chosen)]
    years = range(settings["years"])
    mean = [sum(one["by_year"][year][0] for one in each) / count for year in years]
    low, high = [], []
    for year in years:
        rows = [one["by_year"][year] for one in each]
        # Chance within each group, and what groups differ by.
        within = sum(row[1] ** 2 for row in rows) / count**2
        between = sum((row[0] - mean[year]) ** 2 for row in rows) / max(count * (count - 1), 1)
        half = 2.262 * sqrt(within + (between if count > 1 else 0.0))
        low.append(max(mean[year] - half, 0.0))
        high.append(mean[year] + half)
    causes: dict[str, float] = {}
    total = sum(one["by_year"][-1][0] for one in each)
    for one in each:
        for name, share in one["causes"]:
            causes[name] = causes.get(name, 0.0) + (share * one["by_year"][-1][0] / total if total else 0.0)
    return Found(method, reason, mean, low, high, causes, sum(one["events"] for one in each))


def _until_exact(fleet: Planned, group: int, method: str, number: int, *, quick: bool) -> dict[str, Any]:
    """One group, with ever more paths until the interval is as narrow as asked for. Ctrl-C comes between rounds."""
    study = fleet.settings["study"]
    plan = fleet.plan.one_group(group)
    paths, events = study["paths"], 0
    while True:
        text = plan.rare(method, paths, fleet.settings["years"], YEAR_HOURS, fleet.settings["seed"] + number)
        found: dict[str, Any] = json.loads(text)
        events += found["events"]
        mean, _, _, high = found["by_year"][-1]
        found["events"] = events
        if quick or (mean > 0 and high - mean <= study["relative_error"] * mean):
            return found
        # The next round plays four times as many.
        if events > study["most_events"] / 5 / GROUPS_SAMPLED or paths > 10**8:
            return found
        paths *= 4
