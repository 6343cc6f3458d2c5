"""Charts over simulated time: throughput, latency and write amplification; preconditioning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from outlast.causes import MEMBERS
from outlast.report.figure import CAUSES, OP_COLOURS, READ, WRITE, Figure, axis, latency_axis, line
from outlast.report.numbers import Floats, plain, share, short

TIME_AXIS = axis("simulated time, s")
LEVEL = "level once steady"
USUAL, FAR = 1.3, 1.5
"""An axis of write amplification ends at so many times its 95th percentile by bytes, if the maximum is far beyond."""
OVER_TIME = {"xaxis": TIME_AXIS, "hovermode": "x unified"}
Shade = tuple[float, float, str]
"""A span of time, in seconds, and the colour behind it."""


def shaded(spans: Sequence[Shade], y_ref: str = "y domain") -> list[dict[str, Any]]:
    """Spans of time as shapes behind the curves of one chart."""
    box = {"type": "rect", "xref": "x", "yref": y_ref, "y0": 0, "y1": 1, "opacity": 0.16, "line": {"width": 0}}
    return [box | {"x0": start, "x1": end, "fillcolor": colour} for start, end, colour in spans]


def middles(series: dict[str, Floats]) -> list[Any]:
    """The middle of each window, in seconds."""
    return plain((series["start_s"] + series["end_s"]) / 2, 7)


def _spans(series: dict[str, Floats]) -> Floats:
    return series["end_s"] - series["start_s"]


def throughput(series: dict[str, Floats]) -> Figure:
    """Requests per second, reads and writes stacked."""
    x, span = middles(series), _spans(series)
    data = []
    for op in ("read", "write", "trim"):
        rate = share(series[f"{op}s"], span)
        if np.nansum(rate) == 0:
            continue
        trace = line(x, plain(rate), op, OP_COLOURS[op], width=1.1, stackgroup="one", hovertemplate="%{y:,.4~s}")
        data.append(trace)
    layout = OVER_TIME | {"yaxis": axis("requests per second", rangemode="tozero", tickformat="~s")}
    return Figure("throughput", data, layout, "Throughput", "reads and writes stacked")


def bandwidth(series: dict[str, Floats]) -> Figure:
    """MiB per second by direction."""
    x, span = middles(series), _spans(series)
    data = [
        line(x, plain(share(series[f"{op}_mib"], span)), op, OP_COLOURS[op], hovertemplate="%{y:,.4~r} MiB/s")
        for op in ("read", "write")
        if series[f"{op}s"].any()
    ]
    layout = OVER_TIME | {"yaxis": axis("MiB/s", rangemode="tozero")}
    return Figure("bandwidth", data, layout, "Bandwidth")


def latency_over_time(
    series: dict[str, Floats], *, joined: bool = False, spans: Sequence[Shade] = (), shades: str = ""
) -> Figure | None:
    """Median and 99th percentile of each window, on a logarithmic scale; `shades` says what the shaded spans are."""
    x, data = middles(series), []
    reach: list[float] = []
    for op, colour in (("read", READ), ("write", WRITE)):
        active = series[f"{op}s"] > 0
        if not active.any():
            continue
        for key, label, dash, width in (("p50", "median", "dot", 1.3), ("p99", "99 %", "solid", 1.8)):
            values = np.where(active, series[f"{op}_{key}_us"], np.nan)
            values = np.where(values > 0, values, np.nan)
            if not np.isfinite(values).any():
                continue
            reach += [float(np.nanmin(values)), float(np.nanmax(values))]
            hover = "%{y:,.4~r} µs"
            data.append(line(x, plain(values), f"{op} {label}", colour, dash=dash, width=width, hovertemplate=hover))
    if not data:
        return None
    layout = OVER_TIME | {"yaxis": latency_axis(min(reach), max(reach)), "shapes": shaded(spans)}
    hint = "; ".join(part for part in ("joined windows show their worst" if joined else "", shades) if part)
    return Figure("latency-time", data, layout, "Latency over time", hint)


def rolling(values: Floats, weights: Floats) -> tuple[Floats, int]:
    """The weighted mean of the windows around each, and their number: a fifteenth of the run."""
    width = len(values) // 15 | 1
    known = np.isfinite(values) & np.isfinite(weights)
    kernel = np.ones(width)
    total = np.convolve(np.where(known, weights, 0.0), kernel, mode="same")
    return share(np.convolve(np.where(known, values * weights, 0.0), kernel, mode="same"), total), width


def amplification(
    series: dict[str, Floats],
    unit_bytes: float,
    closed_form: float | None,
    *,
    array: bool = False,
    coalesces: bool = False,
) -> Figure | None:
    """Bytes programmed for each byte that the host wrote, stacked by cause, with the closed form beside it."""
    host = series["write_mib"] * 2**20
    if not host.any():
        return None
    # A window with hardly a write says nothing about a ratio.
    host = np.where(host >= 0.02 * host.max(), host, np.nan)
    parts = _parts(series, host, unit_bytes, array=array, coalesces=coalesces)
    x, span, data = middles(series), _spans(series), []
    # Stacked bars and not areas: these would fall to 0 where a window is left out.
    width = plain(span) if np.ptp(span) > 1e-3 * span.max() else float(f"{span[0]:.5g}")
    for cause, values in parts.items():
        label, colour = CAUSES[cause]
        if cause == "host" or np.nansum(values) > 0:
            bar = {"type": "bar", "x": x, "y": plain(values), "width": width, "name": label}
            data.append(bar | {"marker": {"color": colour, "line": {"width": 0}}, "hovertemplate": "%{y:.3f}"})
    if closed_form is not None:
        ends = [x[0], x[-1]]
        hover = "%{y:.3f}"
        name = "closed form, greedy" + (", without parity" if np.nansum(parts.get("parity", 0.0)) else "")
        data.append(line(ends, [closed_form] * 2, name, "var:--ink", dash="dash", hovertemplate=hover))
    total = np.where(np.isfinite(host), np.nansum(list(parts.values()), axis=0), np.nan)
    smooth, windows = rolling(total, host)
    if windows > 1:
        name = f"mean of {windows} windows"
        data.append(line(x, plain(smooth), name, "var:--ink", width=1.6, hovertemplate="%{y:.3f}"))
    most, top = float(np.nanmax(total)), _top(total, host, closed_form)
    limits = {"rangemode": "tozero"} if top is None else {"range": [0, top]}
    cut = "" if top is None else f"; the axis ends here; windows with few writes reach {short(most)}"
    hint = f"stacked by cause{cut}"
    y_axis = axis("bytes programmed per byte written", **limits)
    layout = OVER_TIME | {"yaxis": y_axis, "barmode": "stack", "bargap": 0}
    return Figure("amplification", data, layout, "Write amplification over time", hint, 320)


def _top(total: Floats, host: Floats, closed_form: float | None) -> float | None:
    """The end of an axis that a few windows with little to write would make too long; `None` where it fits all."""
    known = np.isfinite(total)
    order = np.argsort(total[known])
    values, weights = total[known][order], np.cumsum(host[known][order])
    usual = float(values[np.searchsorted(weights, 0.95 * weights[-1])])
    top = max(USUAL * usual, 1.05 * (closed_form or 0.0))
    return top if values[-1] > FAR * top else None


def _parts(
    series: dict[str, Floats], host: Floats, unit_bytes: float, *, array: bool, coalesces: bool
) -> dict[str, Floats]:
    """Bytes programmed of each cause for each byte of `host`; not a number where that is none."""
    parts = {
        "host": np.where(np.isfinite(host), 1.0, np.nan),
        "partial_write": series["partial_write_bytes"] / host,
    }
    # Results of earlier versions lack some columns, and had nothing in them, or only the sum over a group.
    for group, names in MEMBERS.items():
        columns = [f"{name}_units" for name in names if f"{name}_units" in series] or [f"{group}_units"]
        units = [series[column] for column in columns if column in series]
        if group != "host" and units:
            parts[group] = np.sum(units, axis=0) * unit_bytes / host
    if coalesces:
        parts["host"] = series["host_units"] * unit_bytes / host - parts["partial_write"]
    if array:
        beside = series["host_units"] * unit_bytes / host - 1.0 - parts["partial_write"]
        parts["array"] = np.where(np.isfinite(host), np.maximum(beside, 0.0), np.nan)
    return parts


def preconditioning(
    rounds: dict[str, Any], facts: dict[str, Any], closed_form: float | None, *, parity: bool = False
) -> Figure | None:
    """Write amplification of each round of overwrites; with parity, of which the closed form knows nothing."""
    if not rounds or not len(rounds["drive_writes"]):
        return None
    x, y = plain(rounds["drive_writes"]), plain(rounds["write_amplification"])
    trace = line(x, y, "round", WRITE, hovertemplate="after %{x:.2f} drive writes: %{y:.3f}<extra></extra>")
    trace |= {"mode": "lines+markers", "marker": {"size": 6, "color": WRITE}}
    data, level = [trace], facts.get("write_amplification")
    if facts.get("reached") and level is not None:
        style = {"width": 1.2, "dash": "dash", "hovertemplate": f"{LEVEL} %{{y:.3f}}<extra></extra>"}
        data.append(line([x[0], x[-1]], [level] * 2, LEVEL, "var:--good", **style))
    if closed_form is not None:
        name = "closed form, without parity" if parity else "closed form"
        hover = f"{name} %{{y:.3f}}<extra></extra>"
        data.append(line([x[0], x[-1]], [closed_form] * 2, name, "var:--ink", dash="dash", hovertemplate=hover))
    layout = {
        "xaxis": axis("drive writes"),
        "yaxis": axis("write amplification of the round", rangemode="tozero"),
        "hovermode": "closest",
    }
    return Figure("preconditioning", data, layout, "Preconditioning", "until it is steady", 320)
