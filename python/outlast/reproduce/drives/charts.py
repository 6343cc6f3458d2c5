"""Curves of latency against load: measured as points and thin lines, simulated as lines."""

from __future__ import annotations

from typing import Any

from outlast.report.figure import READ, WRITE, axis
from outlast.report.figure import Figure as Chart
from outlast.reproduce.drives.common import Drive
from outlast.reproduce.model import Table

WORDS = {"50": "Median", "99": "99th percentile", "99.9": "Percentile of 99.9"}


def of_drive(drive: Drive, table: Table) -> list[Chart]:
    """A chart for each percentile."""
    return [_curves(drive, table, percentile) for percentile in WORDS]


def _curves(drive: Drive, table: Table, percentile: str) -> Chart:
    data: list[dict[str, Any]] = []
    for kind, letter, colour in (("reads", "r", READ), ("writes", "w", WRITE)):
        for who, style in (("measured", "dot"), ("simulated", "solid")):
            own: dict[str, Any] = {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{kind}, {who}",
                "x": [row["asked"] / 1000 for row in table.rows],
                "y": [float(f"{row[f'{letter}{percentile} {who}']:.5g}") for row in table.rows],
                "line": {"color": colour, "width": 1.5 if who == "measured" else 2.5, "dash": style},
                "marker": {
                    "symbol": "circle-open" if who == "measured" else "circle",
                    "size": 7 if who == "measured" else 5,
                },
                "hovertemplate": f"{kind}, {who}, %{{x:.0f}} k/s: %{{y:.4g}} µs<extra></extra>",
            }
            data.append(own)
    layout = {
        "xaxis": axis("thousand writes/s that are asked for", rangemode="tozero"),
        "yaxis": axis("µs", type="log"),
        "hovermode": "closest",
    }
    return Chart(
        f"{drive.key}-{percentile.replace('.', '-')}", data, layout, f"{WORDS[percentile]}: {drive.name}", "", 320
    )
