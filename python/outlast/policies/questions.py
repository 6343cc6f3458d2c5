"""What decisions of a few values are asked with, and what they may answer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Opening:
    """A superblock is about to be opened: which code do its stripes get? `(data, parity)`, or `None`: that of its class."""

    superblock: int
    """The superblock."""
    class_: int
    """The class of the data that it is opened for."""
    cause: str
    """For which writes it is opened: "host", "gc", "wear-leveling", "scrub" or "reencode"."""
    erases: int
    """P/E cycles of the superblock, the mean of its blocks."""
    data: int
    """Program units of data in a stripe of the class's own code."""
    parity: int
    """Program units of parity in a stripe of the class's own code."""
    dead_lanes: int
    """Lanes (planes, or dies where programs take all planes) that are gone for good."""
    free: int
    """Superblocks of the core that are free, this one included."""
    superblocks: int
    """Superblocks of the core that are not retired."""
    clock: int
    """Units that the host has written to the core so far."""


@dataclass(frozen=True)
class Collecting:
    """Collection has taken a victim: what share has the host of what is let in while it is moved? 0 to 1; `None`: all."""

    victim: int
    """The victim."""
    valid: int
    """Its valid units, which are moved."""
    units: int
    """Units of a superblock of which all are valid."""
    room: int
    """Units that the host's open superblocks have room for."""
    free: int
    """Superblocks of the core that are free."""
    start_free: int
    """Collection starts when so many superblocks or fewer are free."""
    stop_free: int
    """Collection goes on until so many superblocks are free."""
    waiting: int
    """Writes of the host that wait."""
    clock: int
    """Units that the host has written to the core so far."""
    now_ns: int
    """The time of the simulation."""


def _code(answer: Any) -> tuple[int, int]:
    try:
        data, parity = (operator.index(part) for part in answer)
    except (TypeError, ValueError):
        raise TypeError(f"returned {answer!r}: must be (data, parity), two whole numbers, or None") from None
    if not (1 <= data <= 255 and 0 <= parity <= 255):
        raise ValueError(f"returned ({data}, {parity}): data must be 1 to 255 and parity 0 to 255 units")
    return data, parity


def _number(answer: Any) -> float:
    try:
        return float(answer)
    except (TypeError, ValueError):
        raise TypeError(f"returned {answer!r}: must be a number or None") from None


QUESTIONS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "code": (Opening, _code),
    "pacing": (Collecting, _number),
}
"""By decision: what it is asked with, and what makes an answer of what it returns."""
