"""Blocks of a bare drive or array: `blocks.py work rounds=60`; the check is `blocks.py:whole`, in process.

Every round writes some blocks of 4 KiB anew, syncs them, and is marked. A block says which it is and in which round it
was written: it holds what the last promised round left, or what the round under way writes, or it is corrupt.
"""

from __future__ import annotations

import functools
import os
import random
import struct
from typing import Protocol

from promise import AHEAD, Marks, PromiseError, checked, corrupt, lost, main

BLOCK = 4096
BLOCKS = 240


class Bytes(Protocol):
    """A crash state, as far as it matters here."""

    mark: str | None

    def read(self, offset: int, length: int, /) -> bytes:
        """Reads `length` bytes; OSError where they cannot be read."""


def written(number: int) -> list[int]:
    """The blocks of round `number` (from 1), most of them fewer than a stripe."""
    draw = random.Random(number)
    chosen = set()
    for _ in range(draw.randint(1, 3)):
        first = draw.randrange(BLOCKS)
        chosen |= set(range(first, min(BLOCKS, first + draw.choice((1, 1, 2, 3, 8, 24)))))
    return sorted(chosen)


@functools.cache
def content(block: int, number: int) -> bytes:
    """Content of `block` after its write in round `number`; zeroes before the first."""
    if number == 0:
        return bytes(BLOCK)
    return struct.pack("<II", block, number) + random.Random(block * 1_000_003 + number).randbytes(BLOCK - 8)


@functools.cache
def rounds(number: int) -> tuple[int, ...]:
    """Round that wrote each block last, when rounds 1 to `number` are done. Round 1 writes all."""
    if number == 0:
        return (0,) * BLOCKS
    if number == 1:
        return (1,) * BLOCKS
    last = list(rounds(number - 1))
    for block in written(number):
        last[block] = number
    return tuple(last)


def work(rounds: int) -> None:
    """The rounds, each marked when its blocks have been synced."""
    say = Marks()
    drive = os.open(os.environ["OUTLAST_DEVICE"], os.O_RDWR)
    for number in range(1, rounds + 1):
        for block in range(BLOCKS) if number == 1 else written(number):
            os.pwrite(drive, content(block, number), block * BLOCK)
        os.fsync(drive)
        say(f"round {number}")
    os.close(drive)


def compare(state: Bytes, promised: int, *, under_way: bool = True) -> None:
    """Every block is as the last promised round left it or as the next writes it; or only the others."""
    held = state.read(0, BLOCKS * BLOCK)
    stale: list[int] = []
    strange: list[int] = []
    for block, (due, next_) in enumerate(zip(rounds(promised), rounds(promised + 1), strict=True)):
        found = held[block * BLOCK : (block + 1) * BLOCK]
        if found in (content(block, due), content(block, next_)) or (due != next_ and not under_way):
            continue
        number = struct.unpack_from("<II", found)[1]
        known = number < promised + 1000 and found == content(block, number)
        if known and number > promised + 1:
            raise PromiseError(AHEAD, f"block {block} is of round {number}, and {promised} was the last synced")
        (stale if known else strange).append(block)
    if strange:
        raise corrupt(f"blocks {strange[:5]} ({len(strange)} in all) hold nothing that was written to them")
    if stale:
        raise lost(f"blocks {stale[:5]} ({len(stale)} in all) are older than round {promised}, which had been synced")


def whole(state: Bytes, *, under_way: bool = True) -> str | None:
    """Defect of a crash state, in one line; `None` if there is none."""
    words = (state.mark or "").split()
    if not words:
        return None
    try:
        compare(state, int(words[-1]), under_way=under_way)
    except (RuntimeError, OSError) as error:
        return str(error)
    return None


def besides_under_way(state: Bytes) -> str | None:
    """The same of the blocks that the round under way does not write: more is not promised by a partial parity log."""
    return whole(state, under_way=False)


class File:
    """A state as a file."""

    mark = os.environ.get("OUTLAST_MARK")

    def read(self, offset: int, length: int, /) -> bytes:
        """Reads `length` bytes from the drive."""
        drive = os.open(os.environ["OUTLAST_DEVICE"], os.O_RDONLY)
        try:
            return os.pread(drive, length, offset)
        finally:
            os.close(drive)


def check(**_: object) -> int:
    """The same from a process of its own, of the file that OUTLAST_DEVICE names."""
    return checked(lambda promised: compare(File(), promised))


if __name__ == "__main__":
    main(work, check, rounds=60)
