"""Lengths of rebuilds, what they share, and what they cannot read."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlast import models
from outlast.fleet.layout import YEAR_HOURS, Layout
from outlast.fleet.reading import Settings

MOST_AT_ONCE = 30
"""Most rebuilds that share bandwidth at once, in the mean: the work of each event grows with their square."""


def rebuild_hours(
    settings: Settings, layout: Layout, piece_bytes: float, read_pieces: float
) -> tuple[float, dict[str, Any] | None]:
    """Hours of the rebuild of one drive while nothing else is rebuilt, and what others take of the same bandwidths.

    Where a drive has one piece, a new drive is written as fast as its bandwidth allows. Else each drive that shares
    data with it reads and writes a part. The networks of nodes and racks carry what is read and written.
    """
    repair = settings["repair"]
    if repair["hours"]:
        return float(repair["hours"]), None
    pieces = layout.pieces_of_drive
    whole = piece_bytes * pieces
    moved = whole * (read_pieces + 1)
    per_hour = 3600e6
    # Drives that have a piece of some group in common with a drive.
    others = min(layout.drives - 1, pieces * (layout.width - 1))
    alone = whole / (repair["drive_mb_s"] * per_hour)
    is_spread = pieces > 1.0
    # A drive of its own is written by its rebuild alone, and what others read serves all that miss a piece.
    by_drives = moved / (max(others, 1.0) * repair["drive_mb_s"] * per_hour) if is_spread else 0.0
    parts = [by_drives]
    hours = by_drives if is_spread else alone
    domains = {"node_mb_s": layout.node, "rack_mb_s": [layout.rack[node] for node in layout.node]}
    for key, of_drive in domains.items():
        if repair[key]:
            count = min(len(set(of_drive)), others + 1)
            # On a drive of its own, all that is read and written passes its node.
            busiest = moved / count if is_spread else moved
            parts.append(busiest / (repair[key] * per_hour))
            hours = max(hours, parts[-1])
        else:
            parts.append(0.0)
    if not repair["contention"] or repair["mode"] == "serial" or not any(parts):
        return float(hours), None
    return float(hours), {"parts": [float(part / hours) for part in parts], "is_spread": is_spread}


def check_at_once(
    settings: Settings, drives: int, hazard: tuple[list[float], list[float]], hours: float, parts: list[float]
) -> None:
    """Raises `ScenarioError` if more rebuilds share bandwidth at once than are played in a time that anybody waits."""
    said = settings["drive"]
    ages = (said["age"] + np.linspace(0.0, settings["years"], 200)) * YEAR_HOURS
    rates = np.asarray(hazard[1])[np.searchsorted(hazard[0], ages, side="right") - 1]
    at_once = drives * float(rates.mean()) * hours
    if at_once > MOST_AT_ONCE:
        limit = (
            f"makes a rebuild last {hours:.4g} h, so that {at_once:.3g} go on at once: at most {MOST_AT_ONCE}, "
            "or repair.contention = false"
        )
        key = ("drive_mb_s", "node_mb_s", "rack_mb_s")[parts.index(max(parts))]
        raise settings.refused(f"repair.{key}", settings["repair"][key], limit)


def read_failure_of(settings: Settings, piece_bytes: float, read_pieces: float) -> float:
    """Probability that the rebuild of a piece on which all depends meets unreadable data.

    Bits fail when read (Reparo, Equation 2), and latent errors have appeared since the last scrub, half of its interval
    ago in the mean.
    """
    said = settings["drive"]
    bits = piece_bytes * read_pieces * 8
    of_bits = float(models.read_failure(said["uber"], bits))
    share = piece_bytes / (said["capacity"] * said["used"])
    latent = said["latent_per_year"] * said["scrub_days"] / 365.0 / 2.0 * read_pieces * share
    return float(1.0 - (1.0 - of_bits) * np.exp(-latent))
