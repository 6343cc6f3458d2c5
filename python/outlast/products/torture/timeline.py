"""The time line of a recording: writes, flushes and marks, and which instants are bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from outlast.products.torture.result import Result
from outlast.products.torture.results import Verdict
from outlast.report.figure import FLUSH, TRIM, WRITE, Figure, axis
from outlast.report.numbers import plain, text

WIDTH = 1500
"""Places along the line that can be told apart: what is nearer to each other is drawn as one."""
MOST_SHADES = 300
"""Shaded stretches; with more of them the page would be slow."""
KINDS = {"write": WRITE, "trim": TRIM, "flush": FLUSH}


@dataclass(frozen=True)
class Stretch:
    """A piece of a lane."""

    start: float
    end: float
    label: str
    count: int = 1


def joined(stretches: Iterable[Stretch], gap: float, what: str) -> list[Stretch]:
    """The stretches in order, those with less than `gap` between them as one."""
    out: list[Stretch] = []
    for each in sorted(stretches, key=lambda each: each.start):
        if out and each.start - out[-1].end < gap:
            count = out[-1].count + each.count
            out[-1] = Stretch(out[-1].start, max(out[-1].end, each.end), f"{count} {what}", count)
        else:
            out.append(each)
    return out


def timeline(result: Result) -> Figure | None:
    """Lanes of writes, flushes and marks, one for the bad states of each model, and bad instants shaded."""
    events = result.timeline
    if not events:
        return None
    has_times = bool(result.facts["has_times"])
    began = events[0]["at_ns"]

    def place(event: int, at_ns: int) -> float:
        return (at_ns - began) / 1e6 if has_times else float(event)

    ends = [place(each["event"], each["at_ns"]) for each in (events[0], events[-1])]
    gap = (ends[1] - ends[0]) / WIDTH
    data = [
        _lane(kind, colour, joined(_spans(events, kind, place), gap, _many(kind))) for kind, colour in KINDS.items()
    ]
    marks = [(place(each["event"], each["at_ns"]), each["text"]) for each in events if each["kind"] == "mark"]
    data.append(_points("mark", "var:--ink", marks))
    shades: list[Stretch] = []
    groups: dict[str, list[Verdict]] = {}
    for verdict in result.bad:
        groups.setdefault(verdict.group.partition("/")[0], []).append(verdict)
    for group, of_model in groups.items():
        spans = [
            Stretch((start - began) / 1e6, (end - began) / 1e6, text(verdict.state))
            for verdict in of_model
            for start, end in verdict.spans_ns
        ]
        if spans:
            shades += spans
            data.append(_lane(f"bad: {text(group)}", "var:--bad", joined(spans, gap, "stretches"), 14))
        else:
            cuts = [(place(verdict.event, verdict.at_ns), verdict.state) for verdict in of_model]
            data.append(_points(f"bad: {text(group)}", "var:--bad", cuts))
    data = [lane for lane in data if lane["x"]]
    layout = {
        "xaxis": axis("time since the first event, ms" if has_times else "event"),
        "yaxis": axis("", type="category", categoryarray=[lane["name"] for lane in reversed(data)]),
        "shapes": [_shade(each) for each in _few(shades, gap)],
        "showlegend": False,
        "hovermode": "closest",
    }
    hint = "shaded: a loss of power at that instant leaves a bad state; drag to look closer"
    return Figure("timeline", data, layout, "Commands and acknowledgements", hint, 120 + 46 * len(data))


def _many(kind: str) -> str:
    return "flushes" if kind == "flush" else f"{kind}s"


def _spans(events: list[dict[str, Any]], kind: str, place: Callable[[int, int], float]) -> Iterable[Stretch]:
    """Spans from each request to its answer; a request without one lasts to the end."""
    under_way: dict[int, dict[str, Any]] = {}
    for each in events:
        if each["kind"] == kind:
            under_way[_number(each)] = each
        elif each["kind"] == f"{kind}-done" and _number(each) in under_way:
            begun = under_way.pop(_number(each))
            yield Stretch(place(begun["event"], begun["at_ns"]), place(each["event"], each["at_ns"]), _label(begun))
    last = events[-1]
    for begun in under_way.values():
        start = place(begun["event"], begun["at_ns"])
        yield Stretch(start, place(last["event"], last["at_ns"]), f"{_label(begun)}, never answered")


def _number(event: dict[str, Any]) -> int:
    """Write, trim or flush that it belongs to."""
    number: int = event["flush" if event["kind"].startswith("flush") else "write"]
    return number


def _label(event: dict[str, Any]) -> str:
    if event["kind"] == "flush":
        return f"flush {event['flush']}"
    forced = ", forced" if event.get("fua") else ""
    return f"{event['kind']} {event['write']}: {event['sectors']} sectors from {event['lba']}{forced}"


def _lane(name: str, colour: str, stretches: list[Stretch], width: int = 11) -> dict[str, Any]:
    """Stretches as thick lines. Each is three points, the last of which lifts the pen."""
    x: list[Any] = []
    for each in stretches:
        x += [*plain([each.start, each.end], 9), None]
    labels = [text_ for each in stretches for text_ in (each.label, each.label, "")]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": [name] * len(x),
        "line": {"color": colour, "width": width},
        # What takes no time, or less than can be seen, is still a dot.
        "marker": {"color": colour, "size": 4, "symbol": "line-ns-open"},
        "customdata": labels,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _points(name: str, colour: str, points: list[tuple[float, str]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": plain([x for x, _ in points], 9) if points else [],
        "y": [name] * len(points),
        "marker": {"color": colour, "size": 8, "symbol": "diamond"},
        "customdata": [text(label) for _, label in points],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _few(shades: list[Stretch], gap: float) -> list[Stretch]:
    few = joined(shades, gap, "stretches")
    while len(few) > MOST_SHADES:
        gap *= 2
        few = joined(shades, gap, "stretches")
    return few


def _shade(each: Stretch) -> dict[str, Any]:
    x0, x1 = plain([each.start, each.end], 9)
    own = {"type": "rect", "xref": "x", "yref": "paper", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "layer": "below"}
    return {**own, "fillcolor": "var:--bad-soft", "line": {"width": 0}}
