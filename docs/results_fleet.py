"""Points of fleets for the page of results: field studies and a public calculator on their own inputs."""

from __future__ import annotations

from typing import Any

from outlast import fleet
from outlast.fleet import calculators
from outlast.fleet.together import shares_together, weekly_pair

SINGLE, REPAIR = 0.1, 1e-4
"""Tolerances: of what is counted in simulated lives, and of a formula."""
NETAPP = "NetApp (Maneas et al., FAST 2020)"
ALIBABA = "Alibaba (Han et al., FAST 2021)"
LIVES = 16


def points() -> list[dict[str, Any]]:
    """Every point; the presets' own numbers were fitted to those that are called so."""
    return [*_netapp(), *_alibaba(), *_backblaze()]


def _netapp() -> list[dict[str, Any]]:
    said = {
        "preset": "netapp",
        "years": 10,
        "cluster": {"racks": 10, "nodes": 100, "drives": 18},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 10},
    }
    week, after = weekly_pair(fleet.planned(fleet.read(said)), 8)
    return [
        _point(NETAPP, "groups that lose a drive in a week", 0.0504, 100 * week, "%", "fitted", SINGLE),
        _point(NETAPP, "the same in the week after a loss", 9.39, 100 * after, "%", "fitted", SINGLE),
    ]


def _alibaba() -> list[dict[str, Any]]:
    said = {
        "preset": "alibaba",
        "years": 4,
        "cluster": {"racks": 60, "nodes": 16, "drives": 12},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 1},
    }
    plan = fleet.planned(fleet.read(said))
    together, shuffled = (shares_together(plan, lives=LIVES, shuffled=each) for each in (False, True))
    text = "failures with another one within half an hour in their"
    return [
        _point(ALIBABA, f"{text} node", 12.9, 100 * together["node"], "%", "fitted", SINGLE),
        _point(ALIBABA, f"{text} rack", 18.2, 100 * together["rack"], "%", "fitted", SINGLE),
        _point(ALIBABA, f"{text} node, drives shuffled", 0.35, 100 * shuffled["node"], "%", "predicted", SINGLE),
        _point(ALIBABA, f"{text} rack, drives shuffled", 2.0, 100 * shuffled["rack"], "%", "predicted", SINGLE),
    ]


def _backblaze() -> list[dict[str, Any]]:
    period, year = calculators.backblaze(0.00405, 6.5)
    who = "Backblaze (published script, 17 + 3 drives)"
    return [
        _point(who, "loss within one repair of 6.5 days", 1.3098e-13, period, "", "closed form", REPAIR),
        _point(who, "loss within a year", 7.3549e-12, year, "", "closed form", REPAIR),
    ]


def _point(who: str, what: str, published: float, ours: float, unit: str, kind: str, room: float) -> dict[str, Any]:
    within = abs(ours / published - 1.0) <= room
    values = {"unit": unit, "published": published, "ours": ours, "kind": kind, "within": within}
    return {"group": "fleets", "subject": who, "point": what} | values
