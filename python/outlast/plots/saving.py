"""Writing one chart of a result, a comparison or a sweep to a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from outlast.comparison import Comparison
from outlast.errors import OutputError
from outlast.notebook.plots import ComparisonPlots, Plots, ResultPlots, SweepPlots
from outlast.notebook.theme import colours
from outlast.output import check_file, write_file
from outlast.plots.axes import draw_shapes, set_axis
from outlast.plots.documents import Document
from outlast.plots.drawing import Drawer
from outlast.plots.room import NoRoomError, add_legend, fit
from outlast.plots.style import Style, matplotlib
from outlast.report.figure import Figure
from outlast.result import Result
from outlast.sweeps import Sweep

FORMATS = ("pdf", "svg", "png")
"""Endings of files that can be written."""
HEIGHT = 0.68
"""Height of a figure over its width."""
Source = Result | Comparison | Sweep | Document
"""Whatever has charts."""
MOST_DOTS = 100 * 10**6
"""Dots of a PNG, of four bytes each in memory: an A0 poster at 150 dots to an inch has 35 million."""


def charts_of(source: Source) -> Plots:
    """The charts of a result, of several beside each other, of a sweep, a fleet or a plan: `names` lists them."""
    if isinstance(source, Document):
        return source.plots
    if isinstance(source, Result):
        return ResultPlots(source)
    return SweepPlots(source) if isinstance(source, Sweep) else ComparisonPlots(source)


def save(source: Source, chart: str, path: str | Path, style: Style | None = None) -> Path:
    """Writes the chart of that name to a PDF, SVG or PNG file, as the ending of the path says.

    The same chart gives the same bytes. Raises `OutputError` for another ending, for a chart that the result has not,
    and without matplotlib (`outlast[figures]`).
    """
    file, style = Path(path), style or Style()
    ending = file.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise OutputError(f"{file}: the ending must be {', '.join(f'.{each}' for each in FORMATS)}")
    figure = charts_of(source).figure_of(chart)
    check_file(file)
    height_in = _height(style, figure)
    dots = style.width_in * height_in * style.dpi**2
    if ending == "png" and dots > MOST_DOTS:
        raise OutputError(
            f"{file}: {style.width_in:g} x {height_in:g} inches at {style.dpi} dots to an inch are {dots / 1e6:.0f} "
            f"million dots; at most {MOST_DOTS // 10**6} million are drawn: name less by --dpi, --width or --height"
        )
    pyplot = matplotlib("matplotlib.figure")
    with matplotlib("matplotlib").rc_context(style.parameters()):
        drawn = pyplot.Figure(figsize=(style.width_in, height_in), layout="constrained")
        try:
            _draw(drawn, figure, style)
        except NoRoomError:
            raise OutputError(
                f"{file}: a page of {style.width_in:g} x {height_in:.3g} inches has no room for the chart beside type "
                f"of {style.size_pt:g} points: name more by --width or --height, or less by --size"
            ) from None
        out = io.BytesIO()
        # No time of writing, and so the same bytes.
        dates: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
        drawn.savefig(out, format=ending, dpi=style.dpi, metadata=dates[ending])
    write_file(file, out.getvalue())
    return file


def _height(style: Style, figure: Figure) -> float:
    if style.height_in is not None:
        return style.height_in
    # Charts that are tall in the report, as maps of many rows are, are tall in print.
    return style.width_in * HEIGHT * max(1.0, figure.height / 380)


def _draw(drawn: Any, figure: Figure, style: Style) -> None:
    layout = figure.layout
    panels = sorted({trace.get("yaxis", "y") for trace in figure.data})
    all_axes = drawn.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    rows = 0
    for axes, name in zip(all_axes, panels, strict=True):
        traces = [trace for trace in figure.data if trace.get("yaxis", "y") == name]
        bars = sum(trace["type"] == "bar" for trace in traces)
        drawer = Drawer(axes, style, layout.get("barmode", "group"), of_bars=max(bars, 1))
        for trace in traces:
            drawer.draw(trace)
        set_axis(axes, "y", layout.get(f"yaxis{name[1:]}", {}), drawer.names)
        draw_shapes(axes, layout, name, lambda colour: _colour(colour))
        axes.set_axisbelow(True)
        lie = any(trace.get("orientation") == "h" for trace in traces)
        rows += len(drawer.names) if lie else 0
    set_axis(all_axes[-1], "x", layout.get("xaxis", {}), drawer.names)
    add_legend(drawn, layout)
    fit(drawn, style, named_below=bool(drawer.names) and not lie, named_rows=rows)


def _colour(name: Any) -> str:
    """A colour of the report's light page; ink where none is named."""
    known = colours("light")
    if isinstance(name, str) and name.startswith("var:--"):
        return known[name.removeprefix("var:--")]
    return str(name or known["ink"])
