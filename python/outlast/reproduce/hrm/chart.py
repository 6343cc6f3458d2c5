"""Charts of HRM's figures: bars by state, one colour for each scheme."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.report.figure import RUN_COLOURS, Figure, axis
from outlast.report.numbers import text
from outlast.reproduce.model import Row, Table


def bars(
    table: Table,
    name: str,
    title: str,
    figure: str,
    unit: str,
    *,
    across: Sequence[str] = ("state",),
    by: str = "scheme",
    one: bool = False,
    rows: Sequence[Row] | None = None,
) -> Figure:
    """Bars of a figure, grouped by the labels `across` and coloured by `by`; `one` draws a line at 1."""
    chosen = [row for row in (rows if rows is not None else table.rows) if row.get(figure) is not None]
    data = []
    for index, scheme in enumerate(dict.fromkeys(row[by] for row in chosen)):
        mine = [row for row in chosen if row[by] == scheme]
        data.append(
            {
                "type": "bar",
                "name": text(scheme),
                "x": [", ".join(row[label] for label in across) for row in mine],
                "y": [float(f"{row[figure]:.5g}") for row in mine],
                "marker": {"color": RUN_COLOURS[index % len(RUN_COLOURS)]},
                "hovertemplate": f"{text(scheme)}, %{{x}}: %{{y:.4g}}<extra></extra>",
            }
        )
    layout = {
        "barmode": "group",
        "xaxis": {"type": "category", "automargin": True},
        "yaxis": axis(unit, rangemode="tozero"),
        "hovermode": "closest",
        "bargap": 0.3,
    }
    if one:
        line = {"color": "var:--muted", "width": 1, "dash": "dot"}
        layout["shapes"] = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line}]
    return Figure(name, data, layout, title, "", 320)
