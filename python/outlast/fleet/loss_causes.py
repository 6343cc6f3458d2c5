"""Causes of losses by names that people read: drives by age, wear, dies, bursts, neighbours, unreadable data."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.fleet.layout import YEAR_HOURS
from outlast.fleet.plan import Planned

AGE = "age-"
"""Beginning of the core's name for a failure by age, which the number of the step of the hazard follows."""


def named(fleet: Planned, shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of causes as the core names them, by name; steps of age within one year of life are one."""
    found: dict[str, float] = {}
    for cause, share in sorted(shares.items()):
        name = _by_age(fleet, int(cause.removeprefix(AGE))) if cause.startswith(AGE) else cause
        found[name] = found.get(name, 0.0) + share
    return found


def _by_age(fleet: Planned, step: int) -> str:
    years = fleet.hazard[0][step] / YEAR_HOURS
    if "drive.endurance" in fleet.settings.given and len(fleet.hazard[0]) == 2:
        return ("drives", "wear")[step]
    if len(fleet.hazard[0]) == 1:
        return "drives"
    if fleet.settings["drive"]["weibull_shape"]:
        return f"drives in year {int(years) + 1}"
    return f"drives from {years:g} years"


def of_chain(fleet: Planned) -> dict[str, float]:
    """Shares of the chain's causes, as the core names them. All of its losses come from the state of no redundancy."""
    code, repair, rate = fleet.code, fleet.settings["repair"], fleet.hazard[1][0]
    if rate == 0.0:
        return {}
    mean = repair["detection_hours"] + fleet.rebuild_hours
    repairs = (code["parity"] if repair["mode"] == "parallel" else min(code["parity"], 1)) / mean
    unread = repairs * fleet.read_failure
    drives = code["data"] * rate / (code["data"] * rate + unread)
    die = fleet.settings["drive"]["die_share"]
    shares = {f"{AGE}0": drives * (1.0 - die), "die": drives * die, "unreadable": 1.0 - drives}
    return {name: share for name, share in shares.items() if share > 0.0}
