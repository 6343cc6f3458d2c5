"""Numbers as a person reads them, and the arrays behind a chart."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast import _core

Floats = NDArray[np.float64]

YEAR_HOURS = 8760.0
"""Hours of a year, as in `data_loss` of a result."""


def short(value: float | None, digits: int = 3) -> str:
    """1234567 as `1.23 M`; absent figures as a dash."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    for limit, suffix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")):
        if size >= limit:
            divisor = 1e3 if suffix == " k" else limit
            return f"{_significant(value / divisor, digits)}{suffix}"
    if 0 < size < 1e-3:
        return f"{'−' if value < 0 else ''}{tiny(size)}"  # in fixed point a rate of 1e-12 would be 0.000000
    if float(value).is_integer():
        return f"{int(value):,}".replace(",", "\u202f")
    return _significant(value, digits)


def _significant(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 6)}f}".replace(",", "\u202f")


def micros(value: float | None) -> str:
    """A latency given in microseconds, in the unit that suits it."""
    if value is None or not math.isfinite(value):
        return "–"
    if value >= 1e6:
        return f"{_significant(value / 1e6, 3)} s"
    if value >= 1e3:
        return f"{_significant(value / 1e3, 3)} ms"
    return f"{_significant(value, 3)} µs"


def seconds(value: float | None) -> str:
    """A time given in seconds, in the unit that suits it."""
    if value is None or not math.isfinite(value):
        return "–"
    if value >= 7200:
        return f"{_significant(value / 3600, 3)} h"
    if value >= 120:
        return f"{_significant(value / 60, 3)} min"
    return f"{_significant(value, 3)} s" if value >= 1 or value == 0 else micros(value * 1e6)


def size(value: float | None) -> str:
    """A number of bytes in binary units."""
    if value is None or not math.isfinite(value):
        return "–"
    scaled, units = float(value), ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while abs(scaled) >= 1024 and len(units) > 1:
        scaled /= 1024
        units.pop(0)
    return f"{short(scaled) if scaled.is_integer() else _significant(scaled, 3)} {units[0]}"


def tiny(value: float | None, log10: float | None = None) -> str:
    """A probability as `2.5 · 10⁻¹⁷`, from its logarithm where it may be below what a number can hold."""
    if log10 is None:
        if value is None or not math.isfinite(value):
            return "–"
        if value <= 0:
            return "0"
        log10 = math.log10(value)
    exponent = math.floor(log10)
    digits = f"{10 ** (log10 - exponent):.2f}"
    if digits == "10.00":
        digits, exponent = "1.00", exponent + 1
    if -3 <= exponent <= 1:
        return _significant(10**log10, 3)
    return f"{digits} · 10{raised(exponent)}"


def raised(exponent: int) -> str:
    """A whole number as an exponent."""
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def percent(value: float | None, digits: int = 3) -> str:
    """A share in 0..1 as a percentage."""
    return "–" if value is None else f"{_significant(100 * value, digits)} %"


def counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{short(number)} {thing}" + ("" if number == 1 else "s")


def signed(change: float, same: str = "the same") -> str:
    """A relative change as `+2.0 %` or `−2.3 %`; what rounds to nothing in words."""
    if not math.isfinite(change):
        return "–"
    if abs(change) < 0.0005:
        return same
    if change >= 9:
        return f"× {short(1 + change, 2)}"
    return f"{'+' if change > 0 else '−'}{100 * abs(change):.1f} %"


def text(value: object) -> str:
    """Text made safe for HTML."""
    return escape(str(value), quote=True)


def prose(value: object) -> str:
    """A sentence made safe for HTML, with what it has between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(value))


def plain(values: Any, digits: int = 5) -> list[Any]:
    """Values as JSON can hold them: rounded to so many digits, what is not finite as null."""
    if isinstance(values, list):
        return values
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return [int(value) for value in array]
    # Rounding the largest floats up leads to infinity, so what is finite is asked afterwards.
    rounded = (float(f"{value:.{digits}g}") for value in array.tolist())
    return [value if math.isfinite(value) else None for value in rounded]


def floats(values: Any) -> Floats:
    """A column as floating point."""
    return np.asarray(values, dtype=np.float64)


def share(part: Floats, whole: Floats) -> Floats:
    """The quotient of part and whole, not a number where whole is zero."""
    quotient: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return quotient


_JOINS = {name: (rule, needs) for name, rule, needs in _core.time_series_columns()}


def _is_rest(columns: dict[str, Floats], before: int, last: int) -> bool:
    """True if the last window is less than half as long as the one before it.

    The few requests of such a rest, divided by next to no time, would be a rate that squashes all others flat.
    """
    start, end = columns["start_s"], columns["end_s"]
    return bool(end[-1] - start[last] < 0.5 * (start[last] - start[before]))


def thinned(series: dict[str, Any], most: int = 900) -> dict[str, Floats]:
    """The time series with neighbouring windows joined until at most `most` are left, each column by its own rule.

    A short rest at the end joins the window before it.
    """
    columns = {name: floats(values) for name, values in series.items()}
    rows = len(columns["start_s"])
    group = -(-rows // most) if rows else 1
    starts = np.arange(0, rows, max(group, 1))
    if len(starts) > 1 and _is_rest(columns, int(starts[-2]), int(starts[-1])):
        starts = starts[:-1]
    if len(starts) == rows:
        return columns
    ends = np.append(starts[1:], rows) - 1
    span = columns["end_s"] - columns["start_s"]

    def mean(values: Floats, weight: Floats) -> Floats:
        weight = np.where(np.isfinite(values), weight, 0.0)
        weighted = np.add.reduceat(np.nan_to_num(values) * weight, starts)
        return share(weighted, np.add.reduceat(weight, starts))

    def joined(name: str) -> Floats:
        values = columns[name]
        # A column of another version than this: its mean over time.
        rule, needs = _JOINS.get(name, ("over-time", []))
        if not all(need in columns for need in needs):
            rule = "over-time"
        match rule:
            case "first":
                return values[starts]
            case "last":
                return floats(values[ends])
            case "sum":
                return floats(np.add.reduceat(np.nan_to_num(values), starts))
            case "max":
                return floats(np.fmax.reduceat(values, starts))
            case "ratio":
                return share(*(joined(need) for need in needs))
            case "over":
                return mean(values, columns[needs[0]])
            case _:
                return mean(values, span)

    return {name: joined(name) for name in columns}
