"""View of the writes that a placement policy assigns to streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_HINTS = 1 << 16
"""Stream hints there are; a drive takes them modulo its streams, or as its classes say."""


@dataclass(frozen=True)
class Writes:
    """Some thousands of consecutive writes that the drive has not seen yet; each array has an entry per write."""

    offset: NDArray[np.uint64]
    """First byte."""
    bytes: NDArray[np.uint64]
    """Length."""
    at_ns: NDArray[np.uint64]
    """Arrival, in nanoseconds from the start of the workload; 0 in a closed loop, where the drive sets the pace."""
    hint: NDArray[np.uint16]
    """The stream hint that the workload gives it."""
    heat: NDArray[np.float32]
    """Recent writes to the megabyte in which it begins, relative to the mean over all megabytes."""
    written: NDArray[np.uint64]
    """Bytes that the host wrote before it, workload passes of preconditioning included."""

    def __len__(self) -> int:
        return len(self.offset)
