"""Places of drives and of the pieces of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

YEAR_HOURS = 8760.0
"""Hours of a year."""


@dataclass(frozen=True)
class Layout:
    """Places of drives, and the drives of each group."""

    node: list[int]
    rack: list[int]
    site: list[int]
    groups: NDArray[np.uint32]
    """Drives of each group, one after the other."""
    width: int
    """Pieces of a group."""
    piece_bytes: float | None
    """Bytes of a piece, if the map of a real cluster says so."""

    @property
    def drives(self) -> int:
        """Drives, those without data included."""
        return len(self.node)

    @property
    def count(self) -> int:
        """Groups."""
        return self.groups.size // self.width

    @property
    def pieces_of_drive(self) -> float:
        """Mean pieces of the drives that have some."""
        return float(self.groups.size / max(np.unique(self.groups).size, 1))
