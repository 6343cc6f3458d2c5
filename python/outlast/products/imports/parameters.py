"""Parameters of a foreign configuration, each read as what it has to be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from outlast.errors import ScenarioError

LONGEST = 60
"""Characters of a foreign value that a message shows."""


@dataclass(frozen=True)
class Place:
    """A value as written, and the line it is in."""

    text: str
    line: int


class Parameters:
    """Values by name, of one file or one part of it. Remembers which were asked for."""

    def __init__(self, file: str, values: Mapping[str, Place], part: str = "") -> None:
        self._file, self._values, self._part = file, values, part
        self._asked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str, default: str | None = None) -> str:
        """A value as written; without a default, the parameter must be there."""
        self._asked.add(name)
        if (found := self._values.get(name)) is not None:
            return found.text
        if default is None:
            inside = f" in {self._part}" if self._part else ""
            raise ScenarioError(f"{self._file}: {name} is missing{inside}")
        return default

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """A whole number within limits."""
        text = self.text(name, None if default is None else str(default))
        exact = _exact(text)
        if exact is None or exact != int(exact) or not least <= exact <= most:
            raise self.wrong(name, f"must be a whole number from {least} to {most}")
        return int(exact)

    def number(self, name: str, least: float, most: float, default: float | None = None) -> float:
        """A number within limits."""
        text = self.text(name, None if default is None else repr(default))
        exact = _exact(text)
        if exact is None or not least <= float(exact) <= most:
            raise self.wrong(name, f"must be a number from {least:g} to {most:g}")
        return float(exact)

    def word(self, name: str, words: tuple[str, ...], default: str | None = None) -> str:
        """One of some words, in capitals as the others compare them."""
        text = self.text(name, default).upper()
        if text not in words:
            raise self.wrong(name, f"must be one of {', '.join(words)}")
        return text

    def flag(self, name: str, default: bool) -> bool:
        """A yes or no: all but "false" and 0 is yes."""
        return self.text(name, str(default)).lower() not in ("false", "0")

    def wrong(self, name: str, limit: str) -> ScenarioError:
        """An error that names file, line, parameter, value and limit."""
        self._asked.add(name)
        place = self._values[name]
        shown = place.text if len(place.text) <= LONGEST else f"{place.text[:LONGEST]}…"
        return ScenarioError(f"{self._file}:{place.line}: {name} = {shown}: {limit}")

    def rest(self) -> Iterator[tuple[str, str]]:
        """The parameters that were never asked for, as written."""
        return ((name, place.text) for name, place in self._values.items() if name not in self._asked)


def _exact(text: str) -> Decimal | None:
    """The number that a text is; `None` of everything else, and of numbers beyond any that a drive has."""
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    return exact if exact.is_finite() and abs(exact.adjusted()) < 40 and math.isfinite(float(exact)) else None
