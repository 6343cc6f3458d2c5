"""Axes of a printed chart: scales, ranges, ticks, and what lies behind the series."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from outlast.plots.style import matplotlib
from outlast.plots.words import plain_text


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
        set_limits(min(low, 0.0) if low < 0 else 0.0, high)
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


def fit_labels(axes: Any, *, named: bool) -> None:
    """Keeps labels of the x axis from touching: names are turned, of numbers only each second, third, … stays.

    The figure has been laid out; a label needs half a letter of room on each side.
    """
    ticker = matplotlib("matplotlib.ticker")
    places, labels = list(axes.get_xticks()), axes.get_xticklabels()
    low, high = sorted(axes.get_xlim())
    shown = [i for i, at in enumerate(places) if low <= at <= high and labels[i].get_text()]
    boxes = {i: labels[i].get_window_extent() for i in shown}

    def touch(step: int) -> bool:
        kept = sorted((boxes[i] for i in shown[::step]), key=lambda box: box.x0)
        return any(left.x1 + 0.5 * left.height > right.x0 for left, right in pairwise(kept))

    if not shown or not touch(1):
        return
    if named:
        axes.tick_params(axis="x", labelrotation=30)
        for i in shown:
            labels[i].set(ha="right", rotation_mode="anchor")
        return
    step = next(step for step in range(2, len(shown) + 1) if not touch(step))
    kept = set(shown[::step])
    words = [labels[i].get_text() if i in kept else "" for i in range(len(places))]
    axes.xaxis.set_major_locator(ticker.FixedLocator(places))
    axes.xaxis.set_major_formatter(ticker.FixedFormatter(words))


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
    for note in layout.get("annotations", ()):
        if "x" in note and "y" in note and _is_on(note.get("yref", "y"), y_name):
            inside = str(note.get("yref", "y")).endswith("domain")
            place = axes.get_yaxis_transform() if inside else axes.transData
            axes.text(note["x"], note["y"], plain_text(note["text"]), transform=place, ha="center", va="bottom")


def _is_on(reference: str, y_name: str) -> bool:
    """True if a shape belongs to the axes of this name: `y2` and `y2 domain` to `y2`, `paper` to the first."""
    name = reference.split(" ")[0]
    return name == y_name or (name == "paper" and y_name == "y")
