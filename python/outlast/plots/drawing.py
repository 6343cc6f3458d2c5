"""Series of the report's charts, drawn by matplotlib: lines, points, bars, stacked areas and maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outlast.plots.style import Style, matplotlib
from outlast.plots.words import plain_text

FEW_BARS = 40
"""Bars of a series that have white edges."""
STEPS = {"hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid"}


@dataclass
class Drawer:
    """Draws series on one pair of axes, each in the next colour and dash."""

    axes: Any
    style: Style
    barmode: str
    drawn: int = 0
    below: dict[str, Any] = field(default_factory=dict)
    """Heights of what is stacked so far, by stack."""
    bars: int = 0
    of_bars: int = 1
    """Series of bars beside each other."""
    names: dict[str, int] = field(default_factory=dict)
    """Places of bars that have names instead of numbers."""

    def draw(self, trace: Mapping[str, Any]) -> None:
        """Draws one series."""
        index = self.drawn
        self.drawn += 1
        name = plain_text(trace.get("name", ""))
        # To matplotlib a label that begins with an underscore is none.
        shown = f" {name}" if name.startswith("_") else name
        label = shown if name and trace.get("showlegend", True) else "_nolegend_"
        kinds = {"bar": self._bar, "heatmap": self._map, "scatter": self._scatter}
        kinds[trace["type"]](trace, index, label)

    def _scatter(self, trace: Mapping[str, Any], index: int, label: str) -> None:
        x, y = _numbers(trace["x"]), _numbers(trace["y"])
        colour, mode = self.style.colour(index), trace.get("mode", "lines")
        if "stackgroup" in trace:
            self._area(x, y, trace["stackgroup"], index, label)
            return
        line = trace.get("line", {})
        drawn: dict[str, Any] = {"color": colour, "label": label, "linestyle": "none"}
        if "lines" in mode:
            drawn["linestyle"] = self.style.dash(index)
            drawn["drawstyle"] = STEPS.get(line.get("shape", ""), "default")
        if "markers" in mode:
            drawn |= {"marker": self.style.marker(index), "markerfacecolor": "white" if index % 2 else colour}
        if bars := trace.get("error_y"):
            above = _numbers(bars["array"])
            below = _numbers(bars.get("arrayminus", bars["array"]))
            if self.style.bands and "lines" in mode:
                self._band(x, y - below, y + above, index)
                self.axes.plot(x, y, **drawn)
            else:
                self.axes.errorbar(x, y, yerr=np.array([below, above]), capsize=2, elinewidth=0.7, **drawn)
        else:
            self.axes.plot(x, y, **drawn)
        if trace.get("fill") == "tozeroy":
            self.axes.fill_between(x, y, color=colour, alpha=0.15, linewidth=0)
        if "text" in mode:
            for place, height, word in zip(x, y, trace["text"], strict=True):
                if height is not None and height == height:
                    self.axes.annotate(
                        plain_text(word), (place, height), (0, 4), textcoords="offset points", ha="center"
                    )

    def _band(self, x: Any, low: Any, high: Any, index: int) -> None:
        """Interval around a curve: a light area with edges in the curve's dash, so that two that overlap differ."""
        colour = self.style.colour(index)
        self.axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        for edge in (low, high):
            self.axes.plot(x, edge, color=colour, linewidth=0.4, linestyle=self.style.dash(index))

    def _area(self, x: Any, y: Any, stack: str, index: int, label: str) -> None:
        start = self.below.get(stack, np.zeros(len(y)))
        top = start + np.nan_to_num(y)
        hatch = self.style.hatch(index)
        edge = {"edgecolor": "white", "hatch": hatch} if hatch else {}
        self.axes.fill_between(x, start, top, color=self.style.colour(index), label=label, linewidth=0.3, **edge)
        self.below[stack] = top

    def _bar(self, trace: Mapping[str, Any], index: int, label: str) -> None:
        across = trace.get("orientation") == "h"
        names, values = (trace["y"], trace["x"]) if across else (trace["x"], trace["y"])
        values = np.nan_to_num(_numbers(values))
        places = self._places(names)
        wide = _width(places, trace)
        start = _numbers(trace["base"]) if "base" in trace else None
        if self.barmode == "stack":
            keys = [f"{across} {place:.12g}" for place in places]
            start = np.array([self.below.get(key, 0.0) for key in keys])
            self.below |= {key: low + value for key, low, value in zip(keys, start, values, strict=True)}
        elif self.barmode != "overlay" and self.of_bars > 1:
            wide /= self.of_bars
            places = places + wide * (self.bars - (self.of_bars - 1) / 2)
        self.bars += 1
        hatch = self.style.hatch(index)
        drawn: dict[str, Any] = {"color": self.style.colour(index), "label": label, "hatch": hatch}
        # Of many bars white edges would be all that is seen.
        drawn |= {"edgecolor": "white"} if len(places) <= FEW_BARS else {"linewidth": 0}
        if across:
            self.axes.barh(places, values, height=wide, left=start, **drawn)
        else:
            self.axes.bar(places, values, width=wide, bottom=start, **drawn)
        if self.names:
            set_ticks = self.axes.set_yticks if across else self.axes.set_xticks
            set_ticks(range(len(self.names)), list(self.names))
        if bars := trace.get("error_y" if not across else "error_x"):
            halves, tops = _numbers(bars["array"]), values + (0 if start is None else start)
            points = {"fmt": "none", "ecolor": "black", "capsize": 2, "elinewidth": 0.7}
            if across:
                self.axes.errorbar(tops, places, xerr=halves, **points)
            else:
                self.axes.errorbar(places, tops, yerr=halves, **points)

    def _places(self, names: Sequence[Any]) -> Any:
        """Places of bars: numbers as they are; names one after the other, the same for all series."""
        numbers = _numbers(names)
        if numbers.dtype != object:
            return numbers
        return np.array([float(self.names.setdefault(name, len(self.names))) for name in numbers])

    def _map(self, trace: Mapping[str, Any], index: int, label: str) -> None:
        grid = np.array([_numbers(row) for row in trace["z"]])
        x, y = _edges(trace["x"]), _edges(trace["y"])
        colours = "Greys" if self.style.grey else "viridis_r"
        mesh = self.axes.pcolormesh(
            x, y, np.ma.masked_invalid(grid), cmap=colours, vmin=trace.get("zmin"), vmax=trace.get("zmax")
        )
        mesh.set_edgecolor("white")
        mesh.set_linewidth(0.4 if grid.size < 1000 else 0)
        # Pixels of a map of many cells, not as many shapes.
        mesh.set_rasterized(grid.size > 5000)
        percent = str(trace.get("colorbar", {}).get("tickformat", "")).endswith("%")
        shown = matplotlib("matplotlib.ticker").PercentFormatter(1.0, decimals=0) if percent else None
        bar = self.axes.figure.colorbar(mesh, ax=self.axes, pad=0.02, format=shown)
        if title := trace.get("colorbar", {}).get("title", {}):
            bar.set_label(plain_text(title.get("text", "") if isinstance(title, Mapping) else title))


def _numbers(values: Sequence[Any]) -> Any:
    """Numbers with gaps as not-a-number; names as their texts."""
    if any(isinstance(value, str) for value in values):
        return np.array([plain_text(value) for value in values], dtype=object)
    return np.array([np.nan if value is None else float(value) for value in values])


def _width(places: Any, trace: Mapping[str, Any]) -> float:
    """Width of a bar: as the report has it, or most of the distance of two."""
    given = trace.get("width")
    if isinstance(given, (int, float)):
        return float(given)
    if isinstance(given, Sequence) and given:
        return float(given[0])
    distances = np.diff(np.unique(places))
    return 0.8 * float(distances.min()) if len(distances) else 0.8


def _edges(middles: Sequence[Any]) -> Any:
    """Edges of cells whose middles are given."""
    places = _numbers(middles)
    if places.dtype == object:
        places = np.arange(len(places), dtype=float)
    half = np.diff(places) / 2 if len(places) > 1 else np.array([0.5])
    return np.concatenate(
        [[places[0] - half[0]], places[:-1] + half if len(places) > 1 else [], [places[-1] + half[-1]]]
    )
