"""Curves of latency against load: measured as points and thin lines, simulated as lines."""

from __future__ import annotations

from typing import Any

from outlast.products.reproduce.drives.common import Drive
from outlast.products.reproduce.model import Table
from outlast.report.figure import READ, WRITE, axis
from outlast.report.figure import Figure as Chart

STYLES = (("measured", "dot", 1.5, "circle-open", 7), ("simulated", "solid", 2.5, "circle", 5))
WORDS = {"50": "Median", "99": "99th percentile", "99.9": "99.9th percentile"}


def of_drive(drive: Drive, table: Table) -> list[Chart]:
    """A chart for each percentile."""
    return [_curves(drive, table, percentile) for percentile in WORDS]


def _curves(drive: Drive, table: Table, percentile: str) -> Chart:
    data: list[dict[str, Any]] = []
    for kind, letter, colour in (("reads", "r", READ), ("writes", "w", WRITE)):
        for who, dash, width, symbol, size in STYLES:
            values = [row[f"{letter}{percentile} {who}"] for row in table.rows]
            data.append(
                {"type": "scatter", "mode": "lines+markers", "name": f"{kind}, {who}"}
                | {"x": [row["asked"] / 1000 for row in table.rows], "y": [float(f"{own:.5g}") for own in values]}
                | {"line": {"color": colour, "width": width, "dash": dash}, "marker": {"symbol": symbol, "size": size}}
                | {"hovertemplate": f"{kind}, {who}, %{{x:.0f}} k/s: %{{y:.4g}} µs<extra></extra>"}
            )
    layout = {
        "xaxis": axis("offered load, thousand writes/s", rangemode="tozero"),
        "yaxis": axis("µs", type="log"),
        "hovermode": "closest",
    }
    return Chart(
        f"{drive.key}-{percentile.replace('.', '-')}", data, layout, f"{WORDS[percentile]}: {drive.name}", "", 320
    )
