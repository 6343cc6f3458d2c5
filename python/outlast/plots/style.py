"""Size and type of a printed chart, and series that can be told apart without colour."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from outlast.errors import OutputError

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*")
LEAST_IN, MOST_IN = 0.5, 50.0
"""Width and height of a figure, in inches."""

COLOURS = ("#1b1b1b", "#0072b2", "#d55e00", "#56b4e9", "#e69f00", "#8c8c8c")
"""Colours of series in order: those of Okabe and Ito, Color Universal Design (2008), that differ in lightness, too."""
GREYS = ("#000000", "#7a7a7a", "#404040", "#a8a8a8", "#5c5c5c", "#c4c4c4")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1)), (0, (5, 1, 1, 1, 1, 1)))
"""Lines of series in order."""
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
"""Fillings of series in order, where there is no colour, and of every further six where there is."""


@dataclass(frozen=True)
class Style:
    """Style in which a chart is printed."""

    width_in: float = 3.3
    """Width in inches; 3.3 is a column of a page with two."""
    height_in: float | None = None
    """Height in inches; by default 0.68 of the width, more for maps with many rows."""
    font: str = "sans-serif"
    """Family of type: serif, sans-serif or monospace."""
    size_pt: float = 8.0
    """Size of type, in points."""
    grey: bool = False
    """True without colour: greys, dashes and hatching."""
    dpi: int = 300
    """Dots to an inch of a PNG."""
    bands: bool = False
    """True if confidence intervals of curves are bands, not bars."""

    def colour(self, index: int) -> str:
        """Colour of a series by its number."""
        colours = GREYS if self.grey else COLOURS
        return colours[index % len(colours)]

    def dash(self, index: int) -> Any:
        """Line of a series by its number."""
        return DASHES[_shifted(index)]

    def marker(self, index: int) -> str:
        """Marker of a series by its number."""
        return MARKERS[_shifted(index)]

    def hatch(self, index: int) -> str:
        """Filling of a series by its number: of the first six none where they have colours."""
        return HATCHES[_shifted(index) if self.grey else index // len(COLOURS) % len(HATCHES)]

    def parameters(self) -> dict[str, Any]:
        """Parameters of matplotlib."""
        small = self.size_pt - 1
        return {
            "font.family": self.font,
            "font.size": self.size_pt,
            "axes.titlesize": self.size_pt,
            "axes.labelsize": self.size_pt,
            "xtick.labelsize": small,
            "ytick.labelsize": small,
            "legend.fontsize": small,
            "axes.formatter.useoffset": False,
            "axes.linewidth": 0.6,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "grid.linewidth": 0.4,
            "grid.color": "#d4d4d4",
            "lines.linewidth": 1.1,
            "lines.markersize": 3.2,
            "patch.linewidth": 0.5,
            "hatch.linewidth": 0.4,
            "axes.spines.top": False,
            "axes.spines.right": False,
            # Type as type: conferences refuse bitmap fonts, and text stays searchable.
            "pdf.fonttype": 42,
            "svg.fonttype": "none",
            "svg.hashsalt": "outlast",
        }


def _shifted(index: int) -> int:
    """Place in a list of six, one further in each further six: no two of 36 series have it and their colour alike."""
    return (index + index // len(COLOURS)) % len(COLOURS)


def length(text: str) -> float:
    """Inches of a length such as `3.3in`, `84mm`, `8.4cm` or `240pt`; a bare number is in inches.

    Raises `ValueError` with the limit for anything else, and for less than 0.5 or more than 50 inches.
    """
    found = _LENGTH.fullmatch(text)
    if found is None or found[2] not in ("", *_UNITS):
        raise ValueError(f"{text}: must be a length such as 3.3in, 84mm, 8.4cm or 240pt")
    inches = float(found[1]) * _UNITS[found[2] or "in"]
    if not LEAST_IN <= inches <= MOST_IN:
        raise ValueError(f"{text}: must be within {LEAST_IN:g} and {MOST_IN:g} inches")
    return inches


def matplotlib(module: str) -> Any:
    """A module of matplotlib, which is loaded only where a chart is printed."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise OutputError("figures for print need matplotlib; install outlast[figures]") from error
