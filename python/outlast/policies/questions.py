"""Arguments of decisions on a few values, and checks of their answers."""

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
    """Cause of the writes that it is opened for: "host", "gc", "wear-leveling", "scrub" or "reencode"."""
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
    """Units that are still valid and have to be moved."""
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
    """Simulated time at which the member reported it, in nanoseconds."""
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
    """1 if the host has commands under way, else 0."""
    last_host_ns: int | None
    """Simulated time at which the host was last served, in nanoseconds."""
    asked: int
    """Number of earlier questions about this die."""


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
    """Number of all such units."""
    missing: int
    """Members that are missing or incomplete."""
    host_active: int
    """1 if the host has commands under way, else 0."""
    last_host_ns: int | None
    """Simulated time at which the host was last served, in nanoseconds."""
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
    """Sectors of each row."""
    exposure: NDArray[np.uint32]
    """Number of other members that lack data of the same rows."""
    readable: NDArray[np.bool_]
    """True for rows that the member can still read and only needs to move."""

    def __len__(self) -> int:
        return len(self.sector)


@dataclass(frozen=True)
class DieHealth:
    """A die has shown a new sign of failure; the question is whether it is expected to fail.

    Answered by true, and its data is moved away while it can be read, or false; `None`: the limits of
    `device.repair.predict` decide.
    """

    die: int
    """The die, numbered channel by channel."""
    bad_blocks: int
    """Bad blocks of the die, found while it was in use."""
    limit: int
    """Number of bad blocks above which the die counts as failed: `device.repair.bad_blocks`."""
    uncorrectable: int
    """Units of the die that ECC and re-reads could not correct within the last hour; at most 4096."""
    others: int
    """Other dies of the drive that have been expected to fail, or have failed."""
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


def _is_expected(answer: Any) -> bool:
    if answer not in (True, False):
        raise TypeError(f"returned {answer!r}: must be True, False or None")
    return bool(answer)


def _repair(answer: Any) -> str | int:
    """A way, or nanoseconds."""
    if isinstance(answer, str):
        if answer not in WAYS:
            raise ValueError(f"returned {answer!r}: must be {', '.join(WAYS)}, a number of seconds or None")
        return answer
    seconds = _number(answer)
    if not 0 < seconds <= LATEST_S:
        raise ValueError(f"returned {answer!r}: a delay of a repair must be above 0 and at most {LATEST_S} seconds")
    return max(round(seconds * 1e9), 1)


WAYS = ("die", "assist", "rebuild")
"""Ways of `array.repair.way`."""
LATEST_S = 3_600_000
"""Seconds for which a repair may be put off at once."""
QUESTIONS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "code": (Opening, _code),
    "pacing": (Collecting, _number),
    "predict": (DieHealth, _is_expected),
    "repair": (Failure, _repair),
    "rebuild": (Pace, _number),
}
"""Type of the argument of each decision, and the function that checks and converts its answer."""
