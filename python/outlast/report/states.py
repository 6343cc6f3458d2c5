"""States over time: utilisation of dies and channels, superblocks by state, wear of blocks, and moved superblocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlast.report.errors import REASONS
from outlast.report.figure import Figure, axis
from outlast.report.numbers import Floats, floats, percent, plain, short
from outlast.report.tables import rows_card

MOST_ROWS = 64
MOST_POINTS = 4000
SCALE = [[0, "var:--heat0"], [0.5, "var:--heat1"], [1, "var:--heat2"]]
REASON_COLOURS = {"space": "var:--gc", "wear": "var:--flush"}
"""Colours of the reasons for moving a superblock; all other reasons are of scrubbing and protection."""


def _places(table: dict[str, Any], part: str) -> dict[str, Any]:
    """Ticks that name channels, or members, where their first die is."""
    owner = "device" if "device" in table else "channel"
    if part != "die" or owner not in table:
        return {}
    die = np.asarray(table["die"], dtype=np.int64)
    of = np.asarray(table[owner], dtype=np.int64)
    place = die + of * (die.max() + 1) if owner == "device" else die
    firsts = sorted((int(place[of == number].min()), int(number)) for number in np.unique(of))
    shown = firsts[:: -(-len(firsts) // 16)]
    short_name = "m" if owner == "device" else "ch"
    return {"tickvals": [at for at, _ in shown], "ticktext": [f"{short_name} {number}" for _, number in shown]}


def _grid(table: dict[str, Any], part_name: str) -> tuple[Floats, Floats]:
    """Middles of the spans, and shares: a row for each part, member after member, and a column for each span."""
    part = np.asarray(table[part_name], dtype=np.int64)
    if "device" in table:
        part = part + np.asarray(table["device"], dtype=np.int64) * (part.max() + 1)
    start, end = floats(table["start_s"]), floats(table["end_s"])
    ends, column = np.unique(end, return_inverse=True)
    starts = np.zeros(len(ends))
    starts[column] = start
    grid = np.full((int(part.max()) + 1, len(ends)), np.nan)
    grid[part, column] = floats(table["busy"])
    return (starts + ends) / 2, grid


def busy_map(table: dict[str, Any], part: str, several: str) -> Figure | None:
    """A row for each die, or channel, and a column for each span of time; the darker, the busier."""
    if not table or not len(table["busy"]):
        return None
    middles, grid = _grid(table, part)
    each = -(-len(grid) // MOST_ROWS)
    pad = -len(grid) % each
    folded = np.vstack([grid, np.full((pad, grid.shape[1]), np.nan)]).reshape(-1, each, grid.shape[1])
    there = np.isfinite(folded)
    count = there.sum(axis=1)
    total = np.where(there, folded, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    name = part if each == 1 else f"{each} {several} starting at"
    trace = {
        "type": "heatmap",
        "x": plain(middles),
        "y": plain(np.arange(len(mean)) * each),
        "z": [plain(line, 4) for line in mean],
        "zmin": 0,
        "zmax": 1,
        "colorscale": SCALE,
        "hovertemplate": f"{name} %{{y}}, at %{{x:.4~g}} s<br>busy %{{z:.1%}}<extra></extra>",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickformat": ".0%"},
        "hoverongaps": False,
    }
    order = f"{several}, member by member" if "device" in table else part
    order = "die, by channel" if part == "die" and "device" not in table else order
    layout = {
        "showlegend": False,
        "xaxis": axis("simulated time, s", showgrid=False),
        "yaxis": axis(order, showgrid=False, autorange="reversed", **_places(table, part)),
        "hovermode": "closest",
    }
    hint = f"mean of {each} {several} per row" if each > 1 else "share of each span"
    height = max(220, min(480, 120 + 16 * len(mean)))
    return Figure(f"{several}-busy", [trace], layout, f"How busy {several} were over time", hint, height)


def histogram_map(table: dict[str, Any], column_name: str, label: str, title: str, *, share: bool) -> Figure | None:
    """A histogram for each moment, as a column of a heat map."""
    if not table or not len(table[column_name]):
        return None
    at, low, high = floats(table["at_s"]), floats(table["from"]), floats(table["to"])
    times, column = np.unique(at, return_inverse=True)
    steps, row = np.unique(low, return_inverse=True)
    tops = np.zeros(len(steps))
    tops[row] = high
    grid = np.zeros((len(steps), len(times)))
    grid[row, column] = floats(table[column_name])
    last = tops if share else tops - 1
    names = [_step(low, high, share=share) for low, high in zip(steps, last, strict=True)]
    trace = {
        "type": "heatmap",
        "x": plain(times),
        "y": plain((steps + last) / 2),
        "z": [plain(line) for line in grid],
        "text": [[name] * len(times) for name in names],
        "colorscale": SCALE,
        "hovertemplate": f"%{{text}}: %{{z:,}} {column_name}, at %{{x:.4~g}} s<extra></extra>",
        "colorbar": {"title": {"text": column_name, "font": {"size": 12.5}}, "thickness": 10, "outlinewidth": 0},
    }
    layout = {
        "showlegend": False,
        "xaxis": axis("simulated time, s", showgrid=False),
        "yaxis": axis(label, showgrid=False, **({"tickformat": ".0%"} if share else {})),
        "hovermode": "closest",
    }
    return Figure(f"{column_name}-over-time", [trace], layout, title, "a histogram at each moment", 300)


def _step(low: float, high: float, *, share: bool) -> str:
    if share:
        return f"{percent(low, 2)} to {percent(high, 2)}"
    return f"{low:.0f} cycles" if low == high else f"{low:.0f} to {high:.0f} cycles"


def victims(table: dict[str, Any]) -> Figure | None:
    """Scatter of the valid share of moved superblocks over their age."""
    if not table or not len(table["at_s"]):
        return None
    reasons = list(table["reason"])
    step = -(-len(reasons) // MOST_POINTS)
    chosen = np.arange(0, len(reasons), step)
    age, valid = floats(table["age_writes"]), floats(table["valid_share"])
    data = []
    for reason in sorted(set(reasons)):
        members = [index for index in chosen if reasons[index] == reason]
        name = _spelt(reason)
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": plain(age[members]),
                "y": plain(valid[members]),
                "marker": {"size": 5, "opacity": 0.6, "color": REASON_COLOURS.get(reason, "var:--scrub")},
                "hovertemplate": f"{name}: %{{y:.1%}} valid after %{{x:.3~g}} drive writes<extra></extra>",
            }
        )
    layout = {
        "xaxis": axis("age, drive writes", rangemode="tozero"),
        "yaxis": axis("still valid", tickformat=".0%", rangemode="tozero"),
        "hovermode": "closest",
    }
    hint = "age: what the host has written since it was filled"
    hint += f"; one in {step} superblocks shown" if step > 1 else ""
    return Figure("victims", data, layout, "Relocations by age", hint)


def _spelt(reason: str) -> str:
    """A reason of a relocation in the words of the other charts."""
    return REASONS[reason][0] if reason in REASONS else reason


VICTIM_COLUMNS = ("reason", "class", "superblocks", "valid, mean", "age, drive writes", "share of units moved")


def victim_table(table: dict[str, Any]) -> str:
    """Superblocks that were moved, by reason and class, as a card."""
    if not table or not len(table["at_s"]):
        return ""
    age, valid = floats(table["age_writes"]), floats(table["valid_share"])
    groups: dict[tuple[str, int], list[int]] = {}
    for index, key in enumerate(zip(table["reason"], map(int, table["class"]), strict=True)):
        groups.setdefault(key, []).append(index)
    whole = float(valid.sum())
    rows: list[tuple[str, ...]] = [
        (
            _spelt(reason),
            str(class_),
            short(len(rows_of_group)),
            percent(float(valid[rows_of_group].mean())),
            short(float(age[rows_of_group].mean())),
            percent(float(valid[rows_of_group].sum()) / whole) if whole else "–",
        )
        for (reason, class_), rows_of_group in sorted(groups.items())
    ]
    return rows_card("Relocations by reason and class", VICTIM_COLUMNS, rows, wide=True, whole=True)
