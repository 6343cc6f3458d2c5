"""Effect of a repair on the load: latency over time, and rates before, during and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlast.report import timeline
from outlast.report.array import DEGRADED
from outlast.report.figure import Figure, latency_axis, line
from outlast.report.numbers import Floats, micros, plain, short, text, thinned

if TYPE_CHECKING:
    from outlast.result import Result

Runs = Sequence[tuple["Result", str, str]]


def during(runs: Runs) -> Figure | None:
    """The 99th percentile of reads in each window, the time of repair shaded: a panel for each result, one scale."""
    panels = [panel for result, name, colour in runs if (panel := _panel(result, name, colour)) is not None]
    if not panels:
        return None
    reach = [each for _, values, _ in panels for each in (float(np.nanmin(values)), float(np.nanmax(values)))]
    # The gap above each panel holds its name.
    room, gap = 1.0 / len(panels), 0.22 / len(panels) if len(panels) > 1 else 0.0
    layout: dict[str, Any] = dict(timeline.OVER_TIME)
    data, shapes, names = [], [], []
    for place, (trace, _, spans) in enumerate(panels):
        number = "" if place == 0 else str(place + 1)
        top = 1.0 - place * room
        title = "latency" if len(panels) == 1 else ""
        bounds = {"domain": [max(top - room, 0.0), top - gap]}
        layout[f"yaxis{number}"] = latency_axis(min(reach), max(reach), title) | bounds
        data.append(trace | {"yaxis": f"y{number}", "showlegend": False})
        shapes += timeline.shaded([(start, end, DEGRADED) for start, end in spans], f"y{number} domain")
        if len(panels) > 1:
            label = {
                "text": f"<b>{trace['name']}</b>",
                "showarrow": False,
                "xref": "paper",
                "yref": f"y{number} domain",
            }
            names.append(label | {"x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"})
    last = "" if len(panels) == 1 else str(len(panels))
    layout["xaxis"] = layout["xaxis"] | {"anchor": f"y{last}"}
    layout |= {"shapes": shapes, "annotations": names}
    title, hint = "Read latency during the repair", "99th percentile of each window; shaded: under repair"
    return Figure("repair-latency", data, layout, title, hint, 300 if len(panels) == 1 else 80 + 130 * len(panels))


Panel = tuple[dict[str, Any], Floats, list[tuple[float, float]]]


def _panel(result: Result, name: str, colour: str) -> Panel | None:
    """The curve of one result, its values, and the times of its repairs."""
    series = _series(result)
    if series is None:
        return None
    values = np.where(series["reads"] > 0, series["read_p99_us"], np.nan)
    values = np.where(values > 0, values, np.nan)
    if not np.isfinite(values).any():
        return None
    hover = f"{text(name)}: %{{y:,.4~r}} µs"
    trace = line(timeline.middles(series), plain(values), text(name), colour, hovertemplate=hover, width=1.3)
    end = float(series["end_s"][-1])
    ends = [(repair["detected_s"], repair["finished_s"]) for repair in result.summary["repair"]]
    return trace, values, [(start, end if finish is None else min(finish, end)) for start, finish in ends]


def phases(runs: Runs) -> str:
    """Rates, latency and write amplification before, during and after."""
    rows = []
    for result, name, _ in runs:
        series = _series(result)
        if series is None:
            continue
        first = result.summary["repair"][0]["detected_s"]
        ends = [repair["finished_s"] for repair in result.summary["repair"]]
        last = float(series["end_s"][-1]) if None in ends else max(ends)
        middle = (series["start_s"] + series["end_s"]) / 2
        for label, chosen in (
            ("before", middle < first),
            ("during", (middle >= first) & (middle <= last)),
            ("after", middle > last),
        ):
            cells = _phase(series, chosen)
            if cells is None and label == "after":
                why = "the load ended before the repair did"
                rows.append(f'<tr><td>{text(name)}</td><td>after</td><td colspan="4" class="muted">{why}</td></tr>')
            elif cells is not None:
                rows.append(
                    f"<tr><td>{text(name)}</td><td>{label}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
                )
    if not rows:
        return ""
    head = "".join(
        f"<th>{name}</th>"
        for name in ("", "", "IOPS", "read latency, mean", "highest 99th percentile of a window", "write amplification")
    )
    return (
        f'<div class="card scroll whole"><h3>Before, during and after</h3><table class="figures">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _phase(series: dict[str, Floats], chosen: Any) -> tuple[str, ...] | None:
    if not chosen.any():
        return None
    span = float((series["end_s"] - series["start_s"])[chosen].sum())
    reads = series["reads"][chosen]
    count = float((reads + series["writes"][chosen]).sum())
    mean = float(np.nansum(np.nan_to_num(series["read_mean_us"][chosen]) * reads) / max(float(reads.sum()), 1.0))
    worst = series["read_p99_us"][chosen & (series["reads"] > 0)]
    host = series["write_mib"][chosen]
    factor = np.nansum(np.nan_to_num(series["write_amplification"][chosen]) * host) / max(float(host.sum()), 1e-12)
    return (
        short(count / span),
        micros(mean),
        micros(float(worst.max()) if len(worst) else None),
        "–" if not host.any() else f"{factor:.3f}",
    )


def _series(result: Result) -> dict[str, Floats] | None:
    rows = dict(result.tables.get("timeseries", {}))
    return thinned(rows) if rows and len(rows["start_s"]) > 1 else None
