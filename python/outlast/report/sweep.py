"""The report of a sweep: each figure over what varied, with error bars, and the points that no other beats."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from outlast.report import sweep_bars, sweep_drawn, sweep_load, sweep_points, sweep_search
from outlast.report.figure import RUN_COLOURS, Figure, axis
from outlast.report.names import setting as in_words
from outlast.report.names import titled, words, written
from outlast.report.numbers import counted, plain, raised, text
from outlast.report.page import Section, document
from outlast.report.sweep_points import MEASURED, THEORY, Point, place, value
from outlast.sweeps import figures

if TYPE_CHECKING:
    from outlast.sweeps.result import Sweep

MOST_SERIES = 12
"""Curves that a reader can tell apart in one chart; with more, points are drawn over each axis by itself."""
MOST_TICKS = 10
"""Powers of ten that a logarithmic axis names, or little more."""
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([A-Za-z%/]+)")


def page(sweep: Sweep) -> str:
    """The whole page."""
    summary = sweep.summary
    footer = f"Outlast {text(summary['version'])} · simulated, not measured on hardware"
    title = sweep_points.title(summary)
    return document(f"{title} · Outlast", _header(summary, title), sections_of(sweep), footer)


def sections_of(sweep: Sweep) -> list[Section]:
    """The parts of the page of a sweep."""
    return sections(sweep.summary, sweep_load.completed(sweep, sweep_drawn.drawn(sweep.summary)))


def sections(summary: dict[str, Any], points_drawn: list[Point]) -> list[Section]:
    """The parts of the page, of whose points some are drawn; those that have nothing to show are empty."""
    drawn = summary | {"points": [point | {"hover": _hover(point), "said": {}} for point in points_drawn]}
    constant = sweep_bars.constant(summary)
    varying = [name for name in summary["sweep"]["figures"] if name not in constant]
    curves = [_curves(drawn, name) for name in varying]
    if sweep_bars.is_choice(summary):
        curves = [sweep_bars.section(summary, varying)]
    points = Section("points", "Points", columns="one")
    if summary["points"]:
        points.add(sweep_points.table(summary))
    return [
        sweep_load.section(drawn),
        sweep_search.section(summary),
        points,
        *curves,
        sweep_bars.same(summary),
        _front(summary, drawn["points"]),
        _failed(summary),
        _sweep_section(summary),
    ]


def _header(summary: dict[str, Any], title: str) -> str:
    spec, points = summary["sweep"], summary["points"]
    marks = []
    if summary["failed"]:
        marks.append(f'<span class="badge bad">{len(summary["failed"])} of {summary["runs"]} runs failed</span>')
    if summary["not_steady"]:
        share = f"{summary['not_steady']} of {summary['runs']}"
        marks.append(f'<span class="badge warn">{share} runs not in steady state</span>')
    if summary.get("not_served"):
        share = f"{summary['not_served']} of {summary['runs']}"
        marks.append(f'<span class="badge bad">requests failed in {share} runs</span>')
    varied = " and ".join(f"<code>{text(figures.called(axis))}</code>" for axis in spec["vary"])
    repeats = f"{spec['repeats']} runs each" if spec["repeats"] > 1 else "one run each, and so without error bars"
    about = f"{counted(len(points), 'point')} of {varied} ({text(spec['method'])}), {repeats}"
    if left_out := sweep_drawn.note(summary):
        about += f"; {left_out}"
    found = "".join(f"<li>{sentence}</li>" for sentence in sweep_points.sentences(summary))
    return (
        f'<div class="mark">Outlast</div><h1>{text(title)}</h1><p class="about">{about}</p>'
        + (f'<ul class="found">{found}</ul>' if found else "")
        + (f'<p class="badges">{"".join(marks)}</p>' if marks else "")
    )


def scale(values: list[Any]) -> tuple[list[Any], str]:
    """The values of an axis as a chart takes them, and their unit: numbers, numbers of one unit, or texts."""
    matches = [_QUANTITY.fullmatch(value) if isinstance(value, str) else None for value in values]
    units = {match[2] for match in matches if match}
    if values and all(matches) and len(units) == 1:
        return [float(match[1]) for match in matches if match], units.pop()
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return list(values), ""
    return [value if isinstance(value, str) else json.dumps(value) for value in values], ""


def sentence_case(sentence: str) -> str:
    """Text with a capital first letter."""
    return sentence[:1].upper() + sentence[1:]


def _curves(summary: dict[str, Any], name: str) -> Section:
    section, varied = Section(name.replace(".", "-"), sentence_case(words(name))), summary["sweep"]["vary"]
    if name == THEORY and MEASURED in summary["sweep"]["figures"]:
        return section
    if _is_curve(summary, 0):
        section.columns = "one"
        return section.add(curve(summary, name, 0))
    for number in range(len(varied)):
        section.add(curve(summary, name, number))
    return section


def _is_curve(summary: dict[str, Any], number: int) -> bool:
    """True if a figure over this axis is drawn as curves: the sweep is a grid, and few enough curves result."""
    setting = figures.called(summary["sweep"]["vary"][number])
    if summary["sweep"]["method"] != "grid":
        return False
    return len({_others(point, setting) for point in summary["points"]}) <= MOST_SERIES


def curve(summary: dict[str, Any], name: str, number: int) -> Figure | None:
    """A figure over one of the axes, as curves or as points; `None` where no run has it."""
    points = [point for point in summary["points"] if point["figures"][name]["mean"] is not None]
    if not points:
        return None
    spec, varied = summary["sweep"], summary["sweep"]["vary"][number]
    if not _is_curve(summary, number):
        return _chart(spec, name, varied, {"": points}, "markers", number)
    # Of all points, so that a curve has the same colour everywhere.
    groups: dict[str, list[Point]] = {_others(point, figures.called(varied)): [] for point in summary["points"]}
    for point in points:
        groups[_others(point, figures.called(varied))].append(point)
    return _chart(spec, name, varied, groups, "lines+markers", number)


def _others(point: Point, setting: str) -> str:
    """Label of the curve that a point belongs to: all other axes with their values."""
    return place({"values": {name: value for name, value in point["values"].items() if name != setting}})


def _chart(
    spec: dict[str, Any], name: str, varied: dict[str, Any], groups: dict[str, list[Point]], mode: str, number: int = 0
) -> Figure:
    setting = figures.called(varied)
    every, unit = scale([point["values"][setting] for own in groups.values() for point in own])
    data: list[dict[str, Any]] = []
    taken = 0
    for index, (label, own) in enumerate(groups.items()):
        if not own:
            continue
        x = every[taken : taken + len(own)]
        taken += len(own)
        means = [point["figures"][name] for point in own]
        named = bool(x) and isinstance(x[0], str)
        drawn = "markers" if named else mode  # choices without an order are not joined by lines
        trace: dict[str, Any] = {"type": "scatter", "mode": drawn, "x": x, "y": plain([each["mean"] for each in means])}
        colour = RUN_COLOURS[index % len(RUN_COLOURS)]
        trace |= {"name": text(label), "marker": {"color": colour, "size": 7}}
        dash = "solid" if index < len(RUN_COLOURS) else "dash"
        trace |= {"line": {"color": colour, "width": 1.8, "dash": dash}, "showlegend": len(groups) > 1}
        if any(each["half"] for each in means):
            halves = plain([each["half"] or 0.0 for each in means])
            below = [min(half, mean) if mean >= 0 else half for half, mean in zip(halves, trace["y"], strict=True)]
            trace["error_y"] = {"type": "data", "array": halves, "thickness": 1.2, "width": 4, "color": colour}
            # What is never negative has no bar that is.
            trace["error_y"] |= {"symmetric": False, "arrayminus": below}
        trace["customdata"] = [f"{_hover(point)}<br>{_said(point, name)}" for point in own]
        trace["hovertemplate"] = "%{customdata}<extra></extra>"
        data.append(trace)
        if name == MEASURED and THEORY in spec["figures"]:
            data += _theory(x, own, colour, more=any(each["name"].startswith("closed form") for each in data))
    means = [point["figures"][name]["mean"] for own in groups.values() for point in own]
    layout: dict[str, Any] = {
        "xaxis": axis(text(in_words(setting) + (f" ({unit})" if unit else ""))),
        "yaxis": _axis_of(name, means),
        "hovermode": "closest",
    }
    if every and not isinstance(every[0], str) and varied.get("scale") == "log":
        layout["xaxis"]["type"] = "log"
    if every and isinstance(every[0], str):
        layout["xaxis"]["type"] = "category"
    bars = f"bars: {100 * spec['confidence']:g} % confidence from {spec['repeats']} runs" if spec["repeats"] > 1 else ""
    title = f"by {text(in_words(setting))}"
    return Figure(f"{name.replace('.', '-')}-{number}", data, layout, title, bars, 380)


def _axis_of(name: str, means: list[float]) -> dict[str, Any]:
    """The axis of a figure: logarithmic where its means differ by more than two orders of magnitude."""
    own = axis(text(titled(name)), exponentformat="power")
    if min(means) > 0 and max(means) / min(means) > 100:
        first, last = math.floor(math.log10(min(means))) - 1, math.ceil(math.log10(max(means))) + 1
        powers = range(first, last + 1, 1 + (last - first) // MOST_TICKS)
        return own | {
            "type": "log",
            "tickvals": [10.0**power for power in powers],
            "ticktext": [f"{10.0**power:g}" if -3 <= power <= 3 else f"10{raised(power)}" for power in powers],
        }
    return own | {"tickformat": "~s"} if max(map(abs, means)) >= 1e4 else own


def _theory(x: list[Any], points: list[Point], colour: str, *, more: bool) -> list[dict[str, Any]]:
    """The closed form of the same points, dashed."""
    values = [point["figures"][THEORY]["mean"] for point in points]
    if all(value is None for value in values):
        return []
    named = bool(x) and isinstance(x[0], str)
    trace: dict[str, Any] = {"type": "scatter", "mode": "markers" if named else "lines", "x": x}
    if named:
        trace["marker"] = {"symbol": "line-ew-open", "size": 22, "color": colour, "line": {"width": 2}}
    trace |= {"y": [value if value is None else plain([value])[0] for value in values]}
    trace |= {"name": "closed form, greedy", "line": {"color": colour, "width": 1.4, "dash": "dot"}}
    return [trace | {"showlegend": not more, "hovertemplate": "closed form: %{y:.4g}<extra></extra>"}]


def _hover(point: Point) -> str:
    """The values of a point, for the pointer; every chart of a page shows the same."""
    if (known := point.get("hover")) is not None:
        return str(known)
    return "<br>".join(f"{text(in_words(name))}: {text(axis_value)}" for name, axis_value in point["values"].items())


def _said(point: Point, name: str) -> str:
    """A mean of a point in words, of which the charts over each axis show the same."""
    known: dict[str, str] = point.get("said", {})
    if name not in known:
        known[name] = value(name, point["figures"][name])
    return known[name]


def _front(summary: dict[str, Any], drawn: list[Point]) -> Section:
    pareto, section = summary["pareto"], Section("pareto", "Pareto front", columns="one")
    wanted = pareto["figures"]
    if not pareto["front"]:
        return section
    chosen = set(pareto["front"])
    of = "; ".join(f"{text(words(each['figure']))} ({each['best']} is best)" for each in wanted)
    section.finding = (
        f"<b>{len(chosen)} of {len(summary['points'])}</b> points are on the front: no other point is at least as good "
        f"in every figure and better in one. Figures, by their means: {of}."
    )
    if pareto["left_out"]:
        section.finding += f" {len(pareto['left_out'])} points lack one of these and are left out."
    out = set(pareto["left_out"])
    data = []
    for label, colour, size, on_front in (
        ("dominated", "var:--muted", 6, False),
        ("on the front", "var:--read", 10, True),
    ):
        points = [p for p in drawn if p["point"] not in out and (p["point"] in chosen) == on_front]
        x, y = ([p["figures"][each["figure"]]["mean"] for p in points] for each in wanted[:2])
        data.append(
            {"type": "scatter", "mode": "markers", "name": label, "x": plain(x), "y": plain(y)}
            | {"marker": {"color": colour, "size": size}, "customdata": [_beside(p, wanted) for p in points]}
            | {"hovertemplate": "%{customdata}<extra></extra>"}
        )
    titles = [text(titled(each["figure"])) for each in wanted]
    whole = [point for point in drawn if point["point"] not in out]
    axes = (_axis_of(each["figure"], [point["figures"][each["figure"]]["mean"] for point in whole]) for each in wanted)
    layout = dict(zip(("xaxis", "yaxis"), axes, strict=False)) | {"hovermode": "closest"}
    hint = f"hold the pointer over a point for {', '.join(titles[2:])}" if len(titles) > 2 else ""
    return section.add(Figure("front", data, layout, "All points", hint, 420))


def _beside(point: Point, wanted: list[dict[str, str]]) -> str:
    figure_lines = (f"{text(words(each['figure']))}: {written(each['figure'], _mean(point, each))}" for each in wanted)
    return f"{_hover(point)}<br>{'<br>'.join(figure_lines)}"


def _mean(point: Point, each: dict[str, str]) -> float | None:
    mean: float | None = point["figures"][each["figure"]]["mean"]
    return mean


def _failed(summary: dict[str, Any]) -> Section:
    section = Section("failed", "Runs that failed", columns="one")
    if not summary["failed"]:
        return section
    items = []
    for run in summary["failed"]:
        values = ", ".join(f"{name} = {value}" for name, value in summary["points"][run["point"]]["values"].items())
        items.append(f"<li>point {run['point']}, repeat {run['repeat']} ({text(values)}): {text(run['error'])}</li>")
    return section.add(f'<div class="card notes"><ul>{"".join(items)}</ul></div>')


def _sweep_section(summary: dict[str, Any]) -> Section:
    section = Section("sweep", "The sweep", columns="one")
    specification = text(json.dumps(summary["sweep"], indent=2, ensure_ascii=False))
    if summary["sweep"]["repeats"] > 1:
        section.finding = (
            "Each repeat uses the same seed at all points, so that points are compared under the same requests: "
            "differences between points are more certain than their error bars suggest."
        )
    return section.add(f'<details class="card"><summary>Specification</summary><pre>{specification}</pre></details>')
