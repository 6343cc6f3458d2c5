"""Times, sizes and rates as a resolved scenario writes them: `60us`, `4KiB`, `667MB/s`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(.*)")
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
DECIMAL = {f"{prefix}B": 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
BINARY = {f"{prefix}iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T", "P", "E"), 1)}
SIZES = DECIMAL | BINARY


def _of(value: Any, units: dict[str, int]) -> Fraction:
    if isinstance(value, int):
        return Fraction(value)
    found = NUMBER.fullmatch(str(value).strip())
    if found is None or found[2] not in units:
        raise ValueError(f"{value!r} has none of the units {', '.join(units)}")
    return Fraction(found[1]) * units[found[2]]


def nanos(value: Any) -> Fraction:
    """A time in nanoseconds."""
    return _of(value, TIMES)


def bytes_of(value: Any) -> Fraction:
    """A size in bytes."""
    return _of(value, SIZES)


def bytes_per_s(value: Any) -> Fraction:
    """A rate in bytes per second."""
    return bytes_of(str(value).removesuffix("/s"))


def mean_nanos(value: Any) -> float:
    """The mean of a time, or of a list of times by page type, in nanoseconds."""
    times = value if isinstance(value, list) else [value]
    return float(sum(map(nanos, times)) / len(times))
