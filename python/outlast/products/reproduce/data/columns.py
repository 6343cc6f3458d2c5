"""Columns of the rows of a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.errors import ScenarioError
from outlast.products.reproduce.data import checks
from outlast.products.reproduce.data.blocks import check_keys
from outlast.products.reproduce.data.expression import Expression, parse
from outlast.products.reproduce.model import Row, Setting, Table
from outlast.sweeps import figures

SOURCES = ("figure", "value", "formula", "function")
KEYS = ("name", "title", "given", "shown", *SOURCES)


class Column:
    """A column: a figure by its dotted name, an expression, its own or that of each row, or a function."""

    def __init__(self, said: Mapping[str, Any], place: str) -> None:
        check_keys(said, KEYS, place)
        self.name, self.title = said["name"], said.get("title", said["name"])
        self.shown = said.get("shown", True)
        self.figure: str | None = said.get("figure")
        self._value: Expression | None = parse(said["value"], f"{place}.value") if "value" in said else None
        self._function = checks.function_of(said["function"], f"{place}.function") if "function" in said else None
        self._formula, self._place = said.get("formula"), place
        self._given = bool(said.get("given", False))
        if [name in said for name in SOURCES].count(True) + self._given != 1:
            raise ScenarioError(
                f"{place}: needs {', '.join(SOURCES[:-1])} or {SOURCES[-1]}, or is given by a function of rows"
            )
        if self.figure is not None and not figures.is_figure(self.figure):
            raise ScenarioError(f"{place}.figure = {self.figure}: no such figure; {figures.hint(self.figure)}")

    def of(self, row: Row, table: Table, summary: Mapping[str, Any], setting: Setting) -> Any:
        """Value in a row of a table; `None` where something that it needs is absent.

        A function is asked of a run's summary; where there is no run the value is given.
        """
        if self._given or (self._function is not None and not summary):
            return row.get(self.name)
        if self._function is not None:
            return self._function(setting, summary)
        if self.figure is not None:
            return figures.number(summary, self.figure)
        value = self._value
        if self._formula is not None:
            value = parse(row[self._formula], f"{self._place}: {self._formula}") if self._formula in row else None
        if value is None:
            return None
        try:
            return float(value.of(table, row))
        except (LookupError, ZeroDivisionError):
            return None
