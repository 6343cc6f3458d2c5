"""Wear: program/erase cycles by die and block."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlast.report.figure import Figure, axis
from outlast.report.numbers import floats, plain

MOST_COLUMNS = 192
MOST_ROWS = 128


def heat_map(table: dict[str, Any]) -> Figure | None:
    """Mean cycles of each cell: a die (row) and a run of neighbouring blocks (column)."""
    if not table or not len(table["cycles"]):
        return None
    die = np.asarray(table["die"], dtype=np.int64)
    if "device" in table:
        die = die + np.asarray(table["device"], dtype=np.int64) * (die.max() + 1)
    plane = np.asarray(table["plane"], dtype=np.int64)
    block = np.asarray(table["block"], dtype=np.int64)
    cycles, bad = floats(table["cycles"]), np.asarray(table["bad"]).astype(bool)
    place = plane * (block.max() + 1) + block
    per_column = -(-int(place.max() + 1) // MOST_COLUMNS)
    per_row = -(-int(die.max() + 1) // MOST_ROWS)
    columns, rows = place // per_column, die // per_row
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    cell = rows * shape[1] + columns
    good = ~bad
    count = np.bincount(cell[good], minlength=shape[0] * shape[1])
    total = np.bincount(cell[good], weights=cycles[good], minlength=shape[0] * shape[1])
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0).reshape(shape)
    blocks = "block" if per_column == 1 else f"{per_column} blocks starting at"
    dies = "die" if per_row == 1 else f"{per_row} dies starting at"
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": plain(np.arange(shape[1]) * per_column),
        "y": plain(np.arange(shape[0]) * per_row),
        "z": [plain(line, 4) for line in mean],
        "colorscale": [[0, "var:--heat0"], [0.5, "var:--heat1"], [1, "var:--heat2"]],
        "hovertemplate": f"{dies} %{{y}}, {blocks} %{{x}}<br>%{{z:.3~r}} cycles<extra></extra>",
        "colorbar": {
            "title": {"text": "cycles", "font": {"size": 12.5}},
            "thickness": 10,
            "outlinewidth": 0,
            "len": 1.0,
        },
        "hoverongaps": False,
        "xgap": 0.5 if shape[1] <= 96 else 0,
        "ygap": 1 if shape[0] <= 64 else 0,
    }
    data = [trace]
    if bad.any() and bad.sum() <= 4000:
        marker = {"symbol": "x-thin", "size": 6, "line": {"color": "var:--ink", "width": 1.4}}
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "bad block",
                "x": plain((columns * per_column)[bad]),
                "y": plain((rows * per_row)[bad]),
                "marker": marker,
                "hovertemplate": "bad block<extra></extra>",
            }
        )
    span = [(shape[0] - 0.5) * per_row, -0.5 * per_row]
    layout = {
        "showlegend": False,
        "xaxis": axis("block, plane by plane", showgrid=False),
        "yaxis": axis(
            "die, member by member" if "device" in table else "die",
            showgrid=False,
            range=span,
            dtick=max(1, -(-shape[0] // 9)) * per_row,
        ),
        "hovermode": "closest",
    }
    hint = "× marks a bad block" if bad.any() else ""
    if per_column > 1 or per_row > 1:
        hint = f"mean of {per_column * per_row} blocks per cell" + (f"; {hint}" if hint else "")
    return Figure("wear-map", data, layout, "Wear by die and block", hint, map_height(table))


def map_height(table: dict[str, Any]) -> int:
    """Height of the heat map in pixels: a row for each die, within reason."""
    dies = int(np.asarray(table["die"]).max()) + 1
    return max(260, min(520, 120 + 16 * dies))


def histogram(table: dict[str, Any]) -> Figure | None:
    """Histogram of blocks by P/E cycles."""
    if not table or not len(table["cycles"]):
        return None
    cycles = floats(table["cycles"])[~np.asarray(table["bad"]).astype(bool)]
    if not len(cycles):
        return None
    low, high = int(cycles.min()), int(cycles.max())
    step = max(1, -(-(high - low + 1) // 60))
    counts = np.bincount((cycles - low).astype(np.int64) // step)
    centres = low + step * np.arange(len(counts)) + (step - 1) / 2
    hover = "%{x} cycles: %{y:,} blocks<extra></extra>"
    bars = {
        "type": "bar",
        "x": plain(centres),
        "y": plain(counts),
        "marker": {"color": "var:--heat2"},
        "hovertemplate": hover,
        "name": "blocks",
    }
    # Few cycles are labelled one by one: there is no half of one.
    whole = {"dtick": 1} if high - low < 12 else {"tickformat": ",d"}
    layout = {
        "xaxis": axis("P/E cycles", range=[low - 0.5 * step - 0.5, high + 0.5 * step + 0.5], **whole),
        "yaxis": axis("blocks", rangemode="tozero"),
        "bargap": 0.08,
        "hovermode": "closest",
    }
    return Figure("wear-histogram", [bars], layout, "P/E cycles of the blocks", "", map_height(table))
