"""Fields of a plan file: texts, numbers and quantities within their limits, and refusals that name the place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from outlast.errors import OutlastError
from outlast.planning.field_words import WORDS
from outlast.printable import printable
from outlast.suggestions import hint
from outlast.why.quantity import bytes_of

MOST_BITS = 64
MOST_LETTERS = 80
"""Most characters of a value in a message."""


LIMITS: dict[str, tuple[float, float]] = {
    "years": (0.01, 100.0),
    "energy_price": (1e-6, 1e9),
    "drives.price": (1e-6, 1e12),
    "drives.dwpd": (1e-3, 1e4),
    "drives.warranty_years": (0.01, 100.0),
    "drives.mttf_hours": (1.0, 1e12),
    "drives.uber": (1e-30, 1e-3),
    "drives.watts": (1e-3, 1e4),
    "workload.read_percent": (0.0, 100.0),
    "workload.active_hours": (0.01, 24.0),
}
"""Least and most of each number of a plan: beyond all that there are, and figures of them are finite."""


class PlanError(OutlastError):
    """A plan says something impossible; the message names the place and the limit."""


class FieldReader:
    """Reads fields of tables, refusing what cannot be."""

    def __init__(self, source: str) -> None:
        self._source = source

    def _refusal(self, place: str, value: Any, limit: str) -> PlanError:
        try:
            shown = "absent" if value is None else printable(str(value), keep="")
        except ValueError:  # a whole number of thousands of digits
            shown = "a number too long to be shown"
        cut = shown if len(shown) <= MOST_LETTERS else f"{shown[:MOST_LETTERS]}…"
        return PlanError(f"{self._source}: {place} = {cut}: {limit}")

    def _known(self, table: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
        for name in table:
            if name not in names:
                shown = printable(str(name), keep="")
                raise PlanError(f"{self._source}: {place}{shown}: unknown setting; {hint(name, names, WORDS, place)}")

    def _table(self, content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        value = content.get(name)
        if not isinstance(value, Mapping):
            raise self._refusal(name, value, "must be a table")
        return value

    def _text(self, table: Mapping[str, Any], place: str, name: str, default: str | None) -> str:
        value = table.get(name, default)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._refusal(place + name, value, "must be a text of one line")
        return value

    def _whole(
        self, table: Mapping[str, Any], place: str, name: str, default: int | None, least: int, most: int
    ) -> int:
        value = table.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._refusal(place + name, value, f"must be a whole number within {least} to {most}")
        return value

    def _check_wholes(self, place: str, value: Any) -> None:
        """Refuses whole numbers that no setting of a scenario can have, in whatever table or list."""
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise self._refusal(place, value, f"must be a whole number of {MOST_BITS} bits at most")
        if isinstance(value, Mapping):
            for name, inner in value.items():
                self._check_wholes(f"{place}.{printable(str(name), keep='')}", inner)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self._check_wholes(f"{place}[{index}]", inner)

    def _number(self, table: Mapping[str, Any], place: str, name: str, default: float) -> float:
        value = table.get(name, default)
        least, most = LIMITS[place + name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise self._refusal(place + name, value, f"must be a number within {least:g} to {most:g}")
        return float(value)

    def _optional(self, table: Mapping[str, Any], place: str, name: str) -> float | None:
        return self._number(table, place, name, 0.0) if name in table else None

    def _quantity(
        self, table: Mapping[str, Any], place: str, name: str, of: Callable[[Any], Any], default: float | None, *,
        least: float, most: float, whole: bool = False,
    ) -> float:  # fmt: skip
        value = table.get(name, default)
        if value is None:
            raise self._refusal(place + name, value, "must be given")
        needs_unit = "must be a number with its unit, such as 7.68TB or 20s"
        if isinstance(value, bool):
            raise self._refusal(place + name, value, needs_unit)
        try:
            found = float(of(value)) if isinstance(value, (int, str)) else float(value)
        except (TypeError, ValueError) as error:
            raise self._refusal(place + name, value, needs_unit) from error
        except OverflowError:
            found = math.inf
        if whole and math.isfinite(found) and not found.is_integer():
            raise self._refusal(place + name, value, "must be a whole number of bytes")
        if not least <= found <= most:
            shown = _bytes if of is bytes_of else _time
            limit = f"must be at least {shown(least)} and at most {shown(most)}"
            bare = "; a number without a unit is in " + ("bytes" if of is bytes_of else "nanoseconds")
            raise self._refusal(place + name, value, limit + ("" if isinstance(value, str) else bare))
        return found


def _bytes(value: float) -> str:
    """A limit in bytes, in the unit that suits it."""
    if value % 2**30 == 0:
        return f"{value / 2**30:g}GiB"
    units = (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("kB", 1e3))
    return next((f"{value / size:g}{unit}" for unit, size in units if value >= size), f"{value:g} bytes")


def _time(value: float) -> str:
    """A limit in nanoseconds as seconds."""
    return f"{value / 1e9:g}s"
