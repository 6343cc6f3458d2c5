"""Queueing: requests in flight, how busy channels and dies were, Little's law."""

from __future__ import annotations

from typing import Any

from outlast.report.figure import READ, Figure, axis, line
from outlast.report.names import tip
from outlast.report.numbers import Floats, micros, percent, plain, short
from outlast.report.tables import rows_card
from outlast.report.timeline import OVER_TIME, middles

EXACT = 1e-9
"""Relative rounding error allowed between sums that are equal in exact arithmetic."""


def in_flight(series: dict[str, Floats]) -> Figure:
    """Mean number of requests between arrival and completion."""
    hover = "%{y:,.4~r} in flight"
    trace = line(middles(series), plain(series["in_flight_mean"]), "in flight", READ, hovertemplate=hover)
    trace |= {"fill": "tozeroy", "fillcolor": "var:--read-soft"}
    layout = OVER_TIME | {"yaxis": axis("requests in flight", rangemode="tozero"), "showlegend": False}
    return Figure("in-flight", [trace], layout, "Requests in flight", "mean of each window")


def utilisation(queue: dict[str, Any]) -> Figure | None:
    """The share of time that each channel was busy, and the spread over dies."""
    channels, dies = queue.get("channel_utilisation") or [], queue.get("die_utilisation")
    if not channels:
        return None
    names = [f"ch {number}" for number in range(len(channels))]
    hover = "%{x}: %{y:.1%} busy<extra></extra>"
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "x": names,
            "y": plain(channels),
            "marker": {"color": "var:--read"},
            "name": "channels",
            "hovertemplate": hover,
        }
    ]
    if dies and dies.get("mean") is not None:
        low, mean, high = dies["min"], dies["mean"], dies["max"]
        data.insert(
            0,
            {
                "type": "bar",
                "x": ["dies"],
                "y": [mean],
                "marker": {"color": "var:--trim"},
                "name": "dies (mean, min to max)",
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [high - mean],
                    "arrayminus": [mean - low],
                    "color": "var:--ink",
                    "thickness": 1.2,
                    "width": 5,
                },
                "hovertemplate": f"dies: {mean:.1%} busy on average, {low:.1%} to {high:.1%}<extra></extra>",
            },
        )
    layout = {
        "yaxis": axis("busy", tickformat=".0%", range=[0, 1.02]),
        "xaxis": {"showgrid": False, "tickangle": 0},
        "bargap": 0.25,
        "hovermode": "closest",
    }
    return Figure("utilisation", data, layout, "Channels and dies", "share of the time that each was busy")


def littles_law(queue: dict[str, Any]) -> str:
    """Little's law as a check of the run's own book-keeping."""
    law = queue.get("littles_law") or {}
    if law.get("l") is None or law.get("lambda_w") is None:
        return ""
    error = abs(law.get("relative_error") or 0.0)
    mark, word = ("good", "holds") if error <= 0.01 else ("warn", "is off")
    return (
        f'<p class="law"><span class="badge {mark}">Little’s law {word}</span> mean in flight '
        f"<b>{short(law['l'], 4)}</b> = arrival rate × mean time in the drive <b>{short(law['lambda_w'], 4)}</b> "
        f'<span class="muted">({"exactly" if error < EXACT else f"off by {percent(error, 2)}"})</span></p>'
    )


QUEUE_COLUMNS = ("queue", "class", "", "requests", "mean", "99 %", "99.9 %")


def queue_table(summary: dict[str, Any]) -> str:
    """Card of latencies by submission queue; empty where the drive has one queue for all."""
    rows = []
    for queue in summary.get("queues", ()):
        for op in ("read", "write"):
            if (latency := queue[op]) is not None:
                times = (micros(latency[key]) for key in ("mean", "p99", "p99_9"))
                rows.append((str(queue["queue"]), queue.get("class", "equal"), op, short(latency["count"]), *times))
    figures = ("queue", "class", "", "requests", "read.mean", "read.p99", "read.p99_9")
    heads = [tip(f"queues[0].{name}") if name else "" for name in figures]
    return rows_card("Latency by submission queue", QUEUE_COLUMNS, rows, wide=True, heads=heads)
