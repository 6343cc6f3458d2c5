"""Dictionaries that a notebook shows as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")


class Listing(dict[str, Value]):
    """A dictionary by name; in a notebook it is a table, with the cells that `row` makes of a name and its value."""

    def __init__(
        self, values: Mapping[str, Value], titles: Sequence[str], row: Callable[[str, Value], Sequence[str]]
    ) -> None:
        super().__init__(values)
        self._titles, self._row = titles, row

    def _repr_html_(self) -> str:
        from outlast.notebook.html import framed, table

        words = len(self._titles)
        return framed("", "", table(self._titles, [self._row(*each) for each in self.items()], texts=words))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
