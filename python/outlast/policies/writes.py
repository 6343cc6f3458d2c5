"""What a decision about writes sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_HINTS = 256
"""Stream hints there are; a drive takes them modulo its streams, or as its classes say."""


@dataclass(frozen=True)
class Writes:
    """Some thousands of writes that follow each other, before the drive has them: of each array, one entry for each."""

    offset: NDArray[np.uint64]
    """First byte."""
    bytes: NDArray[np.uint64]
    """Length."""
    at_ns: NDArray[np.uint64]
    """When it arrives, from the start of the workload; 0 in a closed loop, where the drive decides."""
    hint: NDArray[np.uint8]
    """The stream hint that the workload gives it."""
    heat: NDArray[np.float32]
    """How many times as often as the mean one the megabyte in which it begins has been written lately."""
    written: NDArray[np.uint64]
    """Bytes that the host wrote before it, workload passes of preconditioning included."""

    def __len__(self) -> int:
        return len(self.offset)
