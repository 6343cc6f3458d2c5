"""What decisions of a few values are asked with, and what they may answer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Opening:
    """A superblock is about to be opened; the question is which code its stripes get.

    Answered by `(data, parity)`; `None`: that of its class.
    """

    superblock: int
    """The superblock."""
    class_: int
    """The class of the data that it is opened for."""
    cause: str
    """For which writes it is opened: "host", "gc", "wear-leveling", "scrub" or "reencode"."""
    erases: int
    """P/E cycles of the superblock, the mean of its blocks."""
    expected_errors: float
    """Wrong bits expected of its worst codeword at the end of its last use, when its blocks were erased; 0 where flash
    never errs."""
    rereads: int
    """Pages of it that were read again in its last use."""
    uncorrectable: int
    """Units of it that neither ECC nor the re-reads before the stripe could correct in its last use."""
    data: int
    """Program units of data in a stripe of the class's own code, the strongest that it may have."""
    parity: int
    """Program units of parity in a stripe of that code."""
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
    """Collection has taken a victim; the question is the host's share of what is let in while it is moved.

    Answered by a number from 0 to 1; `None`: all.
    """

    victim: int
    """The victim."""
    valid: int
    """Its valid units, which are moved."""
    units: int
    """Units of the victim if all were valid."""
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


@dataclass(frozen=True)
class Failure:
    """A die of a member of an array has failed; the question is when that is repaired, and how.

    Answered by a way of `array.repair.way` ("die", "assist" or "rebuild"), which is final, or by seconds after which it
    is asked again; `None`: the way that the setting says. Not asked where a member is beyond repair, nor without
    redundancy.
    """

    now_ns: int
    """The time of the simulation."""
    told_ns: int
    """When the member told of it."""
    member: int
    """The member's column."""
    die: int
    """The die."""
    percent_used: float
    """The member's age, in percent of what it is rated for, as its health log tells."""
    dies: int
    """Dies of this member that have failed, this one included, repaired or not."""
    missing: int
    """Members that are missing or incomplete."""
    repairing: int
    """Members that are being repaired."""
    spares: int
    """Devices that stand by."""
    host_active: int
    """Whether the host has commands under way: 0 or 1."""
    last_host_ns: int | None
    """When the host last was served."""
    asked: int
    """How often this was asked before about this die."""


@dataclass(frozen=True)
class Pace:
    """A member is rebuilt, or gets rows back; the question is how many bytes a second each member may.

    Answered by a number of at least 1; `None`: as the settings say. The answer holds for `array.background.own`.
    """

    now_ns: int
    """The time of the simulation."""
    kind: str
    """"rebuild": a member is being filled. "repair": members get rows back that they have lost with a die."""
    done: int
    """Groups that are rebuilt, or ranges that are repaired, on all members that are."""
    total: int
    """How many there are."""
    missing: int
    """Members that are missing or incomplete."""
    host_active: int
    """Whether the host has commands under way: 0 or 1."""
    last_host_ns: int | None
    """When the host last was served."""
    under_way: int
    """Commands of the host under way."""


@dataclass(frozen=True)
class LostRows:
    """Rows that a member has lost with a die, each within a chunk: of each array, one entry for each.

    Answered by a score for each, the least first, of equal ones that of the lower address; `None`: by address.
    """

    member: int
    """The member's column."""
    sector: NDArray[np.uint64]
    """The first sector, of 512 bytes, on the member."""
    sectors: NDArray[np.uint32]
    """How many."""
    exposure: NDArray[np.uint32]
    """How many other members lack something of the same rows."""
    readable: NDArray[np.bool_]
    """Whether the member can still read them, and only wants them written elsewhere."""

    def __len__(self) -> int:
        return len(self.sector)


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


def _repair(answer: Any) -> str | int:
    """A way, or nanoseconds."""
    if isinstance(answer, str):
        if answer not in WAYS:
            raise ValueError(f"returned {answer!r}: must be {', '.join(WAYS)}, a number of seconds or None")
        return answer
    seconds = _number(answer)
    if not 0 < seconds <= LATEST_S:
        raise ValueError(f"returned {answer!r}: a repair is put off for more than 0 and at most {LATEST_S} seconds")
    return max(round(seconds * 1e9), 1)


WAYS = ("die", "assist", "rebuild")
"""Ways of `array.repair.way`."""
LATEST_S = 3_600_000
"""Seconds for which a repair may be put off at once."""
QUESTIONS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "code": (Opening, _code),
    "pacing": (Collecting, _number),
    "repair": (Failure, _repair),
    "rebuild": (Pace, _number),
}
"""By decision: what it is asked with, and what makes an answer of what it returns."""
