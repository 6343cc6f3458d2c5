"""Losses by the end of each year: exactly by a chain, or by a rare-event method on groups of the fleet."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import expm1, sqrt
from typing import Any

import numpy as np

from outlast import models
from outlast.fleet import loss_causes
from outlast.fleet.layout import YEAR_HOURS
from outlast.fleet.lives import Lives, Z, check_events, wilson
from outlast.fleet.plan import Planned

GROUPS_ALIKE, GROUPS_UNLIKE = 40, 4000
"""Most groups that a rare-event method looks at: declustered; and where nodes, batches or ages differ, too."""
PATHS_LEAST = 10
"""Fewest paths of a repetition."""
PATHS_MOST = 10**8
"""Most paths of a repetition."""
SPENT_AT_MOST = 0.8
"""Share of the events left that paths are planned to take: some take more than those of the pilot run."""
VARIANCE_MARGIN = 2.16
"""Factor on a variance of ten repetitions above which the true one is with 10 %: 9 over that quantile of chi-square."""


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
        "failures depend on age": len(fleet.hazard[1]) > 1,
        "batches differ": bool(said["frailty"]),
        "failures come together": bool(fleet.settings["bursts"] or fleet.settings["contagion"]),
        "some failures are repaired by drives": bool(said["die_share"] and said["die_repair"]),
        "repair waits": repair["threshold"] > 1,
        "rebuilds share bandwidths": fleet.sharing is not None,
        "pieces of a drive come back one by one": order != "together",
    }
    return [reason for reason, holds in found.items() if holds]


def only_counted(fleet: Planned) -> str | None:
    """Reason why only whole fleets that are played say how probable a loss is; `None` where one group alone does, too.

    Of one group alone it is not known which drives its failures bring elsewhere, which one crew then repairs first.
    """
    serial = fleet.settings["repair"]["mode"] == "serial" and not fleet.plan.is_disjoint
    return "one crew repairs what contagion brings" if serial and fleet.settings["contagion"] else None


def exact(fleet: Planned) -> list[float]:
    """Loss of one group by the end of each year, by the chain of `models.loss_by()`."""
    repair, code = fleet.settings["repair"], fleet.code
    rate = fleet.hazard[1][0]
    if code["parity"] == 0:
        # The first failure loses data: no chain of one state is needed, nor has one drive a chain.
        return [-expm1(-rate * YEAR_HOURS * year * code["data"]) for year in range(1, fleet.settings["years"] + 1)]
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
    if fleet.plan.event_rate == 0.0:
        none = [0.0] * fleet.settings["years"]
        return Found("exact", "nothing fails", none, none, none)
    against = obstacles(fleet)
    if engine == "exact" and against:
        raise fleet.settings.refused("study.engine", engine, f"no chain describes this fleet: {'; '.join(against)}")
    if engine == "exact" or (engine in ("auto", "crude") and not against):
        mean = exact(fleet)
        return Found("exact", "one Markov chain describes each group", mean, mean, mean, loss_causes.of_chain(fleet))
    check_events(fleet)
    method = "biasing" if engine == "biasing" else "splitting"
    asked = engine in ("splitting", "biasing")
    return _rare(fleet, method, "asked for" if asked else "; ".join(against), quick=quick)


def counted(fleet: Planned, lives: Lives, reason: str) -> Found:
    """Share of groups that had lost data by the end of each year, as whole fleets were played (`crude`)."""
    count, groups = lives.count, fleet.plan.groups
    mean = [total / (count * groups) for total in lives.first_by_year]
    low, high = [], []
    for share, total, squares in zip(mean, lives.first_by_year, lives.squares_by_year, strict=True):
        spread = sqrt(max(squares / count - (total / count) ** 2, 0.0) / max(count - 1, 1)) / groups
        # Of few or no losses the number of fleets with one says more than the spread.
        least, most = wilson(min(total, count), count)
        low.append(max(share - Z * spread, 0.0) if total > count else least / groups)
        high.append(min(share + Z * spread, 1.0) if total > count else max(most / groups, share + Z * spread))
    total = sum(lives.causes.values())
    causes = {name: number / total for name, number in lives.causes.items()}
    return Found("crude", f"{reason}: {count} fleets were played", mean, low, high, causes, lives.counts["events"])


def _rare(fleet: Planned, method: str, reason: str, *, quick: bool) -> Found:
    found = _estimated(fleet, chosen_groups(fleet), method, quick=quick)
    rows = found["by_year"]
    return Found(
        method,
        reason,
        [row[0] for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
        dict(found["causes"]),
        found["events"],
    )


def chosen_groups(fleet: Planned) -> list[int]:
    """Groups that stand for all: one if they are alike; else all, or as many as paths can begin with, by chance."""
    said, groups = fleet.settings["drive"], fleet.plan.groups
    unlike = (
        said["ages_apart"]
        or said["frailty"]
        or said["age_spread"]
        or fleet.settings["bursts"]
        or fleet.settings["contagion"]
    )
    if fleet.plan.is_disjoint and not unlike:
        return [0]
    most = GROUPS_UNLIKE if unlike else GROUPS_ALIKE
    chance = np.random.default_rng([fleet.settings["seed"], 2])
    order = chance.permutation(groups) if groups <= most else chance.choice(groups, most, replace=False)
    return [int(group) for group in order]


def _estimated(fleet: Planned, groups: list[int], method: str, *, quick: bool) -> dict[str, Any]:
    """Mean over groups, with as many paths as a pilot run says are needed for the interval that is asked for.

    The samples of the pilot run are no part of the estimate: an interval is not better for having come out short.
    """
    settings = fleet.settings
    study, years, seed = settings["study"], settings["years"], settings["seed"]
    most = study["most_events"]
    # Events of ten repetitions of one stage with one path each, in which nothing happens but what comes anyway.
    each = 10.0 * (1.0 + fleet.plan.event_rate_of(groups[0]) * years * YEAR_HOURS)
    if not each * PATHS_LEAST <= most:
        raise settings.refused(
            "study.most_events",
            most,
            f"{PATHS_LEAST} paths of one group over {years} years take {each * PATHS_LEAST:.3g} events: fewer years, "
            "bursts, failures or replacements, or more events",
        )

    def played(paths: int, seed: int, events: float) -> dict[str, Any] | None:
        text = fleet.plan.rare(method, paths, years, YEAR_HOURS, seed, groups, int(events))
        return None if text is None else dict(json.loads(text))

    # A path takes as many events again in each stage of a code: the pilot run is planned to have a tenth of all.
    paths = min(study["paths"], max(int(most / each / 10.0), PATHS_LEAST))
    pilot_seed = seed if quick else int(np.random.default_rng([seed, 3]).integers(2**63))
    spent = 0.0
    pilot = played(paths, pilot_seed, most / 2.0)
    if pilot is None:
        paths, spent = PATHS_LEAST, most / 2.0
        pilot = played(paths, pilot_seed, most / 2.0)
    if pilot is None:
        limit = f"{paths} paths of one group over {years} years take more: fewer years or failures, or more events"
        raise settings.refused("study.most_events", most, limit)
    spent += pilot["events"]
    if quick:
        return pilot
    found = played(_paths_after(pilot, paths, study["relative_error"], most - spent), seed, most - spent)
    # Some paths may take many times the events of others: what the pilot run found stands then.
    return pilot if found is None else found | {"events": int(spent + found["events"])}


def _paths_after(pilot: dict[str, Any], paths: int, relative_error: float, events: float) -> int:
    """Paths that bring the interval within `relative_error`, by what a pilot run with `paths` found."""
    mean, _, _, high = pilot["by_year"][-1]
    # Of what the pilot run did not meet at all, four times as many paths say whether it is.
    wanted = 4.0 * paths if mean == 0.0 else paths * VARIANCE_MARGIN * ((high - mean) / mean / relative_error) ** 2
    affordable = SPENT_AT_MOST * events / max(pilot["events"] / paths, 1.0)
    return int(max(min(max(wanted, paths), affordable, PATHS_MOST), PATHS_LEAST))
