"""Charts as plain data for plotly.js. Colours are names ("var:--read") that the page fills in for light and dark."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from outlast.causes import GROUPS, MEMBERS
from outlast.report.numbers import micros, text

READ, WRITE, TRIM, FLUSH = "var:--read", "var:--write", "var:--trim", "var:--flush"
OP_COLOURS = {"read": READ, "write": WRITE, "trim": TRIM, "flush": FLUSH}
_COLOURS = {
    "host": "var:--host",
    "partial_write": "var:--trim",
    "gc": "var:--gc",
    "wear_leveling": "var:--flush",
    "padding": "var:--padding",
    "scrub": "var:--scrub",
    "rewritten": "var:--bad",
    "parity": "var:--parity",
    "partial_parity": "var:--trim",
    "finish": "var:--padding",
    "random_write": "var:--trim",
    "lists": "var:--parity",
    "map": "var:--flush",
}
_PARTS = {
    "host": GROUPS["host"],
    "partial_write": "partial units",
    **GROUPS,
    "finish": "rest of finished zones",
    "random_write": "gaps in random write areas",
    "array": "redundancy and rebuilding of the array",
}
CAUSES = {name: (label, _COLOURS.get(name, "var:--read")) for name, label in _PARTS.items()}
"""Label and colour of the parts of a write amplification, in the order of charts."""
LABELLED_DECADES = 4.0
"""Decades on an axis beyond which only powers of ten are named."""
NAME_WIDTH = 18
"""Characters of a line beside a bar."""
RUN_COLOURS = [f"var:--run{index}" for index in range(6)]
"""Colours of compared results; none also stands for a kind of request or a cause of writes."""


def amplification_by_cause(factors: dict[str, Any]) -> dict[str, float]:
    """The parts of a write amplification under the names of `CAUSES`; causes of a group together."""
    # A result of an earlier version lacks some causes, and had none of them.
    parts = {part: sum(factors.get(name) or 0.0 for name in MEMBERS.get(part, (part,))) for part in CAUSES}
    # What a random write area saves is the host's, as what coalesces.
    area = parts["random_write"]
    host = 1.0 + (factors.get("coalesced") or 0.0) + min(area, 0.0)
    return parts | {"host": host, "random_write": max(area, 0.0)}


@dataclass
class Figure:
    """One chart: plotly traces and the layout beyond the page's own defaults."""

    name: str
    data: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    hint: str = ""
    height: int = 300
    whole: bool = False
    """True if it takes the whole width of the page."""

    def html(self) -> str:
        """The figure's place in the page with its data; the page's script draws it."""
        spec = json.dumps(
            {"data": self.data, "layout": self.layout}, allow_nan=False, separators=(",", ":"), ensure_ascii=False
        ).replace("<", "\\u003c")
        hint = f'<span class="hint">{self.hint}</span>' if self.hint else ""
        link = f'<a class="here" href="#{self.name}" aria-label="Link to this chart">#</a>'
        caption = f"<figcaption>{self.title}{hint}{link}</figcaption>" if self.title else ""
        whole, room = " whole" if self.whole else "", f"height:{self.height}px;min-height:{self.height}px"
        return (
            f'<figure class="card chart{whole}" id="{self.name}">{caption}'
            f'<div class="plot" style="{room}" role="group" aria-label="{self.title}"></div>'
            f'<script type="application/json">{spec}</script></figure>'
        )


def broken(name: str) -> str:
    """A name beside a bar, on as many lines as it takes to leave room for the bar; safe for HTML."""
    return "<br>".join(text(part) for part in wrap(name, NAME_WIDTH))


def line(x: list[Any], y: list[Any], name: str, colour: str, **more: Any) -> dict[str, Any]:
    """A line trace."""
    style = {"color": colour, "width": more.pop("width", 1.8)}
    if "dash" in more:
        style["dash"] = more.pop("dash")
    if "shape" in more:
        style["shape"] = more.pop("shape")
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": style, **more}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title that names the unit."""
    return {"title": {"text": title}, **more}


def _ticks(low: float, high: float, decades: float) -> list[float]:
    """Round values on a logarithmic axis: powers of ten, or within a decade enough others to read it by."""
    if decades < 0.7:
        exact = (high - low) / 4
        power = 10.0 ** math.floor(math.log10(exact))
        step = next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= exact) * power
        first, last = math.floor(low / step), math.ceil(high / step)
        return [round(number * step, 9) for number in range(max(first, 1), last + 1)]
    # Two or three labels at least in any range that a chart shows.
    steps = (1.0,) if decades > LABELLED_DECADES else (1.0, 3.0) if decades > 1.5 else (1.0, 2.0, 5.0)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    return [step * 10.0**exponent for exponent in exponents for step in steps]


def _between(low: float, high: float) -> list[float]:
    """The whole multiples of powers of ten on an axis, by which a logarithmic scale is told from a linear one."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [round(step * 10.0**exponent, 9) for exponent in exponents for step in range(1, 10)]


def _named(tick: float) -> str:
    """A latency without zeros at its end."""
    number, _, unit = micros(tick).partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def latency_axis(lowest_us: float, highest_us: float, title: str = "latency") -> dict[str, Any]:
    """A logarithmic axis of latencies in microseconds, labelled in the unit that suits each tick."""
    low, high = max(lowest_us, 1e-3), max(highest_us, lowest_us * 1.01, 1e-3)
    high = max(high, 1.01 * low)
    decades = math.log10(high / low)
    ticks = _ticks(low, high, decades)
    pad = 0.04 * decades + 0.01
    return axis(
        title,
        type="log",
        range=[math.log10(low) - pad, math.log10(high) + pad],
        tickvals=ticks,
        ticktext=[_named(tick) for tick in ticks],
        minor={"tickvals": _between(low, high), "ticks": "outside", "ticklen": 3, "showgrid": False},
    )
