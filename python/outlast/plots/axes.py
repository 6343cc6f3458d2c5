"""Axes of a printed chart: scales, ranges, ticks, and what lies behind the series."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from outlast.plots.style import matplotlib
from outlast.plots.words import plain_text

LARGE, SMALL = 1e6, 1e-4
"""Limits of the numbers that an axis has in full."""


def set_axis(axes: Any, which: str, settings: Mapping[str, Any], names: Mapping[str, int]) -> None:
    """Applies the settings of the report's x or y axis; `names` are places of bars that have names."""
    log = settings.get("type") == "log"
    of_axes = {"x": axes.xaxis, "y": axes.yaxis}[which]
    if log:
        getattr(axes, f"set_{which}scale")("log")
    if title := plain_text(settings.get("title", {}).get("text", "")):
        getattr(axes, f"set_{which}label")(title)
    _ticks(of_axes, settings, names, log)
    set_limits = getattr(axes, f"set_{which}lim")
    if (ends := settings.get("range")) is not None:
        set_limits(*(10.0**end if log else end for end in ends))
    elif settings.get("rangemode") == "tozero" and not log:
        low, high = getattr(axes, f"get_{which}lim")()
        # A marker at the end would be cut in half.
        end = float(getattr(axes.dataLim, f"{which}1"))
        set_limits(min(low, 0.0), max(high, 1.04 * end) if isfinite(end) else high)
    if settings.get("autorange") == "reversed":
        low, high = getattr(axes, f"get_{which}lim")()
        set_limits(max(low, high), min(low, high))
    axes.grid(settings.get("showgrid", True), axis=which)


def _ticks(axis: Any, settings: Mapping[str, Any], names: Mapping[str, int], log: bool) -> None:
    ticker = matplotlib("matplotlib.ticker")
    if (places := settings.get("tickvals")) is not None:
        places = [
            names.get(plain_text(place), index) if isinstance(place, str) else place
            for index, place in enumerate(places)
        ]
        axis.set_major_locator(ticker.FixedLocator(places))
        axis.set_minor_locator(ticker.NullLocator())
        if (words := settings.get("ticktext")) is not None:
            axis.set_major_formatter(ticker.FixedFormatter([plain_text(word) for word in words]))
        return
    if (step := settings.get("dtick")) is not None and not log:
        axis.set_major_locator(ticker.MultipleLocator(float(step)))
    wanted = settings.get("tickformat", "")
    if wanted.endswith("%"):
        axis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
    elif wanted.endswith("s"):
        axis.set_major_formatter(ticker.EngFormatter(sep=""))
    elif not wanted and not log and not names:
        _plain_numbers(axis, ticker)
    if settings.get("showticklabels") is False:
        axis.set_tick_params(labelleft=False, labelbottom=False)


def _plain_numbers(axis: Any, ticker: Any) -> None:
    """Writes numbers whole: matplotlib sets the power of ten of large and small ones apart, where the legend is."""
    largest = max(map(abs, axis.get_view_interval()))
    if largest >= LARGE:
        axis.set_major_formatter(ticker.EngFormatter(sep=""))
    elif 0.0 < largest < SMALL:
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:.3g}"))


def draw_shapes(axes: Any, layout: Mapping[str, Any], y_name: str, colour: Any) -> None:
    """Lines and shaded spans of the report's chart, and words at points of it."""
    for shape in layout.get("shapes", ()):
        if not _is_on(shape.get("yref", "y"), y_name):
            continue
        style = shape.get("line", {})
        if shape["type"] == "rect":
            axes.axvspan(shape["x0"], shape["x1"], color=colour(shape["fillcolor"]), alpha=0.16, linewidth=0)
        elif shape["y0"] == shape["y1"]:
            axes.axhline(shape["y0"], color=colour(style.get("color")), linestyle="--", linewidth=0.8)
        else:
            axes.axvline(shape["x0"], color=colour(style.get("color")), linestyle="--", linewidth=0.8)
    blended_transform_factory = matplotlib("matplotlib.transforms").blended_transform_factory
    for note in layout.get("annotations", ()):
        if "x" in note and "y" in note and _is_on(note.get("yref", "y"), y_name):
            across = axes.transAxes if note.get("xref") == "paper" else axes.transData
            up = axes.transAxes if str(note.get("yref", "y")).endswith("domain") else axes.transData
            place = blended_transform_factory(across, up)
            aligned = {"ha": note.get("xanchor", "center"), "va": note.get("yanchor", "bottom")}
            axes.text(note["x"], note["y"], plain_text(note["text"]), transform=place, **aligned)


def _is_on(reference: str, y_name: str) -> bool:
    """True if a shape belongs to the axes of this name: `y2` and `y2 domain` to `y2`, `paper` to the first."""
    name = reference.split(" ")[0]
    return name == y_name or (name == "paper" and y_name == "y")
