"""Findings of a search: the best so far over its points, and the points that it gave up or that were refused."""

from __future__ import annotations

from typing import Any

from outlast.report.figure import Figure, axis
from outlast.report.names import spoken, titled, written
from outlast.report.numbers import counted, plain, text
from outlast.report.page import Section
from outlast.report.sweep_points import DIGITS, place

MOST_REFUSED = 20
"""Refused points that are listed each by itself."""


def sentence(summary: dict[str, Any]) -> str:
    """The best point of a search for one figure as plain text; empty for other sweeps."""
    search, aims = summary.get("search"), summary["sweep"].get("aim", [])
    if not search or len(aims) != 1 or not search["best"]:
        return ""
    name, number = aims[0]["figure"], search["best"][0]
    point = summary["points"][number]
    return (
        f"best of {counted(len(summary['points']), 'point')}: {place(point)}, with {spoken(name)} "
        f"{written(name, point['figures'][name]['mean'], DIGITS)} (point {number})"
    )


def section(summary: dict[str, Any]) -> Section:
    """The course of a search; empty for other sweeps."""
    shown = Section("search", "The search", columns="one")
    search = summary.get("search")
    if not search:
        return shown
    aims = summary["sweep"]["aim"]
    of = "; ".join(f"{text(spoken(each['figure']))} ({each['best']} is best)" for each in aims)
    shown.finding = f"Searched for {of}, by the TPE of optuna {text(search['optuna'])}."
    if best := sentence(summary):
        shown.finding += f" The {text(best)}."
    if search["pruned"]:
        pruned = counted(len(search["pruned"]), "point")
        shown.finding += f" {pruned} got no more repeats after those that were worse than the median."
    for each in aims:
        shown.add(_course(summary, each["figure"], each["best"], set(search["pruned"])))
    return shown.add(_refused(summary, search["refused"])) if search["refused"] else shown


def _course(summary: dict[str, Any], name: str, best: str, pruned: set[int]) -> Figure | None:
    """A figure of each point in the order in which they were chosen, and the best of those so far."""
    known = [(p["point"], p["figures"][name]["mean"]) for p in summary["points"]]
    known = [(number, mean) for number, mean in known if mean is not None]
    if not known:
        return None
    so_far: list[float] = []
    for number, mean in known:
        last = so_far[-1] if so_far else mean
        better = max(mean, last) if best == "highest" else min(mean, last)
        so_far.append(last if number in pruned else better)
    numbers = [number for number, _ in known]
    hover = [f"point {number}: {written(name, mean, DIGITS)}" for number, mean in known]
    points: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers,
        "y": plain([mean for _, mean in known]),
    }
    points |= {"name": "points", "marker": {"color": "var:--read", "size": 7}, "customdata": hover}
    points |= {"hovertemplate": "%{customdata}<extra></extra>"}
    line: dict[str, Any] = {"type": "scatter", "mode": "lines", "x": numbers, "y": plain(so_far), "name": "best so far"}
    line |= {"line": {"color": "var:--muted", "width": 1.8, "shape": "hv"}, "hoverinfo": "skip"}
    layout = {"xaxis": axis("points in the order in which they were chosen"), "yaxis": axis(text(titled(name)))}
    hint = "points given up count with the repeats that they had" if pruned else ""
    return Figure(f"search-{name.replace('.', '-')}", [points, line], layout, text(spoken(name)), hint, 320)


def _refused(summary: dict[str, Any], refused: list[dict[str, Any]]) -> str:
    items = [
        f"<li>point {each['point']} ({text(place(summary['points'][each['point']]))}): {text(each['error'])}</li>"
        for each in refused[:MOST_REFUSED]
    ]
    left = len(refused) - len(items)
    more = f"<li>and {left} more: sweep.json has them all</li>" if left else ""
    return (
        f'<div class="card notes"><p>{counted(len(refused), "point")} refused, whose settings do not go together:</p>'
        f"<ul>{''.join(items)}{more}</ul></div>"
    )
