"""Draws of settings: each part of a scenario has a stream of its own, so that a draw in one never shifts another."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Settings: TypeAlias = dict[str, Any]
"""A table of a scenario file."""

Row: TypeAlias = tuple[str, float, tuple[Any, ...]]
"""A setting: its name within the table, how often it is set at all, and the values that it is given, equally often."""

GONE = ""
"""Name of a row whose setting is none any more. It is drawn all the same, so that seeds go on meaning what they did."""


class Draw:
    """Draws of one part of the scenario of a seed."""

    def __init__(self, seed: int, part: str) -> None:
        self._random = random.Random(f"{seed} {part}")

    def chance(self, share: float) -> bool:
        """True with a probability."""
        return self._random.random() < share

    def one(self, values: Sequence[T]) -> T:
        """One of some values; one that stands there twice comes twice as often."""
        return values[int(self._random.random() * len(values))]

    def whole(self, low: int, high: int) -> int:
        """A whole number between two, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def share(self) -> float:
        """A number between 0 and 1."""
        return self._random.random()

    def order(self, values: Sequence[T], count: int | None = None) -> list[T]:
        """Sample of `count` values, or all of them, in random order."""
        return self._random.sample(list(values), len(values) if count is None else count)

    def time(self, low: int, high: int, unit: str = "us") -> str:
        """A time in whole units."""
        return f"{self.whole(low, high)}{unit}"

    def fill(self, rows: Sequence[Row]) -> Settings:
        """Draws for each row whether its setting is set, and to which value."""
        drawn = {name: self.one(values) for name, share, values in rows if self.chance(share)}
        drawn.pop(GONE, None)
        return drawn


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """Settings with others laid over them; `None` takes one away."""
    result = dict(settings)
    for name, value in changes.items():
        own = result.get(name)
        if value is None:
            result.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(own, Mapping):
            result[name] = merged(own, value)
        else:
            result[name] = value
    return result


def at(settings: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """The setting of a dotted name, or a default."""
    value: Any = settings
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return default
        value = value[part]
    return value
