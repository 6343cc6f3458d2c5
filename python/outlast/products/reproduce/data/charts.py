"""Charts that a TOML file describes: a column over a label, a curve or colour for each value of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.products.reproduce.data.expression import number, parse
from outlast.products.reproduce.model import Row, Table
from outlast.report.figure import RUN_COLOURS, Figure, axis, line
from outlast.report.numbers import text

KEYS = (
    *("title", "x", "y", "by", "x_title", "y_title", "log", "x_log", "most", "x_most", "also", "where", "stacked"),
    *("range", "curves", "pairs", "mark", "holds", "shown"),
)


def chart(said: Mapping[str, Any], name: str, table: Table) -> Figure:
    """The chart; labels of x that begin with a number are a scale, others a category each."""
    if "holds" in said:
        return _map(said, name, table)
    range_ = {"range": [0, said["most"]]} if "most" in said else {"rangemode": "tozero"}
    across: dict[str, Any] = {"range": [0, said["x_most"]]} if "x_most" in said else {}
    if said.get("x_log"):
        across = {"type": "log", "exponentformat": "power"}
    layout: dict[str, Any] = {
        "xaxis": axis(said.get("x_title", said.get("x", "")), **across),
        "yaxis": axis(said.get("y_title", said.get("y", "")), **({"type": "log"} if said.get("log") else range_)),
        "hovermode": "closest",
    }
    if said.get("stacked"):
        layout["barmode"] = "stack"
    if "mark" in said:
        layout["shapes"] = [_mark(**said["mark"])]
    data = _formulas(said, name, table) if "curves" in said else _columns(said, table)
    return Figure(name, data, layout, said["title"], "", 340)


def _columns(said: Mapping[str, Any], table: Table) -> list[dict[str, Any]]:
    """A curve for each column and group of rows; a column of pairs is a curve in each row."""
    data: list[dict[str, Any]] = []
    y = [said["pairs"]] if "pairs" in said else [said["y"], *said.get("also", ())]
    for column in y:
        rows = [row for row in table.where(**said.get("where", {})) if row.get(column) is not None]
        for name, own in _groups(rows, said.get("by"), column if len(y) > 1 else ""):
            colour = RUN_COLOURS[len(data) % len(RUN_COLOURS)]
            if "pairs" in said:
                x, values = zip(*(pair for row in own for pair in row[column]), strict=True)
                data.append(line(list(x), list(values), name, colour, shape="hv"))
            else:
                data.append(_curve([(row[said["x"]], row[column]) for row in own], name, colour))
    return data


def _mark(x: float | None = None, y: float | None = None) -> dict[str, Any]:
    """A dotted line at a value of one of the axes, all through the chart."""
    along, across, value = ("x", "y", y) if x is None else ("y", "x", x)
    style = {"type": "line", "line": {"color": "var:--muted", "width": 1, "dash": "dot"}}
    return style | {f"{along}ref": "paper", f"{along}0": 0, f"{along}1": 1, f"{across}0": value, f"{across}1": value}


def _map(said: Mapping[str, Any], name: str, table: Table) -> Figure:
    """A cell for each row: whether a column is 1 there, and the number that another shows."""
    rows = [row for row in table.where(**said.get("where", {})) if row.get(said["holds"]) is not None]
    places = [tuple(", ".join(str(row[label]) for label in said[side]) for side in ("x", "y")) for row in rows]
    x, y = (list(dict.fromkeys(place[side] for place in places)) for side in (0, 1))
    at = dict(zip(places, rows, strict=True))
    cells = [[at.get((column, line), {}) for column in x] for line in y]
    cell = {
        "type": "heatmap",
        "x": x,
        "y": y,
        "z": [[row.get(said["holds"]) for row in line] for line in cells],
        "text": [[f"{row[said['shown']]:+.1f}" if row else "" for row in line] for line in cells],
        "texttemplate": "%{text}",
        "hovertemplate": "%{x}; %{y}: %{text}<extra></extra>",
        "colorscale": [[0, "var:--bad-soft"], [1, "var:--good-soft"]],
    } | {"zmin": 0, "zmax": 1, "showscale": False, "xgap": 2, "ygap": 2}
    categories = {"type": "category", "automargin": True}
    layout = {
        "xaxis": axis(said.get("x_title", ", ".join(said["x"])), **categories),
        "yaxis": axis(said.get("y_title", ", ".join(said["y"])), **categories),
        "hovermode": "closest",
    }
    return Figure(name, [cell], layout, said["title"], "", 120 + 34 * len(y))


def _formulas(said: Mapping[str, Any], place: str, table: Table) -> list[dict[str, Any]]:
    """A curve for each expression over its range or the chart's; one that needs a row that is absent is left out.

    The columns of the row that `where` has, if it has but one, are names in them.
    """
    rows = table.where(**said.get("where", {}))
    names = rows[0] if len(rows) == 1 else {}
    data: list[dict[str, Any]] = []
    for at, own in enumerate(said["curves"]):
        low, high, steps = own.get("range", said.get("range"))
        places = [low + (high - low) * step / (steps - 1) for step in range(steps)]
        value = parse(own["value"], f"{place}.curves[{at}].value")
        try:
            points = [float(value.of(table, {**names, said["x"]: point})) for point in places]
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
