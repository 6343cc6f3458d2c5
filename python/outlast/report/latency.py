"""Latency: the table of percentiles and the distribution with its tail drawn out."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlast.report.figure import OP_COLOURS, Figure, axis, latency_axis, line
from outlast.report.names import label, tip
from outlast.report.numbers import floats, micros, plain, short

ROWS = [
    ("mean", "mean"),
    ("min", "min"),
    ("p50", "50 %"),
    ("p90", "90 %"),
    ("p95", "95 %"),
    ("p99", "99 %"),
    ("p99_9", "99.9 %"),
    ("p99_99", "99.99 %"),
    ("p99_999", "99.999 %"),
    ("p99_9999", "99.9999 %"),
    ("max", "max"),
]
OPS = ("read", "write", "trim", "flush")
TAIL = [1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
TAIL_TEXT = ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "six nines", "seven nines", "eight nines"]


#: Beside percentiles that fewer than ten requests lie above.
FEW = " *"
FEW_SHORT = "; * too few requests"
FEW_NOTE = "* fewer than ten requests are slower than this: too few for a reliable percentile"


NARROW = "\u00a0"
"""Space between a number and its unit, at which a line does not break."""
SAME_HEIGHT = "each further nine takes the same height"


def marked(latency: dict[str, Any], key: str) -> str:
    """A figure of a distribution, marked where too few requests lie above it to tell."""
    value = micros(latency.get(key))
    if not key.startswith("p") or latency.get(key) is None or "resolved_percentile" not in latency:
        return value
    percent = float(key[1:].replace("_", "."))
    return value if percent <= (latency["resolved_percentile"] or 0.0) else value + FEW


def mean_interval(latency: dict[str, Any]) -> str:
    """The 95 % interval of the mean, or a dash."""
    interval = latency.get("mean_interval")
    if not interval:
        return "–"
    low, high = micros(max(interval["low"], 0.0)), micros(interval["high"])
    # The unit once, where both have it: a column of a small page holds no more.
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def percentile_table(summary: dict[str, Any]) -> str:
    """Percentiles by kind of request, in the unit that suits each."""
    ops = [op for op in OPS if summary["latency_us"].get(op)]
    if not ops:
        return '<div class="card"><p class="empty">No request was timed in this run.</p></div>'
    head = "".join(f'<th scope="col"><i class="dot {op}"></i>{op}</th>' for op in ops)
    cells = {key: [marked(summary["latency_us"][op], key) for op in ops] for key, _ in ROWS}
    body = "".join(_row(f"latency_us.{{}}.{key}", title.replace(" ", NARROW), ops, cells[key]) for key, title in ROWS)
    bounds = [mean_interval(summary["latency_us"][op]) for op in ops]
    body += _row("latency_us.{}.mean_interval.low", "mean, 95 % interval", ops, bounds)
    counts = "".join(
        f"<td{tip(f'latency_us.{op}.count')}>{short(summary['latency_us'][op]['count'])}</td>" for op in ops
    )
    note = f'<p class="note">{FEW_NOTE}</p>' if FEW in body else ""
    return (
        f'<div class="card scroll"><table class="figures"><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody>'
        f'<tfoot><tr><th scope="row">requests</th>{counts}</tr></tfoot></table>{note}</div>'
    )


def _row(name: str, title: str, ops: list[str], cells: list[str]) -> str:
    """A line of the table; `name` has a place for the kind of request."""
    columns = "".join(f"<td{tip(name.format(op))}>{cell}</td>" for op, cell in zip(ops, cells, strict=True))
    return f'<tr><th scope="row">{label(title, tip(name.format(ops[0])))}</th>{columns}</tr>'


def curve(table: dict[str, Any], op: str, stream: str = "all") -> tuple[list[Any], list[Any]] | None:
    """Latency and the share of requests that take longer, for one kind of request; `None` if there is none."""
    if not table:
        return None
    chosen = (np.asarray(table["op"]) == op) & (np.asarray(table["stream"]) == stream)
    if not chosen.any():
        return None
    latency, quantile = floats(table["latency_us"])[chosen], floats(table["quantile"])[chosen]
    count = floats(table["count"])[chosen]
    # The slowest request of n stands at 1 - 1/(2n): on a scale of nines, 100 % lies nowhere.
    exceeding = np.maximum(1.0 - quantile, 0.5 / max(count.max(), 1.0))
    step = max(1, len(latency) // 1500)
    indices = np.append(np.arange(0, len(latency) - 1, step), len(latency) - 1)
    # Every request takes longer than the fastest one, or as long: the curve starts at the bottom.
    return plain(latency[np.append(0, indices)]), [1.0, *plain(exceeding[indices])]


def tail_axis(lowest: float) -> dict[str, Any]:
    """A y axis that gives every further nine the same room."""
    floor = max(min(lowest, 1e-2), 1e-9)
    return axis(
        "share of requests done",
        type="log",
        range=[0.02, float(np.log10(floor)) - 0.1],
        tickvals=TAIL,
        ticktext=TAIL_TEXT,
    )


def longer(who: str) -> str:
    """Hover text of the points of a distribution."""
    return f"%{{x:,.3~r}} µs: %{{y:.2~e}} of the {who}s take longer<extra></extra>"


def distribution(table: dict[str, Any]) -> Figure | None:
    """The cumulative distribution of every kind of request."""
    data, lowest, reach = [], 1.0, []
    for op in OPS:
        points = curve(table, op)
        if points is None:
            continue
        x, y = points
        lowest = min(lowest, y[-1])
        reach += [x[0], x[-1]]
        data.append(line(x, y, op, OP_COLOURS[op], shape="hv", width=2.2, hovertemplate=longer(op)))
    if not data:
        return None
    layout = {"xaxis": latency_axis(min(reach), max(reach)), "yaxis": tail_axis(lowest), "hovermode": "closest"}
    return Figure("distribution", data, layout, "How long requests take", SAME_HEIGHT, 372)
