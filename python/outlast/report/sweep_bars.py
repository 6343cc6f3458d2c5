"""Charts of a sweep over a few choices without an order, such as RAID levels: small bars with their values."""

from __future__ import annotations

import math
from typing import Any

from outlast.report.figure import RUN_COLOURS, Figure, axis
from outlast.report.names import heading, titled, words
from outlast.report.names import setting as in_words
from outlast.report.numbers import plain, text
from outlast.report.page import Section
from outlast.report.sweep_points import shown_figures, value
from outlast.sweeps import figures

MOST_CHOICES = 12
"""Bars that are named in one chart."""
LARGE_RATIO = 100
"""Ratio of means beyond which a linear bar would show nothing of the smaller ones."""


def is_choice(summary: dict[str, Any]) -> bool:
    """True if one setting varies and its values are names."""
    varied = summary["sweep"]["vary"]
    if len(varied) != 1 or not 1 < len(summary["points"]) <= MOST_CHOICES:
        return False
    setting = figures.called(varied[0])
    values = [point["values"][setting] for point in summary["points"]]
    return any(isinstance(each, (str, bool)) and not str(each)[:1].isdigit() for each in values)


def constant(summary: dict[str, Any]) -> list[str]:
    """The figures that read the same at every point of several, of which a chart would be a flat line."""
    points = summary["points"]
    if len(points) < 2:
        return []
    return [name for name in shown_figures(summary) if _reads_the_same(points, name)]


def _reads_the_same(points: list[dict[str, Any]], name: str) -> bool:
    """True if a figure has one text at all points; two that differ end the search."""
    first = value(name, points[0]["figures"][name])
    return all(value(name, point["figures"][name]) == first for point in points)


def same(summary: dict[str, Any]) -> Section:
    """The constant figures as a list."""
    section = Section("same", "The same at every point", columns="one")
    lines = [
        f"<li>{text(words(name))}: <b>{text(value(name, summary['points'][0]['figures'][name]))}</b></li>"
        for name in constant(summary)
    ]
    return section.add(f'<div class="card notes"><ul>{"".join(lines)}</ul></div>' if lines else None)


def section(summary: dict[str, Any], names: list[str]) -> Section:
    """A chart for each figure, two beside each other."""
    setting = figures.called(summary["sweep"]["vary"][0])
    found = Section("choices", f"By {in_words(setting)}")
    for name in names:
        found.add(_bars(summary, name, setting))
    return found


def _bars(summary: dict[str, Any], name: str, setting: str) -> Figure | None:
    points = [point for point in summary["points"] if point["figures"][name]["mean"] is not None]
    if not points:
        return None
    means = [point["figures"][name]["mean"] for point in points]
    halves = [point["figures"][name]["half"] or 0.0 for point in points]
    labels = [text(str(point["values"][setting])) for point in points]
    said = [text(value(name, point["figures"][name])) for point in points]
    is_log = min(means) > 0 and max(means) / min(means) > LARGE_RATIO
    colours = [RUN_COLOURS[index % len(RUN_COLOURS)] for index in range(len(points))]
    trace: dict[str, Any] = {"x": plain(means), "y": labels, "text": said, "marker": {"color": colours}}
    if is_log:
        # A bar has no beginning on a logarithmic axis.
        trace |= {"type": "scatter", "mode": "markers+text", "textposition": "top center", "cliponaxis": False}
        trace["marker"] |= {"size": 10}
    else:
        trace |= {"type": "bar", "orientation": "h", "textposition": "auto"}
    if any(halves):
        trace["error_x"] = {"type": "data", "array": plain(halves), "thickness": 1.2, "width": 4}
    trace["hovertemplate"] = "%{y}: %{text}<extra></extra>"
    across = axis(text(titled(name)), exponentformat="power", rangemode="tozero")
    if is_log:
        low, high = math.log10(min(means)), math.log10(max(means))
        room = 0.15 * (high - low)
        across = axis(text(titled(name)), type="log", exponentformat="power", range=[low - room, high + room])
    layout = {"xaxis": across, "yaxis": {"type": "category", "autorange": "reversed", "automargin": True}}
    height = 96 + 36 * len(points)
    return Figure(f"{name.replace('.', '-')}-0", [trace], layout, text(heading(name)), height=height)
