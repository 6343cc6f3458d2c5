"""Throughput against latency within one run: of jobs that run one after another, or of windows whose load varies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from outlast.report.figure import OP_COLOURS, Figure, axis, latency_axis
from outlast.report.names import written
from outlast.report.numbers import Floats, plain, share, text
from outlast.report.page import Section
from outlast.report.tiles import Series

OPS = ("read", "write")
JOB_KEYS = (("p50", "median", "dot"), ("p99", "99th percentile", "solid"))
FEWEST_JOBS = 2
FEWEST_WINDOWS = 12
"""Windows of which a curve can be made."""
FEWEST_OF_A_STEP = 3
"""Windows without which a step is no point of the curve."""
GAP, WIDEST = 0.04, 0.15
"""Shares of the highest throughput: windows further apart belong to two steps, and a step is no wider."""
VARIES = 1.5
"""Ratio of the 95th percentile of throughput over windows to the 5th, from which on the load counts as varying."""


def section(summary: dict[str, Any], series: Series | None) -> Section:
    """The part of the page; empty where the load does not vary."""
    part = Section("load", "Throughput and latency")
    jobs = summary["host"].get("jobs") or []
    for op in OPS:
        figure = of_jobs(jobs, op)
        if figure is None and series is not None and _is_meant(summary["scenario"]):
            figure = of_windows(series, op)
        if figure is not None:
            part.add(figure)
    return part


def of_jobs(jobs: Sequence[dict[str, Any]], op: str) -> Figure | None:
    """A point for each job that had the drive for itself, such as those of a ramp of queue depths with `stonewall`."""
    in_turn = sorted(jobs, key=lambda job: job["begin_s"])
    measured = [job for job in in_turn if (job.get(op) or {}).get("latency_us")]
    # To the microsecond: the next job begins at the very end of the one before.
    is_alone = all(
        before["begin_s"] + before["runtime_s"] <= after["begin_s"] + 1e-6 for before, after in pairwise(jobs)
    )
    if len(measured) < FEWEST_JOBS or not is_alone:
        return None
    measured.sort(key=lambda job: job[op]["iops"])
    rates = [job[op]["iops"] for job in measured]
    data: list[dict[str, Any]] = []
    for key, name, dash in JOB_KEYS:
        values = [job[op]["latency_us"][key] for job in measured]
        hover = [
            f"{text(job['name'])}<br>{written('throughput.iops', rate)} IOPS, {written(f'latency_us.{op}.{key}', each)}"
            for job, rate, each in zip(measured, rates, values, strict=True)
        ]
        data.append(_trace(op, rates, values, name, dash) | {"text": hover, "hovertemplate": "%{text}<extra></extra>"})
    return _figure(op, data, "a point for each job")


def _is_meant(scenario: dict[str, Any]) -> bool:
    """True if the load varies by itself: a trace, or phases of different rates."""
    workload = scenario.get("workload") or {}
    synthetic = workload.get("synthetic") or {}
    rates = {phase.get("rate_iops", synthetic.get("rate_iops")) for phase in synthetic.get("phases") or []}
    return bool(workload.get("trace")) or len(rates) > 1


def of_windows(series: Series, op: str) -> Figure | None:
    """The mean latency of `op` by the throughput of the window, and that of each window behind it."""
    rate = share(series["reads"] + series["writes"] + series["trims"], series["end_s"] - series["start_s"])
    count, mean = series[f"{op}s"], series[f"{op}_mean_us"]
    known = (count > 0) & (mean > 0) & np.isfinite(rate)
    if known.sum() < FEWEST_WINDOWS:
        return None
    rate, count, mean = rate[known], count[known], mean[known]
    low, high = np.quantile(rate, (0.05, 0.95))
    if high < VARIES * low:
        return None
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": plain(rate),
        "y": plain(mean),
        "name": "each window",
        "marker": {"color": OP_COLOURS[op], "size": 4, "opacity": 0.35},
        "hovertemplate": "%{x:,.4~s} IOPS, %{y:,.4~r} µs<extra></extra>",
    }
    at, latency = steps(rate, count, mean)
    curve = _trace(op, plain(at), plain(latency), "mean", "solid")
    curve |= {"hovertemplate": "%{x:,.4~s} IOPS, %{y:,.4~r} µs<extra></extra>"}
    return _figure(op, [points, curve], "windows of the run; the curve joins those of similar throughput")


def steps(rate: Floats, count: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Throughput and mean latency over all requests of windows of similar throughput, least first."""
    order, most = np.argsort(rate, kind="stable"), float(np.max(rate))
    gaps = np.flatnonzero(np.diff(rate[order]) > GAP * most) + 1
    at, latency = [], []
    for group in np.split(order, gaps):
        low, width = rate[group[0]], rate[group[-1]] - rate[group[0]]
        parts = max(1, int(np.ceil(width / (WIDEST * most))))
        number = np.minimum((rate[group] - low) / (width or 1.0) * parts, parts - 1).astype(int)
        for part in np.unique(number):
            own = group[number == part]
            if len(own) < FEWEST_OF_A_STEP:
                continue
            at.append(float(np.mean(rate[own])))
            latency.append(float(np.sum(count[own] * mean[own]) / np.sum(count[own])))
    return np.array(at), np.array(latency)


def _trace(op: str, x: Sequence[Any], y: Sequence[Any], name: str, dash: str) -> dict[str, Any]:
    colour = OP_COLOURS[op]
    line = {"color": colour, "width": 1.8, "dash": dash}
    marker = {"color": colour, "size": 6}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(x),
        "y": list(y),
        "name": name,
        "line": line,
        "marker": marker,
    }


def _figure(op: str, data: list[dict[str, Any]], hint: str) -> Figure:
    reach = [value for trace in data for value in trace["y"] if value]
    layout = {
        "xaxis": axis("IOPS reached", tickformat="~s", rangemode="tozero"),
        "yaxis": latency_axis(min(reach), max(reach), f"{op} latency"),
        "hovermode": "closest",
    }
    return Figure(f"load-{op}", data, layout, f"{op.capitalize()}s", hint, 400)
