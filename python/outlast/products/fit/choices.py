"""Alternatives compared one by one, as they are no numbers: the policy of collection, and how writes wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

POLICIES = ("greedy", "cost-benefit", "d-choices", "fifo")
LOW_MARK, HIGH_MARK = 4, 12
"""Free superblocks between which bursts of collection go: their distance is not told apart from their size."""
SHARES = (0.75, 0.5, 0.25, 0.0)
"""Share of the host in what a burst of collection gains; where latencies of writes rise over the load tells it."""
EXPLAINS = 0.5
"""The root of the mean square of logarithms beyond which the best of a list explains nothing: 65 % off."""
TIE = 0.02
"""Difference from the best within which a choice is indistinguishable from it."""


@dataclass(frozen=True)
class Pacing:
    """One way in which host writes wait for collection."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Values by dotted name."""
    kept_free: float = 0.0
    """Superblocks that are free on average beyond those that smooth pacing keeps: no spare space to collection."""


def kept_free(low: int, high: int, share: float) -> float:
    """Superblocks' worth of space that is free when bursts take a victim, beyond what smooth pacing has.

    For a low mark above the reserve and a share below one. A burst begins when the host has just opened a superblock:
    `low` are free and that one is empty, `low + 1` in all. It ends with `high` free and the host's superblock half
    full on average or, where the host has no share, still empty: `high + 1/2` or `high + 1`. What the victim gains
    counts when it is erased, half a superblock after the mean. Smooth pacing takes its victims with one superblock
    free, the first when the host has just opened its own and the others while it fills that: with a write
    amplification of W there are W for each superblock gained, and (W + 1)/2W of the host's is empty on average. That
    is 2/3 for 3, and 0.75 to 0.6 for 2 to 5.
    """
    in_open = 1.0 if share == 0 else 0.5
    return (low + 1 + high + in_open) / 2 - 0.5 - (1 + 2 / 3)


def _burst(share: float) -> Pacing:
    marks = {"pacing": "burst", "start_free": LOW_MARK, "stop_free": HIGH_MARK, "host_share": share}
    kept = kept_free(LOW_MARK, HIGH_MARK, share)
    return Pacing({f"device.ftl.gc.{name}": value for name, value in marks.items()}, kept)


PACINGS: Mapping[str, Pacing] = {
    "smooth": Pacing(),
    "token": Pacing({"device.ftl.gc.pacing": "token"}),
    "none": Pacing({"device.ftl.gc.pacing": "none"}),
} | {f"burst, host share {share:g}": _burst(share) for share in SHARES}


@dataclass(frozen=True)
class Choice:
    """Misses of each alternative, and the one that was taken."""

    taken: str
    misses: Mapping[str, float]
    """Roots of the mean squares of the errors, by name."""

    @property
    def ties(self) -> list[str]:
        """Alternatives that cannot be told from the one that was taken."""
        best = min(self.misses.values())
        return [name for name, miss in self.misses.items() if miss <= best + TIE and name != self.taken]

    def words(self) -> str:
        """Alternatives from the best to the worst, and those that cannot be told apart."""
        ordered = sorted(self.misses.items(), key=lambda each: each[1])
        told = ", ".join(f"{name} {100 * miss:.1f} %" for name, miss in ordered)
        return told + (f"; indistinguishable from {' and '.join(self.ties)}" if self.ties else "")


def choose(misses: Mapping[str, float]) -> Choice:
    """The first of a list that is not told from the best."""
    best = min(misses.values())
    return Choice(next(name for name, miss in misses.items() if miss <= best + TIE), misses)
