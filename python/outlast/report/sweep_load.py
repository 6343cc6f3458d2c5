"""Throughput against latency, where a sweep varies the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlast.report.figure import RUN_COLOURS, Figure, axis, latency_axis
from outlast.report.names import written
from outlast.report.numbers import plain, text
from outlast.report.page import Section
from outlast.report.sweep_points import LOADS, Point, place
from outlast.sweeps import figures
from outlast.sweeps.statistics import mean_of

if TYPE_CHECKING:
    from outlast.sweeps.result import Sweep

IOPS = "throughput.iops"
KEYS = (("p50", "median", "dot"), ("p99", "99th percentile", "solid"))
OPS = ("read", "write")
FIGURES = (IOPS, *(f"latency_us.{op}.{key}" for op in OPS for key, _, _ in KEYS))
MOST_CURVES = 6


def load_axis(summary: dict[str, Any]) -> str | None:
    """The axis that varies the load, by its name; `None` where there is none."""
    for each in summary["sweep"]["vary"]:
        setting = str(each.get("setting", ""))
        if setting.startswith("workload.") and setting.endswith(LOADS):
            return figures.called(each)
    return None


def completed(sweep: Sweep, points: list[Point]) -> list[Point]:
    """Points of a sweep; where the load varies, with the figures of this chart, too."""
    summary = sweep.summary
    if load_axis(summary) is None or not {IOPS, "point"} <= set(sweep.columns):
        return points
    points = [point | {"figures": dict(point["figures"])} for point in points]
    rows_of_point: dict[int, list[int]] = {point["point"]: [] for point in points}
    for row, number in enumerate(sweep.columns["point"]):
        if (rows := rows_of_point.get(int(number))) is not None:
            rows.append(row)
    for name in FIGURES:
        column = sweep.columns.get(name)
        if column is None:
            continue
        for point in points:
            values = [column[row] for row in rows_of_point[point["point"]]]
            known = [float(value) for value in values if value is not None and value == value]
            point["figures"].setdefault(name, vars(mean_of(known, summary["sweep"]["confidence"])))
    return points


def section(summary: dict[str, Any]) -> Section:
    """The part of the page; empty where the load does not vary."""
    part, load = Section("load", "Throughput and latency"), load_axis(summary)
    if load is not None:
        for op in OPS:
            part.add(curve(summary, load, op))
    return part


def _mean(point: Point, name: str) -> float | None:
    value: float | None = (point["figures"].get(name) or {}).get("mean")
    return value


def curve(summary: dict[str, Any], load: str, op: str) -> Figure | None:
    """Latency over the throughput that was reached, a curve for each choice of all else that varies."""
    groups: dict[str, list[Point]] = {}
    for point in summary["points"]:
        others = {name: value for name, value in point["values"].items() if name != load}
        groups.setdefault(place({"values": others}), []).append(point)
    data: list[dict[str, Any]] = []
    reach: list[float] = []
    for number, (other_axes, points) in enumerate(list(groups.items())[:MOST_CURVES]):
        colour = RUN_COLOURS[number % len(RUN_COLOURS)]
        for key, percentile, dash in KEYS:
            trace = _trace(points, f"latency_us.{op}.{key}", load)
            if trace is None:
                continue
            reach += trace["y"]
            name = f"{other_axes}, {percentile}" if other_axes else percentile
            line = {"color": colour, "width": 1.8, "dash": dash}
            data.append(trace | {"line": line, "marker": {"color": colour, "size": 6}, "name": text(name)})
    if not data:
        return None
    layout = {
        "xaxis": axis("IOPS reached", tickformat="~s", rangemode="tozero"),
        "yaxis": latency_axis(min(reach), max(reach), f"{op} latency"),
        "hovermode": "closest",
    }
    left = len(groups) - MOST_CURVES
    hint = f"{left} more combinations are not drawn" if left > 0 else "one point for each load"
    return Figure(f"load-{op}", data, layout, f"{op.capitalize()}s", hint, 400)


def _trace(points: list[Point], name: str, load: str) -> dict[str, Any] | None:
    known = [
        (point, iops, latency)
        for point in points
        if (iops := _mean(point, IOPS)) is not None and (latency := _mean(point, name)) is not None and latency > 0
    ]
    if not known:
        return None
    hover = [text(place({"values": {load: point["values"][load]}})) for point, _, _ in known]
    reached = [f"{written(IOPS, iops)} IOPS, {written(name, latency)}" for _, iops, latency in known]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": plain([iops for _, iops, _ in known]),
        "y": plain([latency for _, _, latency in known]),
        "text": [f"{one}<br>{two}" for one, two in zip(hover, reached, strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }
