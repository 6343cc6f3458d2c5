"""Dies in their places: a row for each channel, or member of an array, and a column for each die of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast.report.figure import Figure, axis
from outlast.report.numbers import Floats, floats, percent, plain, seconds, short

MOST_COLUMNS, MOST_ROWS = 128, 64
"""Cells of a map; of more dies, neighbours are one cell."""
MOST_WRITTEN = 12
"""Columns up to which a cell has room for its value, on a phone too."""
SCALE = [[0, "var:--heat0"], [0.5, "var:--heat1"], [1, "var:--heat2"]]
LEAST_SPREAD, LEAST_CYCLES = 0.05, 1.0
"""Least spread of a map of cycles, as a share of the most and in cycles; below both, the scale starts at 0."""
Whole = NDArray[np.int64]
Failed = tuple[int | None, int, str]
"""A die that failed: the member of an array, the number of the die in it, and what is said of it."""


HINT = "mean P/E cycles of its blocks"


def _whole(values: Any) -> Whole:
    return np.asarray(values, dtype=np.int64)


def _means(table: dict[str, Any], values: Floats, weights: Floats) -> tuple[Whole, Whole, Floats]:
    """The channel (of an array, the member), the number in it, and the weighted mean of each die."""
    of_array = "device" in table
    row = _whole(table["device" if of_array else "channel"])
    die = _whole(table["die"])
    key = row * (int(die.max()) + 1) + die
    dies, index = np.unique(key, return_inverse=True)
    total = np.bincount(index, weights=np.where(weights > 0, values, 0.0) * weights)
    weight = np.bincount(index, weights=weights)
    mean = np.divide(total, weight, out=np.full(total.shape, np.nan), where=weight > 0)
    rows = dies // (int(die.max()) + 1)
    # Dies are numbered channel by channel, so that those of a row follow one another.
    first = np.searchsorted(rows, rows)
    return rows, np.arange(len(dies)) - first, mean


def _folded(rows: Whole, columns: Whole, mean: Floats) -> tuple[Floats, int, int]:
    """The grid, and how many rows and columns of dies are one of it."""
    deep, wide = (-(-(int(places.max()) + 1) // most) for places, most in ((rows, MOST_ROWS), (columns, MOST_COLUMNS)))
    shape = (int(rows.max()) // deep + 1, int(columns.max()) // wide + 1)
    cell = rows // deep * shape[1] + columns // wide
    known = np.isfinite(mean)
    size = shape[0] * shape[1]
    count = np.bincount(cell[known], minlength=size)
    total = np.bincount(cell[known], weights=mean[known], minlength=size)
    grid = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return grid.reshape(shape), deep, wide


def _ticks(cells: int, each: int) -> dict[str, Any]:
    """Whole numbers on an axis of so many cells, each of so many rows or columns: at most nine."""
    return {"tickvals": list(range(0, cells * each, each * -(-cells // 9)))}


def _map(name: str, title: str, hint: str, of_array: bool, found: tuple[Whole, Whole, Floats], share: bool) -> Figure:
    grid, deep, wide = _folded(*found)
    row = "member" if of_array else "channel"
    hover = [[percent(value) if share else f"{short(value)} cycles" for value in line] for line in grid]
    low, high = float(np.nanmin(grid)), float(np.nanmax(grid))
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": plain(np.arange(grid.shape[1]) * wide),
        "y": plain(np.arange(len(grid)) * deep),
        "z": [plain(line, 4) for line in grid],
        "text": hover,
        "zmin": 0 if share or _alike(low, high) else low,
        "zmax": 1 if share else high or 1,
        "colorscale": SCALE,
        "hovertemplate": f"{row} %{{y}}, die %{{x}} of it: %{{text}}<extra></extra>",
        "colorbar": {
            "thickness": 10,
            "outlinewidth": 0,
            "title": {"text": "busy" if share else "P/E cycles", "font": {"size": 12.5}},
        }
        | ({"tickformat": ".0%"} if share else {}),
        "hoverongaps": False,
        "xgap": 2 if grid.shape[1] <= 32 else 0.5,
        "ygap": 2 if len(grid) <= 32 else 0.5,
    }
    if grid.shape[1] <= MOST_WRITTEN:
        trace |= {"texttemplate": "%{z:.0%}" if share else "%{z:.4~r}", "textfont": {"size": 11}}
    layout = {
        "showlegend": False,
        "xaxis": axis(f"die of the {row}", showgrid=False, **_ticks(grid.shape[1], wide)),
        "yaxis": axis(row, showgrid=False, autorange="reversed", **_ticks(len(grid), deep)),
        "hovermode": "closest",
    }
    if deep * wide > 1:
        hint = f"{hint}; each cell {deep * wide} dies"
    return Figure(name, [trace], layout, title, hint, max(200, min(460, 110 + 20 * len(grid))))


def _alike(low: float, high: float) -> bool:
    """True if wear hardly differs between dies, so that colours from the least to the most would mislead."""
    return high - low < max(LEAST_SPREAD * high, LEAST_CYCLES)


def failed(summary: dict[str, Any]) -> list[Failed]:
    """The dies that failed during the run: those of `repair`, or else those that the scenario breaks."""
    found: list[Failed] = []
    for repair in summary.get("repair") or ():
        at, after = repair["detected_s"], repair.get("detected_after_ms")
        words = f"failed at {seconds(at)}"
        if after is not None:
            words = f"failed at {seconds(at - after / 1e3)}, noticed at {seconds(at)}"
        found.append((repair.get("device"), repair["die"], words))
    return found or _broken(summary)


def _broken(summary: dict[str, Any]) -> list[Failed]:
    """The dies that `[[faults]]` of the scenario broke before the end of the run."""
    from outlast.why.quantity import nanos

    geometry = (summary["scenario"].get("device") or {}).get("geometry") or {}
    each, found = geometry.get("dies_per_chip") or 1, list[Failed]()
    for fault in summary["scenario"].get("faults") or ():
        at = float(nanos(fault.get("at") or 0)) / 1e9
        if fault["kind"] == "die":
            broken = range(fault["die"], fault["die"] + 1)
        elif fault["kind"] == "chip":
            first = (fault["channel"] * (geometry.get("chips_per_channel") or 1) + fault["chip"]) * each
            broken = range(first, first + each)
        else:
            continue
        if at <= summary["time"]["simulated_s"]:
            found += [(fault.get("device"), die, f"failed at {seconds(at)}") for die in broken]
    return found


def _crosses(
    table: dict[str, Any], dies: Sequence[Failed], deep: int, wide: int, aside: float
) -> dict[str, Any] | None:
    """A cross on each cell of a map with a die that failed, so far left of its middle; `None` without one."""
    of_array = "device" in table
    row, die = _whole(table["device" if of_array else "channel"]), _whole(table["die"])
    x, y, hover = [], [], []
    for member, number, words in dies:
        at = np.flatnonzero((die == number) & (row == member if of_array else True))
        if len(at):
            die_number = int(row[at[0]])
            column = int(np.searchsorted(np.unique(die[row == die_number]), number))
            x.append(column // wide * wide - aside)
            y.append(die_number // deep * deep)
            hover.append(f"die {number}{f' of member {member}' if of_array else ''} {words}")
    if not x:
        return None
    marker = {"symbol": "x", "size": 10, "color": "var:--card", "line": {"color": "var:--ink", "width": 1.5}}
    trace = {"type": "scatter", "mode": "markers", "name": "failed die", "x": x, "y": y, "text": hover}
    return trace | {"marker": marker, "hovertemplate": "%{text}<extra></extra>"}


def busy(table: dict[str, Any]) -> Figure | None:
    """The share of the measured time for which each die was busy; needs `run.utilisation`."""
    if not table or not len(table["busy"]):
        return None
    span = floats(table["end_s"]) - floats(table["start_s"])
    found = _means(table, floats(table["busy"]), span)
    return _map("dies-map", "How busy each die was", "share of the time", "device" in table, found, share=True)


def busy_all_along(queue: dict[str, Any]) -> Figure | None:
    """The same of a drive by itself, without `run.utilisation`: from the summary's `queue`."""
    shares = floats(queue.get("utilisation_by_die") or [])
    channels = len(queue.get("channel_utilisation") or [])
    if not len(shares) or not channels or len(shares) % channels:
        return None
    die = np.arange(len(shares))
    each = len(shares) // channels
    found = (die // each, die % each, shares)
    return _map("dies-map", "How busy each die was", "share of the time", of_array=False, found=found, share=True)


def cycles(table: dict[str, Any], dead: Sequence[Failed] = ()) -> Figure | None:
    """Mean P/E cycles of the good blocks of each die, with a cross on those that failed."""
    if not table or not len(table["cycles"]) or np.asarray(table["bad"]).astype(bool).all():
        return None
    good = (~np.asarray(table["bad"]).astype(bool)).astype(np.float64)
    found = _means(table, floats(table["cycles"]), good)
    figure = _map("dies-wear", "Wear of each die", HINT, "device" in table, found, share=False)
    grid, deep, wide = _folded(*found)
    # Beside the value, where cells have one.
    aside = 0.3 if grid.shape[1] <= MOST_WRITTEN else 0.0
    if (crosses := _crosses(table, dead, deep, wide, aside)) is not None:
        figure.data.append(crosses)
        figure.hint += "; × marks a die that failed"
    return figure
