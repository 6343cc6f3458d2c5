"""Operations a second that a Python program gets out of `outlast.Drive`: `make bench-python`.

Operations are of 4 KiB at random places of a full drive of 1 GiB that collects; the time is the processor's, of the one
thread that works.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import outlast

UNIT = 4096
DRIVE = {
    "extends": "demo",
    "name": "1 GiB",
    "device": {"geometry": {"blocks_per_plane": 38}, "ftl": {"capacity": "1GiB"}},
}


def rate(operations: int, work: Callable[[], object]) -> float:
    """Operations a second of processor time: the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return operations / best


def main() -> None:
    """Prints a line for each way of asking."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--contents", choices=("memory", "disk"), default="memory")
    arguments = parser.parse_args()
    count = arguments.operations
    drive = outlast.Drive(DRIVE, contents=arguments.contents)
    dice = np.random.default_rng(1)
    place = dice.integers(0, drive.capacity // UNIT, count) * UNIT
    mixed = (dice.random(count) < 0.3).astype(np.uint8)
    data = dice.bytes(count * UNIT)
    some = place[: max(count // 10, 1)].tolist()
    writes = data[: int(mixed.sum()) * UNIT]

    def write(places: list[int]) -> None:
        for offset in places:
            drive.write(offset, data[:UNIT])

    rows: list[tuple[str, int, Callable[[], object]]] = [
        ("batch, reads, 1 at a time", count, lambda: drive.run("read", place, UNIT).check()),
        ("batch, reads, 32 at a time", count, lambda: drive.run("read", place, UNIT, depth=32).check()),
        ("batch, writes, 32 at a time", count, lambda: drive.run("write", place, UNIT, data, depth=32).check()),
        ("batch, 70/30, 32 at a time", count, lambda: drive.run(mixed, place, UNIT, writes, depth=32).check()),
        ("single reads", len(some), lambda: [drive.read(offset, UNIT) for offset in some]),
        ("single writes", len(some), lambda: write(some)),
    ]
    for name, operations, work in rows:
        print(f"{name:30} {rate(operations, work):12,.0f} operations/s")


if __name__ == "__main__":
    main()
