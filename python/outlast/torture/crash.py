"""What the check of states needs of the core: recordings, plans, states. The classes are in `outlast._core`."""

from __future__ import annotations

from typing import Any, Protocol


class State(Protocol):
    """What a device may hold after power was lost."""

    @property
    def id(self) -> str:
        """One text that says which; `Recording.state` has it again."""

    @property
    def model(self) -> str:
        """Which model of the device allows it."""

    @property
    def event(self) -> int:
        """Events of the recording before the cut."""

    @property
    def at_ns(self) -> int:
        """When power was lost, in nanoseconds of the recording."""

    @property
    def mark(self) -> str | None:
        """The last mark before the cut."""

    @property
    def marks(self) -> list[str]:
        """All of them, the last one last."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def spans_ns(self) -> list[tuple[int, int]]:
        """The instants that leave it, in nanoseconds; of drive-like models alone."""

    @property
    def bad(self) -> list[tuple[int, int]]:
        """Offset and length in bytes of what cannot be read."""

    @property
    def lost(self) -> list[str]:
        """The pieces of writes that it lacks."""

    @property
    def refused(self) -> str | None:
        """Why the device does not start; then it holds nothing."""

    def read(self, offset: int, length: int) -> bytes:
        """What it holds there, in bytes."""

    def write_to(self, fd: int) -> int:
        """Writes what is not zero to an empty file of its size, and returns how many bytes."""

    def witness(self) -> str:
        """Each lost piece: its times, its flush, and why it may be lost. JSON."""

    def keep(self, pieces: list[str]) -> State:
        """The same, except that these pieces are not lost."""


class Plan(Protocol):
    """States in the order in which they are to be checked."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> State: ...

    def facts(self) -> str:
        """How many states each model has. JSON."""


class Served(Protocol):
    """An NBD server."""

    @property
    def uri(self) -> str:
        """Where it is."""

    def stop(self) -> None:
        """Asks it to end."""

    def wait(self, seconds: float) -> tuple[str, object]:
        """What it is doing: `preparing`, `serving`, `ended`."""


class Recording(Protocol):
    """What a device was asked, and when it answered."""

    def facts(self) -> str:
        """Where it is from, how much there is of what, the window of cuts, the marks. JSON."""

    def timeline(self) -> str:
        """The events of the window. JSON."""

    def plan(self, spec: str) -> Plan:
        """The states of some models; the specification is JSON."""

    def state(self, id: str) -> State:  # noqa: A002 - the name of the binding
        """The state of that id."""

    def serve(self, state: Any, listen: str, record: str | None) -> Served:
        """Serves what a state of its own holds, and writes what is done to it to the file `record`."""
