"""A drive, or an array of drives, in this process: real bytes, simulated time, no socket.

`crates/python/src/drive/` passes commands to the machine in virtual time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast import _core
from outlast.api import Overrides, ScenarioLike, layers, override_list, plain
from outlast.errors import DeviceError, DriveError, MediumError

OPS = ("read", "write", "trim", "flush")
"""The operations of a batch; an array of small integers counts them from 0."""

OUTCOMES = ("ok", "out of range", "read only", "medium error", "aborted")
"""How an operation ended; `Batch.outcome` counts them from 0."""

ZEROES_BYTES = 1 << 20
"""Zeroes that are written with one command."""

Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[Any]
Span: TypeAlias = str | float | timedelta
"""A time: a text such as `"30d"`, seconds, or a `timedelta`."""


@dataclass(frozen=True)
class Batch:
    """What came of a batch, in the order in which it was given."""

    offset: NDArray[np.uint64]
    """Where each operation began, in bytes."""
    outcome: NDArray[np.uint8]
    """How each ended: a place in `OUTCOMES`, 0 where all is well."""
    submitted_ns: NDArray[np.uint64]
    """When each was handed over, in simulated nanoseconds."""
    completed_ns: NDArray[np.uint64]
    """When each completed."""
    data: NDArray[np.uint8]
    """What the reads returned, one after another; zeroes where one failed."""

    @property
    def latency_us(self) -> NDArray[np.float64]:
        """How long each took, in microseconds."""
        return (self.completed_ns - self.submitted_ns) / 1000.0

    @property
    def failed(self) -> NDArray[np.intp]:
        """The places in the batch of those that did not end well."""
        return np.flatnonzero(self.outcome)

    def check(self) -> Batch:
        """Itself, if all is well; else raises the error of the first operation that failed."""
        for index in self.failed[:1]:
            _fail(int(self.outcome[index]), int(self.offset[index]))
        return self


class Drive:
    """A drive or an array of drives, of a scenario: prepared as its `[precondition]` says, with power on.

    Time is simulated: it passes while an operation is under way and in `advance`, and stands still otherwise. What the
    scenario schedules (`[[faults]]`) happens at its time. Offsets and lengths are in bytes, in whole sectors of 512.
    With `contents="disk"` what it holds is in a file without a name among the system's temporary files (`TMPDIR`),
    instead of in memory.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Sequence[ScenarioLike] = "demo",
        overrides: Overrides | None = None,
        *,
        contents: str = "memory",
    ) -> None:
        self._drive = _core.Drive(layers(scenario), override_list(overrides), contents)

    @classmethod
    def _of(cls, drive: _core.Drive) -> Drive:
        made = cls.__new__(cls)
        made._drive = drive
        return made

    @property
    def capacity(self) -> int:
        """Bytes that it holds."""
        return self._drive.capacity

    @property
    def unit(self) -> int:
        """Bytes that are best written together: a drive's mapping unit, an array's stripe."""
        return self._drive.unit

    @property
    def now(self) -> float:
        """Simulated seconds since its service began."""
        return self._drive.now_ns / 1e9

    @property
    def now_ns(self) -> int:
        """The same in nanoseconds, exactly."""
        return self._drive.now_ns

    def read(self, offset: int, length: int) -> bytes:
        """The bytes there; zeroes where nothing was written or all was trimmed."""
        outcome, data = self._drive.read(_whole(offset, "offset"), _whole(length, "length"))
        if outcome:
            _fail(outcome, offset)
        return data

    def write(self, offset: int, data: Buffer, fua: bool = False) -> None:
        """Writes the bytes. `fua` (force unit access): it is done only when they would survive a loss of power."""
        self._done(self._drive.write(_whole(offset, "offset"), _bytes(data), fua), offset)

    def write_zeroes(self, offset: int, length: int, fua: bool = False) -> None:
        """Writes zeroes, which take no memory here, and on flash what any data takes."""
        zeroes = np.zeros(min(_whole(length, "length"), ZEROES_BYTES), np.uint8)
        for start in range(0, max(length, 1), ZEROES_BYTES):
            self.write(offset + start, zeroes[: length - start], fua)

    def flush(self) -> None:
        """Everything that was written before would survive a loss of power afterwards."""
        self._done(self._drive.flush(), 0)

    def trim(self, offset: int, length: int) -> None:
        """Nobody needs the data there any more: whole units (`unit`) in the range read as zeroes from then on."""
        self._done(self._drive.trim(_whole(offset, "offset"), _whole(length, "length")), offset)

    def _done(self, outcome: int, offset: int) -> None:
        if outcome:
            _fail(outcome, offset)

    def run(
        self,
        op: str | Sequence[str] | NDArray[np.uint8],
        offset: int | Sequence[int] | NDArray[Any],
        length: int | Sequence[int] | NDArray[Any],
        data: Buffer = b"",
        *,
        fua: bool = False,
        depth: int = 1,
    ) -> Batch:
        """Carries out many operations, `depth` of them in flight at once, as an application of that queue depth does.

        `op`, `offset` and `length` are single values or columns; `data` is what the writes bring, one after another.
        With a depth above 1 operations overtake each other, as on a real drive. Failures are in the result:
        `run(...).check()` raises the first.
        """
        columns = _codes(op), _column(offset, "offset"), _column(length, "length")
        try:
            ops, offsets, lengths = (np.ascontiguousarray(column) for column in np.broadcast_arrays(*columns))
        except ValueError as error:
            sizes = ", ".join(str(len(column)) for column in columns)
            raise DeviceError(f"op, offset, length: columns of different lengths ({sizes})") from error
        found = self._drive.run(ops, offsets, lengths, _bytes(data), fua, _whole(depth, "depth"))
        return Batch(offsets, *found)

    def advance(self, by: Span) -> None:
        """Lets time pass: the drive programs what it has buffered, collects, patrols, and its data ages."""
        self._drive.advance(nanoseconds(by))

    def power_cut(self, force: bool = False, *, shorn: str | None = None, torn: int | str | None = None) -> None:
        """Power fails and is back at once: what was only in a volatile buffer is lost.

        An array of which a member is missing while parity is in doubt starts only with `force`: what that member held
        may be wrong. With `shorn` (`"3/8"`) the drive takes units for good of which only the first part has been
        programmed, with `torn` (512) units of which each run of so many bytes is new or old; never any that a flush has
        covered.
        """
        self._drive.power("cut", force, _left(shorn, torn))

    def power_off(self, *, shorn: str | None = None, torn: int | str | None = None) -> None:
        """Power fails; nothing works until `power_on`. `shorn` and `torn` are as of `power_cut`."""
        self._drive.power("off", False, _left(shorn, torn))

    def power_on(self, force: bool = False) -> None:
        """Power is back. `force`: as of `power_cut`, of which an array may have been left off."""
        self._drive.power("on", force, _left(None, None))

    def fault(self, kind: str = "die", **place: Any) -> None:
        """Something breaks, as in `[[faults]]`: `fault(die=3)`, `fault("block", die=3, plane=0, block=7)`.

        Of an array, `device` says in which of its devices.
        """
        self._drive.fault(json.dumps(plain({"kind": kind, **place})))

    def replace(self, member: int, force: bool = False) -> None:
        """A member of an array is exchanged for a new drive, which is rebuilt.

        `force`: even where the old one held the only copy of something.
        """
        self._drive.replace(member, force)

    def repair(self) -> None:
        """An array reads all of itself and makes redundancy fit; `advance` gives it the time."""
        self._drive.repair()

    def self_check(self) -> None:
        """Checks every invariant of the simulator, at a cost proportional to the size. For tests."""
        self._drive.self_check()

    def fork(self) -> Drive:
        """Another drive in the same state; what is done to one of them the other does not see."""
        return self._of(self._drive.fork())

    def smart(self) -> dict[str, Any]:
        """What it tells about its health."""
        found: dict[str, Any] = json.loads(self._drive.smart())
        return found

    def state(self) -> dict[str, Any]:
        """What the simulator knows of it: dies, superblocks, buffer, wear, units programmed, repairs and rebuilds."""
        found: dict[str, Any] = json.loads(self._drive.state())
        return found

    def __repr__(self) -> str:
        return f"<outlast.Drive of {self.capacity / 2**20:.0f} MiB at {self.now:.6f} s>"


def _left(shorn: str | None, torn: int | str | None) -> str:
    given = {"shorn": shorn, "torn": torn}
    return json.dumps({"kind": "power"} | {name: value for name, value in given.items() if value is not None})


def _fail(outcome: int, offset: int) -> NoReturn:
    import errno

    match OUTCOMES[outcome]:
        case "medium error":
            raise MediumError(f"offset {offset}: the data cannot be read", errno.EIO, offset)
        case "out of range":
            raise DriveError(f"offset {offset}: the range reaches beyond the drive's end", errno.ENXIO, offset)
        case "read only":
            raise DriveError(
                f"offset {offset}: too few good blocks are left; the drive is read-only", errno.EROFS, offset
            )
        case _:
            raise DriveError(f"offset {offset}: there was no power before it was done", errno.ESHUTDOWN, offset)


def _bytes(data: Buffer) -> NDArray[np.uint8]:
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return np.frombuffer(data, np.uint8)


def _codes(op: str | Sequence[str] | NDArray[np.uint8]) -> NDArray[np.uint8]:
    if isinstance(op, str):
        return _codes([op])
    if isinstance(op, np.ndarray) and op.dtype.kind in "ui":
        if op.size and not 0 <= op.min() <= op.max() < len(OPS):
            raise DeviceError(f"op = {op.max()}: must be below {len(OPS)}, the number of operations ({', '.join(OPS)})")
        return op.astype(np.uint8)
    known = {name: code for code, name in enumerate(OPS)}
    for name in op:
        if name not in known:
            raise DeviceError(f'op = "{name}": must be one of {", ".join(OPS)}')
    return np.fromiter((known[name] for name in op), np.uint8)


def _whole(value: int, name: str) -> int:
    if not 0 <= value < 2**64:
        limit = "not be negative" if value < 0 else f"be below {2**64}"
        raise DeviceError(f"{name} = {value}: must {limit}")
    return value


def _column(values: int | Sequence[int] | NDArray[Any], name: str) -> NDArray[np.uint64]:
    column = np.atleast_1d(np.asarray(values))
    if column.ndim != 1 or (column.dtype.kind not in "ui" and column.size):
        raise DeviceError(f"{name}: must be a whole number or a column of them")
    if column.size and column.min() < 0:
        raise DeviceError(f"{name} = {column.min()}: must not be negative")
    return column.astype(np.uint64)


def nanoseconds(span: Span) -> str:
    """The time as a text."""
    if isinstance(span, str):
        return span
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    if not 0 <= seconds < 2**63 / 1e9:
        limit = "not be negative" if seconds < 0 else f"be below {2**63 / 1e9:.0f} s"
        raise DeviceError(f"{seconds} s: a time must {limit}")
    return f"{round(seconds * 1e9)}ns"
