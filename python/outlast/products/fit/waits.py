"""Closed forms of reads beside writes: what a read waits for when its die is busy with something else."""

from __future__ import annotations

from dataclasses import dataclass

from outlast.products.fit.parameters import Theta

HALVINGS = 50


@dataclass(frozen=True)
class Busy:
    """Shares of a die's time."""

    programs: float
    senses: float
    """Reads of collection and of the host."""
    sensing: float
    """Seconds that one of these takes."""


def tail(theta: Theta, busy: Busy, percent: float) -> float:
    """The wait that `percent` % of the reads do not exceed, in seconds.

    A read meets its die at any time of a program alike. Without suspension it waits for the rest of it. With a least
    progress p and an overhead L it waits for p + L - u in the first p of it, then for L, and in the last L for its end.
    """
    wanted = 1 - percent / 100
    low, high = 0.0, max(float(theta["program"]), busy.sensing)
    if beyond(theta, busy, low) <= wanted:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(theta, busy, middle) > wanted else (low, middle)
    return (low + high) / 2


def beyond(theta: Theta, busy: Busy, wait: float) -> float:
    """The share of reads that wait for longer."""
    senses: float = busy.senses * max(0.0, 1 - wait / busy.sensing)
    return busy.programs * max(0.0, _of_program(theta, wait)) + senses


def _of_program(theta: Theta, wait: float) -> float:
    whole: float = theta["program"]
    if not theta["suspends"] or wait < theta["overhead"]:
        return float(1 - wait / whole)
    progress = min(theta["progress"], max(0.0, whole - theta["overhead"]))
    part: float = (progress + theta["overhead"] - wait) / whole
    return part
