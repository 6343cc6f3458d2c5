"""A study of a fleet: losses by year, what causes them, how it lives, what it costs, what to change first."""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, log1p, log10
from typing import Any

from outlast.fleet import elasticity, loss_causes
from outlast.fleet.lives import Lives, check_events, played, wilson
from outlast.fleet.outages import unavailable
from outlast.fleet.plan import Planned, planned, scope_sizes
from outlast.fleet.presets import PRESETS
from outlast.fleet.rare import Found, counted, losses, only_counted
from outlast.fleet.reading import FleetLike, Settings, read

SCHEMA = "outlast-fleet/1"
STRIPE_BYTES = 4096
"""Bytes of a piece that are gone when a rebuild cannot read something."""
COUNTED_LEAST = 10
"""Fleets with losses from which on their share is counted rather than bounded."""


def study(
    fleet: FleetLike | Settings, tell: Callable[[str, int], None] | None = None, *, on: str = ""
) -> dict[str, Any]:
    """The result of a fleet file (or of what one would say, as nested dictionaries), as plain values for JSON.

    Probabilities are from 0 to 1 and cumulative by the end of each year of 8760 hours; sizes are bytes, times hours.
    `docs/guide/fleet.md` has every figure. `tell` gets the name of a stage and a count, and may raise. Raises
    `ScenarioError` for settings that are wrong or do not fit each other. `on` is the address of a Dask scheduler that
    plays the lives (`tcp://host:8786`); the result is the same.
    """
    settings = fleet if isinstance(fleet, Settings) else read(fleet)
    plan = planned(settings)
    check_events(plan)
    if tell is not None:
        tell("losses", 0)
    engine, must = settings["study"]["engine"], only_counted(plan)
    if must and engine in ("splitting", "biasing"):
        raise settings.refused("study.engine", engine, f'must be "auto" or "crude": {must}')
    is_counted = engine == "crude" or (engine == "auto" and must is not None)
    found = None if is_counted else losses(plan)
    lives = played(plan, (lambda number: tell("lives", number)) if tell is not None else None, on=on)
    found = found or counted(plan, lives, "asked for" if engine == "crude" or must is None else must)
    result = _result(plan, found, lives)
    if settings["study"]["elasticities"]:
        result["change_first"] = elasticity.of(plan, tell)
    return result


def _result(plan: Planned, found: Found, lives: Lives) -> dict[str, Any]:
    settings, layout = plan.settings, plan.layout
    groups, years = layout.count, settings["years"]
    drives, user_bytes = layout.drives, groups * plan.data_pieces * plan.piece_bytes
    last = found.mean[-1]
    group_bytes = plan.data_pieces * plan.piece_bytes
    unreadable = found.causes.get("unreadable", 0.0)
    lost_bytes = groups * last * ((1.0 - unreadable) * group_bytes + unreadable * STRIPE_BYTES * plan.data_pieces)
    preset = PRESETS.get(settings["preset"])
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "name": settings["name"],
        "seed": settings["seed"],
        "engine": {
            "losses": found.engine,
            "reason": found.reason,
            "events": found.events,
            "repair": settings["repair"]["mode"],
            "lives": lives.count,
        },
        "fleet": {
            "drives": drives,
            **{f"{scope}s": count for scope, count in scope_sizes(layout).items()},
            "groups": groups,
            "pieces_of_group": layout.width,
            "pieces_of_drive": layout.pieces_of_drive,
            "piece_bytes": plan.piece_bytes,
            "user_bytes": user_bytes,
            "rebuild_hours": plan.rebuild_hours,
            "read_failure": plan.read_failure,
        },
        "loss_by_year": [_year(plan, found, lives, year) for year in range(years)],
        "expected_bytes_lost": lost_bytes,
        "bytes_of_a_loss": group_bytes,
        "object_nines_a_year": _nines(last / years),
        "mttdl_over_years": _ratio(groups * last),
        "causes": loss_causes.named(plan, _causes(found, lives)),
        "life": _life(plan, lives),
    }
    if preset is not None:
        result["preset"] = {"name": settings["preset"], "source": preset.source, "notes": list(preset.notes)}
    if any(settings["prices"][name] for name in ("drive", "replacement", "drive_year", "traffic_tb", "lost_tb")):
        result["cost"] = _cost(plan, result)
    return result


def _year(plan: Planned, found: Found, lives: Lives, year: int) -> dict[str, Any]:
    """Losses by the end of a year: of one group, in groups of the fleet, and of any."""
    groups = plan.layout.count

    def any_of(p: float) -> float:
        return -expm1(groups * log1p(-min(p, 1.0))) if p < 1.0 else 1.0

    independent = plan.plan.is_disjoint and not (
        plan.settings["bursts"] or plan.settings["contagion"] or plan.settings["drive"]["frailty"]
    )
    counted = lives.lost_by_year[year] >= COUNTED_LEAST
    if independent:
        kind = "groups are independent"
        fleet = [any_of(each[year]) for each in (found.mean, found.low, found.high)]
    elif counted:
        kind = "counted"
        fleet = [lives.lost_by_year[year] / lives.count, *wilson(lives.lost_by_year[year], lives.count)]
    else:
        # Whatever groups have in common: a fleet loses no more often than its groups do together.
        kind = "at most"
        fleet = [min(groups * each[year], 1.0) for each in (found.mean, found.low, found.high)]
    return {
        "year": year + 1,
        "group": {"mean": found.mean[year], "low": found.low[year], "high": found.high[year]},
        "groups_lost": {
            "mean": groups * found.mean[year],
            "low": groups * found.low[year],
            "high": groups * found.high[year],
        },
        "fleet": {"mean": fleet[0], "low": fleet[1], "high": fleet[2], "kind": kind},
        "counted": {
            "fleets": lives.count,
            "with_loss": lives.lost_by_year[year],
            "interval": list(wilson(lives.lost_by_year[year], lives.count)),
        },
    }


def _nines(p: float) -> float | None:
    return -log10(p) if p > 0.0 else None


def _ratio(expected: float) -> float | None:
    """Mean time to data loss over the years looked at: only a ratio, since no fleet lives as long."""
    return 1.0 / expected if expected > 0.0 else None


def _causes(found: Found, lives: Lives) -> dict[str, float]:
    """Shares of what the last failure of a loss was due to."""
    total = sum(lives.causes.values())
    return found.causes or {name: count / total for name, count in lives.causes.items()}


def _life(plan: Planned, lives: Lives) -> dict[str, Any]:
    """Events of a year of the fleet, in the mean."""
    counts, years = lives.counts, plan.settings["years"] * lives.count
    hours = counts["hours_at_level"]
    rebuilt, along = counts["pieces_rebuilt"] / years, counts["pieces_along"] / years
    said = plan.settings["drive"]
    of_die = plan.piece_bytes * plan.layout.pieces_of_drive / said["dies"]
    traffic = (rebuilt * plan.piece_bytes + counts["dies_repaired"] / years * of_die) * (plan.read_pieces + 1)
    traffic -= along * plan.piece_bytes * plan.read_pieces
    failures = sum(counts["failures_by_age"]) + sum(counts["bursts"]) + counts["contagions"]
    groups = plan.layout.count
    return {
        "drives_failed_a_year": failures / years,
        "by_age_a_year": [count / years for count in counts["failures_by_age"]],
        "by_bursts_a_year": sum(counts["bursts"]) / years,
        "by_neighbours_a_year": counts["contagions"] / years,
        "dies_failed_a_year": counts["dies"] / years,
        "dies_repaired_a_year": counts["dies_repaired"] / years,
        "drives_retired_a_year": counts["retirements"] / years,
        "days_degraded_a_year": (sum(hours) - hours[0]) / 24.0 / years,
        "days_at_level_a_year": [each / 24.0 / years for each in hours],
        "group_days_degraded_a_year": counts["group_hours_degraded"] / 24.0 / years / groups,
        "rebuild_bytes_a_year": traffic,
        "events": counts["events"],
        "fleets_with_loss": lives.lost_by_year[-1],
        "groups_lost": lives.groups_lost,
        "groups_lost_at_worst": lives.worst_groups,
        "unavailable_groups": unavailable(plan),
    }


def _cost(plan: Planned, result: dict[str, Any]) -> dict[str, Any]:
    """Money a year, by what it is for."""
    prices, life, years = plan.settings["prices"], result["life"], plan.settings["years"]
    drives, replaced = plan.layout.drives, life["drives_failed_a_year"] + life["drives_retired_a_year"]
    parts = {
        "drives": drives * prices["drive"] / prices["amortised_years"],
        "replacements": replaced * (prices["drive"] + prices["replacement"]),
        "power_and_place": drives * prices["drive_year"],
        "rebuild_traffic": life["rebuild_bytes_a_year"] / 1e12 * prices["traffic_tb"],
        "lost_data": result["expected_bytes_lost"] / 1e12 / years * prices["lost_tb"],
    }
    total = sum(parts.values())
    return {
        "currency": prices["currency"],
        "a_year": total,
        "by_part": parts,
        "per_user_tb_year": total / (result["fleet"]["user_bytes"] / 1e12),
    }
