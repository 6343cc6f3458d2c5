"""Commands to a drive in Python: kinds and outcomes, and checks of what callers give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.errors import DeviceError, DriveError, MediumError
from outlast.plain_values import flag_of, name_of, plain, shown

OPS = ("read", "write", "trim", "flush")
"""The operations of a batch; an array of small integers counts them from 0."""

OUTCOMES = (
    "ok",
    "out of range",
    "read only",
    "medium error",
    "aborted",
    "invalid namespace",
    "refused by its zone",
    "invalid opcode",
)
"""Outcomes of an operation; `Batch.outcome` indexes them."""

SECTOR = 512
"""Bytes of a sector."""

Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[Any]
Span: TypeAlias = str | float | timedelta
"""A time: a text such as `"30d"`, seconds, or a `timedelta`."""


def tear(shorn: str | None, torn: int | str | None) -> str:
    """Damage of a loss of power to data being programmed, as an entry of `[[faults]]` in JSON."""
    counts = {"shorn": shorn, "torn": torn}
    return json.dumps(plain({"kind": "power"} | {name: value for name, value in counts.items() if value is not None}))


def raise_error(outcome: int, offset: int) -> NoReturn:
    """Raises the error of an outcome, an index of `OUTCOMES`, of a command at `offset`."""
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
        case "refused by its zone":
            raise DriveError(f"offset {offset}: the zone does not allow the command", errno.EINVAL, offset)
        case _:
            raise DriveError(f"offset {offset}: there was no power before it was done", errno.ESHUTDOWN, offset)


def as_bytes(data: Buffer) -> NDArray[np.uint8]:
    """Bytes of a buffer as a flat array, without a copy where possible. Raises `DeviceError` for what has no bytes."""
    try:
        if isinstance(data, (np.ndarray, memoryview)):
            return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        return np.frombuffer(data, np.uint8)
    except (TypeError, ValueError) as error:
        kind = type(data).__name__
        raise DeviceError(f"data: must be bytes or an array of numbers, and is of type {kind}") from error


def op_codes(op: str | Sequence[str] | NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Indices of operations in `OPS`. Raises `DeviceError` for one that there is not."""
    if isinstance(op, str):
        return op_codes([op])
    if isinstance(op, np.ndarray):
        op = np.atleast_1d(op)
        if op.ndim > 1:
            raise DeviceError("op: must be an operation or a column of them")
        if op.dtype.kind in "ui":
            for code in op[(op < 0) | (op >= len(OPS))][:1]:
                below = f"be below {len(OPS)}, the number of operations ({', '.join(OPS)})"
                raise DeviceError(f"op = {code}: must {'not be negative' if code < 0 else below}")
            return op.astype(np.uint8)
    known = {name: code for code, name in enumerate(OPS)}
    names = list(op) if isinstance(op, Iterable) else [op]
    for name in names:
        if not isinstance(name, str) or name not in known:
            given = f'"{name}"' if isinstance(name, str) else shown(name)
            raise DeviceError(f"op = {given}: must be one of {', '.join(OPS)}")
    return np.fromiter((known[name] for name in names), np.uint8)


def whole(value: int, name: str) -> int:
    """Itself, if it is a number that 64 bits hold; else raises `DeviceError` with its name."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise DeviceError(f"{name} = {shown(value)}: must be a whole number")
    if not 0 <= value < 2**64:
        limit = "not be negative" if value < 0 else f"be below {2**64}"
        raise DeviceError(f"{name} = {value}: must {limit}")
    return value


def flag(value: bool, name: str) -> bool:
    """Itself, if it is True or False; else raises `DeviceError` with its name."""
    return flag_of(value, name, DeviceError)


def check_range(offset: int, length: int, capacity: int) -> None:
    """Raises `DeviceError` for a range that is not of whole sectors, or reaches beyond the end."""
    for name, value in (("offset", offset), ("length", length)):
        if value % SECTOR:
            raise DeviceError(f"{name} = {value}: must be a multiple of {SECTOR}, a sector's bytes")
    if offset + length > capacity:
        raise DeviceError(
            f"offset = {offset}, length = {length}: reaches beyond the end of the drive, {capacity} bytes"
        )


def column(values: int | Sequence[int] | NDArray[Any], name: str) -> NDArray[np.uint64]:
    """Whole numbers as a column. Raises `DeviceError` with their name if they are none, or negative."""
    try:
        column = np.atleast_1d(np.asarray(values))
    except ValueError as error:
        raise DeviceError(f"{name}: must be a whole number or a column of them") from error
    if column.ndim != 1 or (column.dtype.kind not in "ui" and column.size):
        raise DeviceError(f"{name}: must be a whole number or a column of them")
    if column.size and column.min() < 0:
        raise DeviceError(f"{name} = {column.min()}: must not be negative")
    return column.astype(np.uint64)


def nanoseconds(span: Span) -> str:
    """A time as a text that the simulator reads."""
    if isinstance(span, str):
        return name_of(span, "a time", DeviceError)
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    if not isinstance(seconds, (int, float, np.number)) or isinstance(seconds, bool):
        raise DeviceError(f"{shown(span)}: a time is a number of seconds, a timedelta or a text such as '1ms'")
    if not 0 <= seconds < 2**63 / 1e9:
        limit = "not be negative" if seconds < 0 else f"be below {2**63 / 1e9:.0f} s"
        raise DeviceError(f"{seconds} s: a time must {limit}")
    return f"{round(seconds * 1e9)}ns"
