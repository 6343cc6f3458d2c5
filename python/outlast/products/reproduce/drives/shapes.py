"""Three shapes that curves of latency against load have, told by one rule, whoever made the curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

FLAT_UNTIL, BURSTS_UNTIL, SUSTAINED, BEYOND = 0.85, 0.9, 0.95, 1.02
"""Loads as shares of the maximum write rate; what is asked for beyond the last saturates the drive."""
FLAT, KNEE, BURSTS, DROWNED = 2.5, 10.0, 2.0, 5.0

RULES = {
    "knee": f"the median of writes stays within {FLAT:g} times that at the lightest load up to {FLAT_UNTIL:.0%} of the "
    f"maximum write rate, and is at least {KNEE:g} times it when the drive is saturated",
    "bursts": f"the 99th percentile of writes at some load up to {BURSTS_UNTIL:.0%} of the maximum write rate is at "
    f"least {BURSTS:g} times that of the saturated drive",
    "drowned reads": f"the median of reads of the saturated drive is at least {DROWNED:g} times that at the heaviest "
    f"load up to {SUSTAINED:.0%} of the maximum write rate",
}
"""Meaning of each shape."""
Point: TypeAlias = Mapping[str, float]
"""A load: writes `asked` for and reached (`writes`), and percentiles by figure."""


def shapes(points: Sequence[Point]) -> dict[str, bool]:
    """Shape of a curve.

    Raises:
        LookupError: no load of it saturates the drive, or all do.

    """
    most = max(point["writes"] for point in points)
    ordered = sorted(points, key=lambda point: point["asked"])
    inside = [point for point in ordered if point["asked"] <= SUSTAINED * most]
    if not inside or ordered[-1]["asked"] < BEYOND * most:
        raise LookupError("a curve needs a load that the drive sustains and one that saturates it")
    saturated, lightest, heaviest = ordered[-1], inside[0], inside[-1]
    flat = [point["w50"] for point in inside if point["asked"] <= FLAT_UNTIL * most]
    middle = [point["w99"] for point in inside if point["asked"] <= BURSTS_UNTIL * most]
    return {
        "knee": max(flat) <= FLAT * lightest["w50"] and saturated["w50"] >= KNEE * lightest["w50"],
        "bursts": max(middle) >= BURSTS * saturated["w99"],
        "drowned reads": saturated["r50"] >= DROWNED * heaviest["r50"],
    }
