"""Charts of the report as plotly figures, in colours for a light or a dark page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlast.errors import OutputError
from outlast.report.figure import Figure
from outlast.report.page import asset

if TYPE_CHECKING:
    import plotly.graph_objects as go

Theme: TypeAlias = Literal["light", "dark"]
"""Background that a chart is drawn for; by default that of plotly's default template."""

_DARK = "@media (prefers-color-scheme: dark)"
_FURTHER = re.compile(r"[xy]axis\d+")
"""Axes of charts that have several panels."""
_VARIABLE = re.compile(r"--([\w-]+):\s*([^;{}]+);")
GAP = 0.13
"""The room between two charts above each other, as a share of the height of all."""
CAPTION_PX = 66
"""The room for title and legend above a chart."""


@cache
def colours(theme: Theme) -> dict[str, str]:
    """The colours of the report by name, as its style sheet has them."""
    light, _, dark = asset("report.css").partition(_DARK)
    variables = dict(_VARIABLE.findall(light))
    return variables if theme == "light" else variables | dict(_VARIABLE.findall(dark))


def _plotly(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise OutputError("charts in notebooks need plotly; install outlast[notebook]") from error


def resolved(theme: Theme | None) -> Theme:
    """The theme that was asked for, or that of plotly's default template: dark where its name says so."""
    if theme in ("light", "dark"):
        return theme
    if theme is not None:
        raise OutputError(f'theme = "{theme}": must be light or dark')
    pio = _plotly("plotly.io")
    return "dark" if "dark" in str(pio.templates.default) else "light"


def drawn(chart: Figure, theme: Theme | None = None) -> go.Figure:
    """One chart of the report as a plotly figure on a transparent ground."""
    return _figure([chart], theme, chart.title, chart.hint)


def stacked(charts: Sequence[Figure], theme: Theme | None = None, title: str = "") -> go.Figure:
    """Charts that share an x axis, above each other, each with its own legend."""
    return _figure(charts, theme, title, "")


def _figure(charts: Sequence[Figure], theme: Theme | None, title: str, hint: str) -> go.Figure:
    go = _plotly("plotly.graph_objects")
    frame, data, many = json.loads(asset("frame.json")), [], len(charts) > 1
    layout: dict[str, Any] = frame["layout"] | {"template": {}, "height": _height(charts)}
    layout["margin"] = layout["margin"] | {"t": CAPTION_PX}
    beside = f'  <span style="font-size:12.5px;opacity:0.7">{hint}</span>' if hint else ""
    layout["title"] = {"text": title + beside, "font": {"color": "var:--ink", "size": 15}, "x": 0, "xref": "paper"}
    layout["title"] |= {"xanchor": "left", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 10}}
    for index, chart in enumerate(charts):
        place = "" if index == 0 else str(index + 1)
        bottom, top = _domain(index, len(charts))
        frame_layout = {name: value for name, value in chart.layout.items() if name not in ("xaxis", "yaxis")}
        frame_layout |= {name: _axis(frame, value) for name, value in frame_layout.items() if _FURTHER.fullmatch(name)}
        if many:
            frame_layout = {name: value for name, value in frame_layout.items() if name != "hovermode"} | {
                "hovermode": "x"
            }
        layout |= frame_layout
        for axis, more in (("x", {"matches": "x"} if index else {}), ("y", {"domain": [bottom, top]} if many else {})):
            layout[f"{axis}axis{place}"] = _axis(frame, chart.layout.get(f"{axis}axis", {})) | more
        if many:
            layout[f"xaxis{place}"] |= {"anchor": f"y{place}", "showticklabels": index == len(charts) - 1}
            layout[f"xaxis{place}"] |= {} if index == len(charts) - 1 else {"title": {"text": ""}}
            layout[f"legend{place}"] = frame["layout"]["legend"] | {"y": top}
        data += [trace | _anchors(place, many=many) for trace in chart.data]
    return go.Figure(_coloured({"data": data, "layout": layout}, colours(resolved(theme))))


def _anchors(place: str, *, many: bool) -> dict[str, str]:
    return {"xaxis": f"x{place}", "yaxis": f"y{place}", "legend": f"legend{place}"} if many else {}


def _axis(frame: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    labels = frame["logarithmic"] if settings.get("type") == "log" and "tickvals" not in settings else {}
    return {**frame["axis"], **labels, **settings, "title": frame["title"] | settings.get("title", {})}


def _height(charts: Sequence[Figure]) -> int:
    if len(charts) == 1:
        return charts[0].height + CAPTION_PX
    return CAPTION_PX + sum(min(chart.height, 240) for chart in charts)


def _domain(index: int, count: int) -> tuple[float, float]:
    """Vertical extent of one of several stacked charts as shares of the figure; the first is on top."""
    each = (1.0 - GAP * (count - 1)) / count
    top = 1.0 - index * (each + GAP)
    return max(top - each, 0.0), top


def _coloured(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return names[value.removeprefix("var:--")] if value.startswith("var:--") else value
    if isinstance(value, list):
        return [_coloured(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _coloured(item, names) for key, item in value.items()}
    return value
