"""Choice of the part that sets the pace, from utilisation and the host's kind of load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from outlast.why.parts import Part

FULL = 0.9
"""Utilisation from which a part is full: a request then takes 1 / (1 - 0.9) = 10 times its service (M/M/1)."""
SATURATED = 0.99
"""Utilisation from which an open loop counts as unstable: by the same formula 100 times the service time."""
THROTTLED = 0.5
"""Share of the time with throttling from which heat limits: most of the time it is heat that sets the rate."""
DIES_FULL = 0.8
"""Mean utilisation from which dies are full; below 1 since some idle by chance while others have a queue."""


@dataclass(frozen=True)
class Limit:
    """Limit of the throughput."""

    name: str
    """A part's name, `heat`, `host_rate`, `queue_depth` or `none`."""
    part: Part | None
    """The part that limits, or else the busiest one."""


def limit_of(summary: dict[str, Any], parts: list[Part]) -> Limit:
    """Limit of the drive of a result with these parts, the busiest first.

    A drive that is throttled for most of the time is limited by its heat.
    An open loop that is served in full, with no part saturated, is limited by its own rate. Otherwise the busiest full
    part limits; dies come last, since a die that waits for a full channel is busy, too. Where no part is full, requests
    wait for one another in the host: its queue depth limits, and with it the latency of a request.
    """
    if not parts:
        return Limit("none", None)
    if ((summary.get("energy") or {}).get("heat") or {}).get("throttled_share", 0.0) >= THROTTLED:
        return Limit("heat", parts[0])
    queue = summary["queue"]
    is_open = queue["host_queue_depth"] is None
    full = [part for part in parts if not part.waits and part.busy >= FULL]
    full += [part for part in parts if part.waits and part.mean >= DIES_FULL]
    saturated = any((part.mean if part.waits else part.busy) >= SATURATED for part in full)
    if is_open and not queue["overload"] and not saturated:
        return Limit("host_rate", parts[0])
    if full:
        return Limit(full[0].name, full[0])
    if is_open:
        return Limit(parts[0].name, parts[0])
    return Limit("queue_depth", parts[0])
