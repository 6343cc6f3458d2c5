"""Bars in a notebook, drawn by IPython, which is there wherever a notebook is."""

from __future__ import annotations

from html import escape
from importlib import import_module
from types import TracebackType
from typing import Self

from outlast.cli.progress import Bar, RunProgress, SweepProgress


class _Cell(Bar):
    """Draws into the notebook what the terminal's bar would; the place is empty again in the end."""

    def __init__(self) -> None:
        super().__init__(shown=False)

    def __enter__(self) -> Self:
        self._display = import_module("IPython.display")
        self._place = self._display.display(self._display.HTML(""), display_id=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.update(self._display.HTML(""))

    def _draw(self, phase: str, fraction: float | None, beside: str) -> None:
        value = "" if fraction is None else f' value="{fraction:.4f}"'
        done = "" if fraction is None else f"{fraction:.0%}"
        bar = f'<progress max="1"{value} style="width:16em;vertical-align:middle"></progress>'
        self._place.update(self._display.HTML(f"<div>{escape(phase)} {bar} {done} {escape(beside)}</div>"))


class RunCell(_Cell, RunProgress):
    """The bar of a run in a notebook."""


class SweepCell(_Cell, SweepProgress):
    """The bar of a sweep in a notebook."""
