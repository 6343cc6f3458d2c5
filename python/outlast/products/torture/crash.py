"""Protocols of the core's recordings, plans and states, as checks use them. The classes are in `outlast._core`."""

from __future__ import annotations

from typing import Any, Protocol


class State(Protocol):
    """Content that a device may have after a loss of power."""

    @property
    def id(self) -> str:
        """Name of the state, from which `Recording.state` makes it again."""

    @property
    def model(self) -> str:
        """Name of the model that gives the state."""

    @property
    def event(self) -> int:
        """Events of the recording before the cut."""

    @property
    def at_ns(self) -> int:
        """Time of the loss of power, in nanoseconds of the recording."""

    @property
    def mark(self) -> str | None:
        """The last mark before the cut."""

    @property
    def marks(self) -> list[str]:
        """All marks before the cut, in order."""

    @property
    def size(self) -> int:
        """Size of the device in bytes."""

    @property
    def spans_ns(self) -> list[tuple[int, int]]:
        """Spans in nanoseconds in which a power loss leaves the state; empty without a simulated device."""

    @property
    def bad(self) -> list[tuple[int, int]]:
        """Offset and length in bytes of unreadable ranges."""

    @property
    def lost(self) -> list[str]:
        """Names of lost pieces of writes."""

    @property
    def refused(self) -> str | None:
        """Reason why the device does not start; `None` if it starts."""

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the state from `offset` on."""

    def write_to(self, fd: int) -> int:
        """Writes all bytes that are not zero to an empty file of its size; returns their number."""

    def witness(self) -> str:
        """Lost pieces with their times, flushes, and reasons why they may be lost, as JSON."""

    def keep(self, pieces: list[str]) -> State:
        """The state in which these pieces are not lost."""


class Plan(Protocol):
    """States in the order in which they are to be checked."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: int, /) -> State: ...

    def facts(self) -> str:
        """Numbers of states of each model, as JSON."""


class Served(Protocol):
    """An NBD server."""

    @property
    def uri(self) -> str:
        """NBD URI."""

    def stop(self) -> None:
        """Requests the end of the server."""

    def wait(self, seconds: float) -> tuple[str, object]:
        """Status: `preparing`, `serving` or `ended`."""


class Recording(Protocol):
    """Commands that a device received, and their completions."""

    def facts(self) -> str:
        """Kind, counts, window of cuts and marks, as JSON."""

    def timeline(self) -> str:
        """Events of the window, as JSON."""

    def plan(self, spec: str) -> Plan:
        """Plans the states of some models; the specification is JSON."""

    def state(self, id: str) -> State:  # noqa: A002 - the name of the binding
        """Makes the state of this name."""

    def serve(self, state: Any, listen: str, record: str | None) -> Served:
        """Serves a state of this recording, and records what clients do in the file `record`."""
