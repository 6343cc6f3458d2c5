"""Parsers of traces, each from the definition of its format and not from Outlast's reader: the oracle of its counts."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

SECTOR = 512
OPS = {"R": "reads", "W": "writes", "D": "trims"}
"""Letters of RWBS (Linux, kernel/trace/blktrace.c) that move or give up data."""


class Found(NamedTuple):
    """One request of a trace: `op` is a letter of `OPS`, or F of a flush; `first` and `size` are in bytes."""

    seconds: Decimal
    op: str
    first: int
    size: int


def ascii_columns(content: bytes, time: str = "1e-3", address: int = SECTOR) -> Iterator[Found]:
    """DiskSim's manual, "ASCII format": time, device, address, size, 1 for a read. MQSim and SSDSim count in ns."""
    for line in filter(str.strip, content.decode().splitlines()):
        at, _, start, size, op = line.split()
        yield Found(Decimal(at) * Decimal(time), "RW"[op == "0"], int(start) * address, int(size) * address)


def blkparse(content: bytes, event: str = "Q") -> Iterator[Found]:
    """blkparse(1), default output: device, CPU, sequence, time, process, action, RWBS, sector, +, sectors."""
    for line in content.decode().splitlines():
        words = line.split()
        if len(words) < 7 or words[5] != event:
            continue
        at, letters = Decimal(words[3]), words[6]
        # An F in front is a flush before the operation, or alone.
        if letters[0] == "F":
            yield Found(at, "F", 0, 0)
            letters = letters[1:]
        if letters[:1] in OPS and words[8:9] == ["+"] and words[9] != "0":
            yield Found(at, letters[0], int(words[7]) * SECTOR, int(words[9]) * SECTOR)


def vscsi(content: bytes) -> Iterator[Found]:
    """vscsiStats, version 1: READ(10) is 0x28, WRITE(10) 0x2a; microseconds."""
    for _, length, _, command, _, block, at in struct.iter_unpack("<IIIHHQQ", content):
        if command in (0x28, 0x2A) and length:
            yield Found(Decimal(at) / 10**6, "RW"[command == 0x2A], block * SECTOR, length)


def msr(content: bytes) -> Iterator[Found]:
    """SNIA IOTTA 388, behind a row index or none: FILETIME, host, disk, type, offset, size, response time."""
    for line in content.decode().splitlines():
        *_, at, _, _, kind, offset, size, _ = line.split(",")
        yield Found(Decimal(at.split()[-1]) / 10**7, kind[0], int(offset), int(size))


def spc(content: bytes) -> Iterator[Found]:
    """SPC-1 trace file format, revision 1.0.1: ASU, LBA, bytes, opcode, seconds."""
    for line in content.decode().splitlines():
        _, block, size, op, at, *_ = line.split(",")
        yield Found(Decimal(at), op.strip().upper(), int(block) * SECTOR, int(size))


def fio_3(content: bytes) -> Iterator[Found]:
    """HOWTO of fio, "Trace file format v3": microseconds, file, action, offset, length."""
    for line in content.decode().splitlines()[1:]:
        at, _, action, *range_ = line.split()
        if action in ("read", "write", "trim"):
            yield Found(Decimal(at) / 10**6, "RWD"[("read", "write", "trim").index(action)], *map(int, range_))


def cloudphysics(content: bytes, time: str = "1") -> Iterator[Found]:
    """vscsiStats as a table: version, time, SCSI command in hexadecimal, bytes, sector."""
    for line in content.decode().splitlines()[1:]:
        _, at, command, size, block = line.split(",")
        if command in ("28", "2a"):
            yield Found(Decimal(at) * Decimal(time), "RW"[command == "2a"], int(block) * SECTOR, int(size))


def oracle_general(content: bytes) -> Iterator[Found]:
    """libCacheSim, oracleGeneralBin.h: clock time, object, its size, next access; a cache's lookup is a read."""
    for at, block, size, _ in struct.iter_unpack("<IQIq", content):
        if size:
            yield Found(Decimal(at), "R", block * SECTOR, size)


def biosnoop(content: bytes) -> Iterator[Found]:
    """bcc, biosnoop_example.txt: seconds, process, PID, disk, type, sector, bytes, latency."""
    for line in content.decode().splitlines()[1:]:
        at, *_, op, block, size, _ = line.split()
        yield Found(Decimal(at), op, int(block) * SECTOR, int(size))


def blkreplay(content: bytes) -> Iterator[Found]:
    """blkreplay's load files: start, sector, sectors, RWBS, two columns of a replay; other lines are remarks."""
    for line in content.decode().splitlines():
        words = [word.strip() for word in line.split(";")]
        if len(words) == 6 and words[1].isdigit():
            yield Found(Decimal(words[0]), words[3][0], int(words[1]) * SECTOR, int(words[2]) * SECTOR)


PARSERS: dict[str, Callable[..., Iterator[Found]]] = {
    each.__name__: each
    for each in (ascii_columns, blkparse, vscsi, msr, spc, fio_3, cloudphysics, oracle_general, biosnoop, blkreplay)
}


def counts(requests: list[Found]) -> dict[str, Any]:
    """Figures that `trace info` must give of the requests, a partial sector counted as a whole one."""
    figures: dict[str, Any] = {}
    moved = [each for each in requests if each.op != "F"]
    rounded = [(OPS[each.op], each.first // SECTOR, -(-(each.first + each.size) // SECTOR)) for each in moved]
    for kind in OPS.values():
        own = [(first, end) for found, first, end in rounded if found == kind]
        figures[kind] = (len(own), SECTOR * sum(end - first for first, end in own))
    figures["flushes"] = (len(requests) - len(moved), 0)
    figures["range"] = (min(first for _, first, _ in rounded), max(end for _, _, end in rounded))
    times = [each.seconds for each in requests]
    figures["times"] = (float(min(times)), float(max(times)))
    return figures


def told(info: dict[str, Any]) -> dict[str, Any]:
    """The same figures as `trace info` gives them, without times."""
    figures: dict[str, Any] = {kind: (info[kind]["count"], info[kind]["bytes"]) for kind in (*OPS.values(), "flushes")}
    return figures | {"range": (info["start_lba"], info["end_lba"])}
