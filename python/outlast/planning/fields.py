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


class PlanError(OutlastError):
    """A plan says something impossible; the message names the place and the limit."""


class FieldReader:
    """Reads fields of tables, refusing what cannot be."""

    def __init__(self, source: str) -> None:
        self._source = source

    def _refusal(self, place: str, value: Any, limit: str) -> PlanError:
        shown = "absent" if value is None else printable(str(value), keep="")
        return PlanError(f"{self._source}: {place} = {shown}: {limit}")

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

    def _number(
        self, table: Mapping[str, Any], place: str, name: str, default: float, *, least: float | None = None,
        most: float = math.inf,
    ) -> float:  # fmt: skip
        value = table.get(name, default)
        limit = "must be a number above 0" if least is None else f"must be a number from {least:g} on"
        limit += f", at most {most:g}" if most < math.inf else ""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._refusal(place + name, value, limit)
        if not (value > 0.0 if least is None else value >= least) or not value <= most or math.isinf(value):
            raise self._refusal(place + name, value, limit)
        return float(value)

    def _optional(self, table: Mapping[str, Any], place: str, name: str) -> float | None:
        return self._number(table, place, name, 0.0) if name in table else None

    def _quantity(
        self, table: Mapping[str, Any], place: str, name: str, of: Callable[[Any], Any], default: float | None, *,
        least: float = 0.0, most: float = math.inf, whole: bool = False,
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
        if not 0.0 < found < math.inf or (whole and not found.is_integer()):
            raise self._refusal(
                place + name, value, "must be above 0" + (" and a whole number of bytes" if whole else "")
            )
        if not least <= found <= most:
            shown = _bytes if of is bytes_of else _time
            limit = f"must be at least {shown(least)}" + (f" and at most {shown(most)}" if most < math.inf else "")
            bare = "; a number without a unit is in " + ("bytes" if of is bytes_of else "nanoseconds")
            raise self._refusal(place + name, value, limit + ("" if isinstance(value, str) else bare))
        return found


def _bytes(value: float) -> str:
    """A limit in bytes, in the unit that suits it."""
    if value % 2**30 == 0:
        return f"{value / 2**30:g}GiB"
    units = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9))
    return next((f"{value / size:g}{unit}" for unit, size in units if value >= size), f"{value:g} bytes")


def _time(value: float) -> str:
    """A limit in nanoseconds as seconds."""
    return f"{value / 1e9:g}s"
