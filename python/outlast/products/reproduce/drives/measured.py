"""Measurements of real drives, as two tables beside this file cite it."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

FIGURES = ("r50", "w50", "r99", "w99", "r99.9", "w99.9")
"""Percentiles of reads and writes, in microseconds."""
Line: TypeAlias = dict[str, Any]
"""A line of a table: numbers as numbers, `None` where there is nothing."""


@cache
def _table(name: str) -> list[Line]:
    with (Path(__file__).parent / name).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [{column: _value(text) for column, text in line.items()} for line in lines]


def _value(text: str) -> Any:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text or None


def writes(drive: str) -> list[Line]:
    """The drive under writes as fast as it takes them: see waf.csv."""
    return [line for line in _table("waf.csv") if line["drive"] == drive]


def loads(drive: str) -> list[Line]:
    """The loads of a drive, from the lightest up: `rate` is what is asked for, `writes` what is reached a second."""
    return sorted((line for line in _table("latency.csv") if line["drive"] == drive), key=lambda line: line["rate"])


def most(drive: str) -> float:
    """Writes a second of the drive when more is asked for than it can take."""
    return float(max(load["writes"] for load in loads(drive)))
