"""Charts that a TOML file describes: a column over a label, a curve or colour for each value of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.report.figure import RUN_COLOURS, Figure, axis, line
from outlast.report.numbers import text
from outlast.reproduce.data.expression import number
from outlast.reproduce.model import Row, Table

KEYS = ("title", "x", "y", "by", "x_title", "y_title", "log", "most", "also", "where")


def chart(said: Mapping[str, Any], name: str, table: Table) -> Figure:
    """The chart; labels of x that begin with a number are a scale, others a category each."""
    x, y = said["x"], [said["y"], *said.get("also", ())]
    data: list[dict[str, Any]] = []
    for column in y:
        rows = [row for row in table.where(**said.get("where", {})) if row.get(column) is not None]
        for own in _groups(rows, said.get("by"), column if len(y) > 1 else ""):
            colour = RUN_COLOURS[len(data) % len(RUN_COLOURS)]
            data.append(_curve([(row[x], row[column]) for row in own[1]], own[0], colour))
    range_ = {"range": [0, said["most"]]} if "most" in said else {"rangemode": "tozero"}
    layout = {
        "xaxis": axis(said.get("x_title", x)),
        "yaxis": axis(said.get("y_title", said["y"]), **({"type": "log"} if said.get("log") else range_)),
        "hovermode": "closest",
    }
    return Figure(name, data, layout, said["title"], "", 340)


def _groups(rows: list[Row], by: str | None, column: str) -> list[tuple[str, list[Row]]]:
    if by is None:
        return [(column or "", rows)]
    names = dict.fromkeys(str(row[by]) for row in rows)
    return [(f"{name}{', ' if column else ''}{column}", [row for row in rows if row[by] == name]) for name in names]


def _curve(points: list[tuple[Any, Any]], name: str, colour: str) -> dict[str, Any]:
    try:
        x = [number(label) for label, _ in points]
    except ValueError:
        return {
            "type": "bar",
            "name": text(name),
            "x": [str(label) for label, _ in points],
            "y": [float(value) for _, value in points],
            "marker": {"color": colour},
        }
    return line(x, [float(f"{value:.5g}") for _, value in points], name, colour)
