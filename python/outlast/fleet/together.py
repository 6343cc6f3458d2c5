"""Failures that come together, measured in fleets that are played as field studies measured them in real ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outlast.fleet.layout import YEAR_HOURS
from outlast.fleet.plan import Planned

WEEK_HOURS = 168.0


def weekly_pair(fleet: Planned, lives: int = 1) -> tuple[float, float]:
    """Probability that a node loses a drive in a week, and that it loses another one in the week after a loss.

    From 0 to 1, over all nodes and weeks of `lives` lives of the fleet, as Maneas et al. (FAST 2020) count RAID groups.
    """
    nodes = np.asarray(fleet.layout.node)
    hours = fleet.settings["years"] * YEAR_HOURS
    weeks = int(hours // WEEK_HOURS)
    hit = losses = followed = 0
    for number in range(lives):
        times, drives = fleet.plan.failures(hours, fleet.settings["seed"], number)
        node = nodes[drives]
        inside = times < weeks * WEEK_HOURS
        hit += np.unique(node[inside].astype(np.int64) * weeks + (times[inside] // WEEK_HOURS).astype(np.int64)).size
        order = np.lexsort((times, node))
        gap = np.diff(times[order])
        same = np.diff(node[order]) == 0
        losses += times.size
        followed += int((same & (gap <= WEEK_HOURS)).sum())
    cells = weeks * np.unique(nodes).size * lives
    return hit / cells, followed / losses if losses else 0.0


def shares_together(
    fleet: Planned, minutes: float = 30.0, lives: int = 1, *, shuffled: bool = False
) -> dict[str, float]:
    """Share of failures that have another one in the same node, and in the same rack, within some minutes.

    From 0 to 1, as Han et al. (FAST 2021) count tickets. With `shuffled`, the moments are kept and given to other
    drives at random: what chance alone brings.
    """
    node = np.asarray(fleet.layout.node)
    places = {"node": node, "rack": np.asarray(fleet.layout.rack)[node]}
    hours = fleet.settings["years"] * YEAR_HOURS
    found = dict.fromkeys(places, 0)
    total = 0
    chance = np.random.default_rng(fleet.settings["seed"])
    for number in range(lives):
        times, drives = fleet.plan.failures(hours, fleet.settings["seed"], number)
        if shuffled:
            drives = chance.permutation(drives)
        total += times.size
        for scope, of_drive in places.items():
            found[scope] += _accompanied(times, of_drive[drives], minutes / 60.0)
    return {scope: count / total if total else 0.0 for scope, count in found.items()}


def _accompanied(times: NDArray[np.float64], place: NDArray[np.int64], window: float) -> int:
    """Failures that have another one in their place within the window, before or after."""
    order = np.lexsort((times, place))
    near = (np.diff(place[order]) == 0) & (np.diff(times[order]) <= window)
    return int((np.append(near, False) | np.insert(near, 0, False)).sum())
