"""Elasticities, which say what to change first: by how many per cent losses fall if a setting is better by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

from outlast.errors import OutlastError
from outlast.fleet.plan import Planned, planned
from outlast.fleet.rare import Found, losses
from outlast.fleet.reading import Settings

STEP = 1.25
"""A setting is multiplied and divided by this."""


def knobs(settings: Settings) -> list[tuple[str, Callable[[float], Settings]]]:
    """Settings that a planner can turn, each with what the fleet is when it is multiplied by a factor."""
    drive, repair = settings["drive"], settings["repair"]
    found: list[tuple[str, Callable[[float], Settings]]] = []

    def scaled(table: str, key: str) -> Callable[[float], Settings]:
        return lambda factor: settings.changed(**{table: {key: settings[table][key] * factor}})

    if drive["weibull_shape"]:
        found.append(("drive.weibull_scale", scaled("drive", "weibull_scale")))
    elif drive["afr_by_age"]:
        found.append(
            (
                "drive.afr_by_age",
                lambda factor: settings.changed(
                    drive={"afr_by_age": [min(each * factor, 0.999) for each in drive["afr_by_age"]]}
                ),
            )
        )
    else:
        found.append(("drive.afr", scaled("drive", "afr")))
    if repair["hours"]:
        found.append(("repair.hours", scaled("repair", "hours")))
    else:
        found += [
            (f"repair.{key}", scaled("repair", key)) for key in ("drive_mb_s", "node_mb_s", "rack_mb_s") if repair[key]
        ]
    if repair["detection_hours"]:
        found.append(("repair.detection_hours", scaled("repair", "detection_hours")))
    found += [(f"drive.{key}", scaled("drive", key)) for key in ("uber", "latent_per_year", "frailty") if drive[key]]
    if drive["latent_per_year"] and drive["scrub_days"]:
        found.append(("drive.scrub_days", scaled("drive", "scrub_days")))
    if drive["die_share"] and drive["die_repair"]:
        found += [(f"drive.{key}", scaled("drive", key)) for key in ("die_share", "die_repair_hours")]
    for name, key in (("bursts", "per_year"), ("contagion", "probability")):
        for index, one in enumerate(settings[name]):
            if one[key]:
                found.append((f"{name}[{index}].{key}", _of_list(settings, name, index, key)))
    return found


def _of_list(settings: Settings, name: str, index: int, key: str) -> Callable[[float], Settings]:
    def changed(factor: float) -> Settings:
        rows = [dict(row) for row in settings[name]]
        rows[index][key] *= factor
        return replace(settings, tables={**settings.tables, name: rows})

    return changed


def of(fleet: Planned, tell: Callable[[str, int], None] | None = None) -> list[dict[str, Any]]:
    """Elasticities `d ln P / d ln x` of losses by the end, by central differences, with the greatest effect first.

    Rare-event methods draw the same chance for both ends; half an interval of theirs over ln of the step is `chance`.
    """
    rows = []
    for number, (name, change) in enumerate(knobs(fleet.settings)):
        if tell is not None:
            tell("elasticities", number)
        (above, up), (below, down) = _end(fleet, change, STEP), _end(fleet, change, 1.0 / STEP)
        step = log(above / below)
        if step == 0.0 or up.mean[-1] <= 0.0 or down.mean[-1] <= 0.0:
            continue
        slope = log(up.mean[-1] / down.mean[-1]) / step
        spread = sum((each.high[-1] - each.mean[-1]) / each.mean[-1] for each in (up, down)) / 2.0
        rows.append({"setting": name, "elasticity": slope, "chance": spread / step})
    return sorted(rows, key=lambda row: -abs(row["elasticity"]))


def _end(fleet: Planned, change: Callable[[float], Settings], factor: float) -> tuple[float, Found]:
    """Losses with a setting changed by a factor; by 1 where a fleet is none with that, or takes too many events."""
    try:
        return factor, losses(planned(change(factor), fleet.layout), quick=True)
    except OutlastError:
        return 1.0, losses(fleet, quick=True)
