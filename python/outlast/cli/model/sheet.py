"""Curves over a common axis, as JSON, as a table, and as a page with a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from outlast.cli.options import print_json

if TYPE_CHECKING:
    from outlast.models.columns import Floats

Values: TypeAlias = "Sequence[float] | Floats"
LN_10 = math.log(10.0)
SHOWN_ROWS = 60
WIDEST = 110
"""Columns of a table of its own, also where the terminal has fewer: figures that are cut short say nothing."""


@dataclass
class Curve:
    """One curve: values at each x."""

    name: str
    values: Values
    facts: dict[str, Any] = field(default_factory=dict)
    """Settings of this curve, and further columns."""
    ln_values: Values | None = None
    """Natural logarithms, where values may be too small for a float."""


@dataclass
class Sheet:
    """Output of a closed form: curves with their axes, equation and settings."""

    model: str
    title: str
    equation: str
    source: str
    x_name: str
    x_label: str
    x: Values
    y_name: str
    y_label: str
    curves: list[Curve]
    settings: dict[str, Any] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = True
    notes: list[str] = field(default_factory=list)
    y_unit: str = ""
    """Unit of the values, for the table's titles; empty where they have none."""
    summary: tuple[list[str], list[list[str]]] | None = None
    """Titles and rows that people are shown in place of the curves."""

    def emit(self, *, as_json: bool, plot: Path | None) -> None:
        """Writes the page if one is asked for, and prints JSON or a table."""
        if plot is not None:
            from outlast.output import check_file, write_file

            check_file(plot)
            write_file(plot, self.html())
            click.echo(f"written: {plot}", err=True)
        if as_json:
            print_json(self.to_json())
        elif plot is None:
            self.show()

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data; what is not finite is null."""
        return {
            "model": self.model,
            "equation": self.equation,
            "source": self.source,
            "settings": self.settings,
            "x": {"name": self.x_name, "label": self.x_label, "values": _plain(self.x)},
            "curves": [self._curve(curve) for curve in self.curves],
            "notes": self.notes,
        }

    def _curve(self, curve: Curve) -> dict[str, Any]:
        facts = {name: _plain(value) if _is_list(value) else value for name, value in curve.facts.items()}
        values: dict[str, Any] = {self.y_name: _plain(curve.values)}
        if curve.ln_values is not None:
            values[f"log10_{self.y_name}"] = _plain([value / LN_10 for value in curve.ln_values])
        return {"name": curve.name, **facts, **values}

    def show(self) -> None:
        """A table for people; long ones are thinned."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        from outlast.cli.paper import Paper

        console = Paper(highlight=False, soft_wrap=True)
        if self.summary:
            console.width = max(console.width, WIDEST)
        console.print(f"[bold]{self.title}[/]")
        console.print(f"{self.equation} ({self.source})", markup=False)
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        titles, rows = self.summary or self._rows()
        for title in titles:
            table.add_column(title, justify="right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
        for note in self.notes:
            console.print(f"note: {note}", markup=False)

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        step = -(-len(self.x) // SHOWN_ROWS) or 1
        shown = range(0, len(self.x), step)
        rows = [[short(self.x[row]), *(self._cell(curve, row) for curve in self.curves)] for row in shown]
        unit = f" ({self.y_unit})" if self.y_unit else ""
        return [self.x_label, *(f"{curve.name}{unit}" for curve in self.curves)], rows

    def _cell(self, curve: Curve, row: int) -> str:
        value = curve.values[row]
        if value == 0.0 and curve.ln_values is not None and math.isfinite(curve.ln_values[row]):
            exponent = curve.ln_values[row] / LN_10
            whole = math.floor(exponent)
            return f"{10 ** (exponent - whole):.3f}e{whole}"
        return short(value)

    def html(self) -> str:
        """A page with the chart; it loads nothing."""
        from outlast.report.figure import RUN_COLOURS, Figure, axis, line
        from outlast.report.numbers import text
        from outlast.report.page import Section, document

        data = [
            line(
                _plain(self.x),
                [value if not self.log_y or (value or 0.0) > 0.0 else None for value in _plain(curve.values)],
                text(curve.name),
                RUN_COLOURS[index % len(RUN_COLOURS)],
                hovertemplate=f"%{{x:,.5~g}}: %{{y:.4~g}}<extra>{text(curve.name)}</extra>",
                **({"mode": "lines+markers"} if len(self.x) < 60 else {}),
            )
            for index, curve in enumerate(self.curves)
        ]
        exponents = {"exponentformat": "power", "showexponent": "all"}
        layout = {
            "xaxis": axis(text(self.x_label), **({"type": "log", **exponents} if self.log_x else {})),
            "yaxis": axis(text(self.y_label), **({"type": "log", **exponents} if self.log_y else {})),
        }
        chart = Figure("curves", data, layout, text(self.y_label), f"over {text(self.x_label)}", height=460)
        rows = "".join(
            f"<div><dt>{text(name.replace('_', ' '))}</dt><dd>{text(_setting(value))}</dd></div>"
            for name, value in self.settings.items()
        )
        notes = "".join(f"<p>{text(note)}</p>" for note in self.notes)
        section = Section("model", "Closed form", f"Source: {text(self.source)}. {notes}", columns="one").add(chart)
        section.add(f'<dl class="card facts">{rows}</dl>' if rows else None)
        header = f'<div class="mark">Outlast</div><h1>{text(self.title)}</h1><p class="about">{text(self.equation)}</p>'
        return document(f"{self.title} · Outlast", header, [section], "A closed form, evaluated by outlast model.")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0)


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if _is_list(value):
        return ", ".join(_setting(each) for each in value)
    return "–" if value is None else str(value)


def _plain(values: Any) -> list[Any]:
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [value if not isinstance(value, float) or math.isfinite(value) else None for value in listed]


def short(value: float) -> str:
    """A number as a person reads it in a table."""
    if not math.isfinite(value):
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    return f"{value:.3e}"
