"""View of the superblocks of a flash core that a policy chooses from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

STATES = ("free", "open", "sealed", "collecting", "retired")
"""The states of a superblock; `View.state` counts them from 0."""


Decides = TypeVar("Decides")


def sees_cells(policy: Decides) -> Decides:
    """Decorator that adds `reads`, `rereads`, `errors` and `days` to a policy's view, which then scans all blocks."""
    policy.sees_cells = True  # type: ignore[attr-defined]
    return policy


class View:
    """The superblocks of one flash core: of each array, one entry for each superblock.

    The arrays are the same objects at each call, filled anew: copy what is to be kept.
    """

    __slots__ = (
        "_cells",
        "_lots",
        "age",
        "clock",
        "erases",
        "is_candidate",
        "order",
        "state",
        "stream",
        "units",
        "valid",
    )

    valid: NDArray[np.uint32]
    """Valid units, `units` at most. Where superblocks differ in their data: the part of `units` they would fill."""
    is_candidate: NDArray[np.bool_]
    """True if a superblock may be taken: it is full, wholly programmed, and not being moved."""
    age: NDArray[np.uint64]
    """Units that the host has written since a superblock was last filled."""
    order: NDArray[np.uint64]
    """Number of superblocks that had been filled before it."""
    erases: NDArray[np.uint32]
    """P/E cycles, the mean of a superblock's blocks."""
    state: NDArray[np.uint8]
    """A place in `STATES`."""
    stream: NDArray[np.uint8]
    """The stream that opened it: those of the host's classes and hints first, then those that data moves to."""
    clock: int
    """Units that the host has written to this core so far."""
    units: int
    """Units that a superblock would have if all were valid."""

    def __init__(
        self, columns: tuple[NDArray[Any], ...], lots: Any, cells: tuple[NDArray[Any], ...] | None = None
    ) -> None:
        self.valid, self.is_candidate, self.age, self.order, self.erases, self.state, self.stream = columns
        self._lots, self._cells = lots, cells
        self.clock = self.units = 0

    def __len__(self) -> int:
        return len(self.valid)

    def _of_cells(self, name: str, place: int) -> NDArray[Any]:
        if self._cells is None:
            raise AttributeError(f"view.{name} is there for policies under @outlast.policies.sees_cells")
        return self._cells[place]

    @property
    def reads(self) -> NDArray[np.uint32]:
        """Reads since the erasure, of the block that was read most. As the next three, for policies that see cells."""
        return self._of_cells("reads", 0)

    @property
    def rereads(self) -> NDArray[np.uint32]:
        """Pages that were read again since the erasure."""
        return self._of_cells("rereads", 1)

    @property
    def errors(self) -> NDArray[np.float64]:
        """The greatest expected number of wrong bits of a codeword, which no real drive can know; 0 without errors."""
        return self._of_cells("errors", 2)

    @property
    def days(self) -> NDArray[np.float64]:
        """Days since the oldest data was written; 0 where flash never errs, and in writes without time."""
        return self._of_cells("days", 3)

    @property
    def gains(self) -> NDArray[np.bool_]:
        """True for candidates with stale units, which gain space when they are taken."""
        return self.is_candidate & (self.valid < self.units)

    def least(self, score: ArrayLike, among: NDArray[np.bool_] | None = None) -> int | None:
        """The superblock with the least score, the first of equals; `None` if there is none.

        `among` are those that count; by default, those whose collection gains space.
        """
        places = np.flatnonzero(self.gains if among is None else among)
        return int(places[np.asarray(score)[places].argmin()]) if len(places) else None

    def most(self, score: ArrayLike, among: NDArray[np.bool_] | None = None) -> int | None:
        """The superblock with the greatest score, the first of equals; else as `least`."""
        places = np.flatnonzero(self.gains if among is None else among)
        return int(places[np.asarray(score)[places].argmax()]) if len(places) else None

    def below(self, bound: int) -> int:
        """A random number of 0 to `bound` - 1, of the core's own sequence, so that runs repeat."""
        number: int = self._lots.below(bound)
        return number

    @property
    def choices(self) -> int:
        """The setting `device.ftl.gc.choices`."""
        number: int = self._lots.choices
        return number
