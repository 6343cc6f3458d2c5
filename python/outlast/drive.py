"""A drive, or an array of drives, in this process: real bytes, simulated time, no socket.

`crates/python/src/drive/` passes commands to the machine in virtual time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast import _core
from outlast.api import Overrides, ScenarioLike, layers, override_list
from outlast.drive_commands import (
    Buffer,
    Span,
    as_bytes,
    check_range,
    column,
    flag,
    nanoseconds,
    op_codes,
    raise_error,
    tear,
    whole,
)
from outlast.errors import DeviceError
from outlast.plain_values import name_of, plain

ZEROES_BYTES = 1 << 20
"""Zeroes that are written with one command."""


@dataclass(frozen=True)
class Batch:
    """Outcomes, times and data of a batch's operations, in the order in which they were given."""

    offset: NDArray[np.uint64]
    """First byte of each operation."""
    outcome: NDArray[np.uint8]
    """Index of each outcome in `OUTCOMES`; 0 is success."""
    submitted_ns: NDArray[np.uint64]
    """Submission of each, in simulated nanoseconds."""
    completed_ns: NDArray[np.uint64]
    """Completion of each, in simulated nanoseconds."""
    data: NDArray[np.uint8]
    """Data of the reads, one after another; zeroes where a read failed."""

    @property
    def latency_us(self) -> NDArray[np.float64]:
        """Latency of each operation, in microseconds."""
        return (self.completed_ns - self.submitted_ns) / 1000.0

    @property
    def failed(self) -> NDArray[np.intp]:
        """The places in the batch of those that did not end well."""
        return np.flatnonzero(self.outcome)

    def check(self) -> Batch:
        """Itself, if all is well; else raises the error of the first operation that failed."""
        for index in self.failed[:1]:
            raise_error(int(self.outcome[index]), int(self.offset[index]))
        return self


@dataclass(frozen=True)
class LbaRun:
    """A run of bytes that the drive wants written again: the data of a failed die, or data in the wrong place."""

    offset: int
    """First byte."""
    length: int
    """Bytes."""
    readable: bool
    """False if the data is lost to the drive; true if it can still be read and has only to move (Reparo's fake failure,
    section 5.2.3)."""


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
        self._drive = _core.Drive(
            layers(scenario), override_list(overrides), name_of(str(contents), "where its contents are", DeviceError)
        )

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

    def read(self, offset: int, length: int, limited_retry: bool = False) -> bytes:
        """The bytes there; zeroes where nothing was written or all was trimmed.

        With `limited_retry` (bit LR of NVMe's Read) the drive gives up after `device.reliability.limited_retries`
        re-reads, where else it would go on with all of them and with the stripe: `MediumError`, and a later read may
        yet succeed. An array decides by itself which reads of its members are limited (`array.limited_retry`).
        """
        outcome, data = self._drive.read(
            whole(offset, "offset"), whole(length, "length"), flag(limited_retry, "limited_retry")
        )
        if outcome:
            raise_error(outcome, offset)
        return data

    def write(self, offset: int, data: Buffer, fua: bool = False) -> None:
        """Writes the bytes. `fua` (force unit access): it is done only when they would survive a loss of power."""
        self._done(self._drive.write(whole(offset, "offset"), as_bytes(data), flag(fua, "fua")), offset)

    def write_zeroes(self, offset: int, length: int, fua: bool = False) -> None:
        """Writes zeroes, which take no memory here, and on flash what any data takes."""
        offset, length = whole(offset, "offset"), whole(length, "length")
        check_range(offset, length, self.capacity)
        zeroes = np.zeros(min(length, ZEROES_BYTES), np.uint8)
        for start in range(0, max(length, 1), ZEROES_BYTES):
            self.write(offset + start, zeroes[: length - start], fua)

    def flush(self) -> None:
        """Everything that was written before would survive a loss of power afterwards."""
        self._done(self._drive.flush(), 0)

    def trim(self, offset: int, length: int) -> None:
        """Trims a range: its whole units (`unit`) read as zeroes from then on."""
        self._done(self._drive.trim(whole(offset, "offset"), whole(length, "length")), offset)

    def _done(self, outcome: int, offset: int) -> None:
        if outcome:
            raise_error(outcome, offset)

    def run(
        self,
        op: str | Sequence[str] | NDArray[np.uint8],
        offset: int | Sequence[int] | NDArray[Any],
        length: int | Sequence[int] | NDArray[Any],
        data: Buffer = b"",
        *,
        fua: bool = False,
        limited_retry: bool = False,
        depth: int = 1,
    ) -> Batch:
        """Carries out many operations, `depth` of them in flight at once, as an application of that queue depth does.

        `op`, `offset` and `length` are single values or columns; `data` is what the writes bring, one after another.
        `fua` is for the writes and `limited_retry` for the reads among them. With a depth above 1 operations overtake
        each other, as on a real drive. Failures are in the result: `run(...).check()` raises the first.
        """
        columns = op_codes(op), column(offset, "offset"), column(length, "length")
        try:
            ops, offsets, lengths = (np.ascontiguousarray(column) for column in np.broadcast_arrays(*columns))
        except ValueError as error:
            sizes = ", ".join(str(len(column)) for column in columns)
            raise DeviceError(f"op, offset, length: columns of different lengths ({sizes})") from error
        flags = flag(fua, "fua"), flag(limited_retry, "limited_retry")
        found = self._drive.run(ops, offsets, lengths, as_bytes(data), *flags, whole(depth, "depth"))
        return Batch(offsets, *found)

    def lba_status(self, offset: int = 0, length: int | None = None) -> list[LbaRun]:
        """Runs that the host is to write again, by address, from `offset` on; to the drive's end without `length`.

        The query takes the simulated time of the search that `device.repair` describes. It is NVMe's Get LBA Status and
        SCSI's GET LBA STATUS of Rebuild Assist. An array answers with an empty list: it asks its members itself.
        Raises `DeviceError` for a range beyond the end, or without power.
        """
        offset = whole(offset, "offset")
        length = whole(self.capacity - offset if length is None else length, "length")
        found = self._drive.lba_status(offset, length)
        return [LbaRun(*run) for run in found]

    def events(self) -> list[dict[str, Any]]:
        """The latest events, oldest first: failed dies that the drive has identified, faults, losses of power, marks.

        Each has `at_ns`, `kind` and `text`; a drive with `[device.repair]` notifies its host by `die-failed`.
        """
        found: list[dict[str, Any]] = json.loads(self._drive.events())
        return found

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
        self._drive.power("cut", flag(force, "force"), tear(shorn, torn))

    def power_off(self, *, shorn: str | None = None, torn: int | str | None = None) -> None:
        """Power fails; nothing works until `power_on`. `shorn` and `torn` are as of `power_cut`."""
        self._drive.power("off", False, tear(shorn, torn))

    def power_on(self, force: bool = False) -> None:
        """Power is back. `force`: as of `power_cut`, of which an array may have been left off."""
        self._drive.power("on", flag(force, "force"), tear(None, None))

    def fault(self, kind: str = "die", **place: Any) -> None:
        """Injects a fault now: `fault(die=3)`, `fault("block", die=3, plane=0, block=7)`.

        `place` has the keys of `[[faults]]`; in an array, `device` is the number of the member.
        """
        self._drive.fault(json.dumps(plain({"kind": kind, **place})))

    def replace(self, member: int, force: bool = False) -> None:
        """A member of an array is exchanged for a new drive, which is rebuilt.

        `force`: even where the old one held the only copy of something.
        """
        if whole(member, "member") >= 2**16:
            raise DeviceError(f"member = {member}: there is no such member")
        self._drive.replace(member, flag(force, "force"))

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
        """SMART attributes of the drive."""
        found: dict[str, Any] = json.loads(self._drive.smart())
        return found

    def state(self) -> dict[str, Any]:
        """Internal state: dies, superblocks, buffer, wear, units programmed, repairs and rebuilds."""
        found: dict[str, Any] = json.loads(self._drive.state())
        return found

    def __repr__(self) -> str:
        return f"<outlast.Drive of {self.capacity / 2**20:.0f} MiB at {self.now:.6f} s>"
