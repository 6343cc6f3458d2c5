"""Charts that a TOML file describes: a column over a label, a curve or colour for each value of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.report.figure import RUN_COLOURS, Figure, axis, line
from outlast.report.numbers import text
from outlast.reproduce.data.expression import number, parse
from outlast.reproduce.model import Row, Table

KEYS = ("title", "x", "y", "by", "x_title", "y_title", "log", "most", "also", "where", "stacked", "range", "curves")


def chart(said: Mapping[str, Any], name: str, table: Table) -> Figure:
    """The chart; labels of x that begin with a number are a scale, others a category each."""
    x = said["x"]
    data: list[dict[str, Any]] = _formulas(said, name, table) if "curves" in said else []
    y = [said["y"], *said.get("also", ())] if not data else []
    for column in y:
        rows = [row for row in table.where(**said.get("where", {})) if row.get(column) is not None]
        for own in _groups(rows, said.get("by"), column if len(y) > 1 else ""):
            colour = RUN_COLOURS[len(data) % len(RUN_COLOURS)]
            data.append(_curve([(row[x], row[column]) for row in own[1]], own[0], colour))
    range_ = {"range": [0, said["most"]]} if "most" in said else {"rangemode": "tozero"}
    layout = {
        "xaxis": axis(said.get("x_title", x)),
        "yaxis": axis(said.get("y_title", said.get("y", "")), **({"type": "log"} if said.get("log") else range_)),
        "hovermode": "closest",
    }
    if said.get("stacked"):
        layout["barmode"] = "stack"
    return Figure(name, data, layout, said["title"], "", 340)


def _formulas(said: Mapping[str, Any], place: str, table: Table) -> list[dict[str, Any]]:
    """A curve for each expression over the range; one that needs a row that is absent is left out."""
    low, high, steps = said["range"]
    places = [low + (high - low) * step / (steps - 1) for step in range(steps)]
    data: list[dict[str, Any]] = []
    for at, own in enumerate(said["curves"]):
        value = parse(own["value"], f"{place}.curves[{at}].value")
        try:
            points = [float(value.of(table, {said["x"]: point})) for point in places]
        except LookupError:
            continue
        data.append(line(places, points, own["name"], RUN_COLOURS[at % len(RUN_COLOURS)]))
    return data


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
