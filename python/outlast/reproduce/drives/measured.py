"""What was measured on real drives, as two tables beside this file cite it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FIGURES = ("r50", "w50", "r99", "w99", "r99.9", "w99.9")
"""Percentiles of reads and writes."""


@dataclass(frozen=True)
class Load:
    """A drive under one load."""

    rate: int
    """Requests a second that are asked for."""
    writes: float
    """Writes a second that are reached."""
    latency_us: dict[str, float]
    """By figure."""


@dataclass(frozen=True)
class Writes:
    """A drive under random writes."""

    drive: str
    gib: float
    """The part that is written to."""
    workload: str
    parameter: float | None
    host: float | None
    """MB/s of the host."""
    waf: float | None
    how: str
    """`counted` by the drive, `implied` by rates, or only a `rate`."""

    @property
    def label(self) -> str:
        """What is written, in a few words."""
        if self.workload == "two-zone":
            share = round(100 * (self.parameter or 0.0))
            return f"two zones {share}/{100 - share}"
        return f"zipf {self.parameter:g}" if self.workload == "zipf" else self.workload


def _lines(name: str) -> Iterator[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


@cache
def loads(drive: str) -> tuple[Load, ...]:
    """The loads of a drive, from the lightest up."""
    found = [
        Load(int(line["rate"]), float(line["writes"]), {name: float(line[name]) for name in FIGURES})
        for line in _lines("latency.csv")
        if line["drive"] == drive
    ]
    return tuple(sorted(found, key=lambda load: load.rate))


@cache
def writes() -> tuple[Writes, ...]:
    """Every line of random writes."""

    def number(text: str) -> float | None:
        return float(text) if text else None

    return tuple(
        Writes(
            line["drive"],
            float(line["gib"]),
            line["workload"],
            number(line["parameter"]),
            number(line["host"]),
            number(line["waf"]),
            line["how"],
        )
        for line in _lines("waf.csv")
    )


def most(drive: str) -> float:
    """Writes a second of the drive when more is asked for than it can take."""
    return max(load.writes for load in loads(drive))
