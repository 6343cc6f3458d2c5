"""The points of a sweep as a table with the best of each figure marked, and what the sweep found in words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from outlast.report import names as named
from outlast.report import risk, sweep_steady
from outlast.report.names import called, heading, label, setting, setting_tip, spoken, tip, written
from outlast.report.numbers import short, signed, text
from outlast.sweeps import figures

Point = dict[str, Any]
MEASURED, THEORY = "write_amplification.total", "closed_form.greedy_waf"
"""Measured figure, and the closed form that is drawn beside it where a sweep asks for both."""
MOST_ROWS = 200
"""Rows of the table in the report; of more points, the front and the best are always shown."""
HIGHEST = ("throughput.", "endurance.", "array.data_loss.mttdl_hours", "array.rebuild.rate_mib_s")
LOWEST = (
    *("latency_us.", "write_amplification.", "latency_causes.", "array.latency_us_by_state."),
    *("reliability.uber", "reliability.exact.", "reliability.rereads", "reliability.uncorrectable", "reliability.rber"),
    *("reliability.medium_errors", "reliability.lost_bytes", "reliability.data_loss", "reliability.twin."),
    *("array.data_loss.per_year", "array.data_loss_after_failures.", "array.degraded_s", "wear.mean_pe", "wear.max_pe"),
)
LOADS = ("rate_iops", "queue_depth", "iodepth", "numjobs", "time_scale")
"""Ends of settings of a workload that say how much is asked of the drive."""
MOST_SENTENCES = 5
DIGITS = 4
"""Significant digits of means: points often differ by less than a per cent."""


def best_way(summary: dict[str, Any], name: str) -> str | None:
    """`highest` or `lowest`, whichever is better of a figure; `None` of one that is neither good nor bad."""
    for each in summary["sweep"]["pareto"]:
        if each["figure"] == name:
            return str(each["best"])
    if name.startswith(HIGHEST):
        return "highest"
    return "lowest" if name.startswith(LOWEST) else None


def best_of(summary: dict[str, Any], name: str) -> tuple[list[int], list[int]]:
    """Points with the best mean of a figure, and those whose confidence interval overlaps theirs.

    None of a figure that is neither good nor bad, or the same at all points.
    """
    direction = best_way(summary, name)
    known = [(p["point"], p["figures"][name]) for p in summary["points"] if p["figures"][name]["mean"] is not None]
    means = [stats["mean"] for _, stats in known]
    if direction is None or len(known) < 2 or min(means) == max(means):
        return [], []
    target = max(means) if direction == "highest" else min(means)
    best = [number for number, stats in known if stats["mean"] == target]
    if 2 * len(best) > len(known):
        return [], []  # what most points have tells none of them apart
    reach = next(stats["half"] or 0.0 for _, stats in known if stats["mean"] == target)
    chosen = set(best)
    near = [
        number
        for number, stats in known
        if number not in chosen and abs(stats["mean"] - target) <= reach + (stats["half"] or 0.0)
    ]
    return best, near


def shown_figures(summary: dict[str, Any]) -> list[str]:
    """The figures that were asked for and that any point has."""
    names = summary["sweep"]["figures"]
    return [name for name in names if any(point["figures"][name]["count"] for point in summary["points"])]


def spread(name: str, stats: dict[str, Any]) -> str:
    """Half-width of a mean's confidence interval in words; empty without one, or for a logarithm."""
    if not stats["half"] or name.endswith("log10_uber"):
        return ""
    return f"± {named.spread(name, stats['half'], stats['mean'], DIGITS)}"


def value(name: str, stats: dict[str, Any]) -> str:
    """A mean with half of its confidence interval."""
    return f"{written(name, stats['mean'], DIGITS)} {spread(name, stats)}".rstrip()


def is_any_best(summary: dict[str, Any]) -> bool:
    """True if some point has the best mean of a figure."""
    return any(best_of(summary, name)[0] for name in shown_figures(summary))


def points_table(summary: dict[str, Any], most: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Titles in words and a row of texts for each point: what varies, the means of figures that any has, the front.

    `most`: only so many rows, of the first points.

    The best mean of a figure has a `*`, those within error of it a `~`, and a point with runs that were not in steady
    state a dagger.
    """
    names, front = shown_figures(summary), set(summary["pareto"]["front"])
    best = {name: tuple(map(set, best_of(summary, name))) for name in names}
    rows = []
    for point in summary["points"][:most]:
        cells = [str(each) for each in point["values"].values()]
        cells[-1] += sweep_steady.mark(point)
        for name in names:
            first, near = best[name]
            mark = " *" if point["point"] in first else " ~" if point["point"] in near else ""
            cells.append(value(name, point["figures"][name]) + mark)
        rows.append([*cells, *(["yes" if point["point"] in front else ""] if front else [])])
    settings = [setting(figures.called(each)) for each in summary["sweep"]["vary"]]
    return [*settings, *map(heading, names), *(["front"] if front else [])], rows


def notes(summary: dict[str, Any]) -> list[str]:
    """The lines below the table."""
    note = risk.note(summary)
    return [*sweep_steady.notes(summary), *([note] if note else [])]


def table(summary: dict[str, Any]) -> str:
    """The points as a card."""
    names, front = shown_figures(summary), set(summary["pareto"]["front"])
    best = {name: tuple(map(set, best_of(summary, name))) for name in names}
    varied = [figures.called(each) for each in summary["sweep"]["vary"]]
    axes = (label(text(setting(name)), setting_tip(name)) for name in varied)
    head = "".join(f'<th scope="col" class="axis">{each}</th>' for each in axes)
    head += "".join(f'<th scope="col"{tip(name)}>{called(name, heading(name))}</th>' for name in names)
    head += '<th scope="col">Pareto front</th>' if front else ""
    body = []
    for point in _chosen(summary, {number for first, _ in best.values() for number in first} | front):
        marks = [*[""] * (len(varied) - 1), sweep_steady.badge(point, summary["sweep"]["repeats"])]
        values = zip(point["values"].values(), marks, strict=True)
        cells = [f'<th scope="row">{text(each)}{unsteady}</th>' for each, unsteady in values]
        for name in names:
            mark, css = _mark(point["point"], *best[name])
            stats = point["figures"][name]
            mean_text = written(name, stats["mean"], DIGITS)
            mean_text += f'<span class="change">{half}</span>' if (half := spread(name, stats)) else ""
            cells.append(f"<td{css}{tip(name)}>{mark}{mean_text}</td>")
        if front:
            cells.append(f"<td>{'yes' if point['point'] in front else ''}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    left = len(summary["points"]) - len(body)
    more = f'<p class="note">and {short(left)} more points: sweep.json has them all</p>' if left else ""
    more += "".join(f'<p class="note">{text(note)}</p>' for note in notes(summary))
    return (
        f'<div class="card scroll"><table class="figures points"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>{more}</div>"
    )


def _chosen(summary: dict[str, Any], kept: set[int]) -> list[Point]:
    points: list[Point] = summary["points"]
    if len(points) <= MOST_ROWS:
        return points
    first = [point for point in points if point["point"] in kept]
    return [*first, *(point for point in points if point["point"] not in kept)][: max(MOST_ROWS, len(first))]


def _mark(number: int, first: set[int], near: set[int]) -> tuple[str, str]:
    if number in first:
        return '<span class="badge good">best</span> ', ' class="best"'
    return ('<span class="change" title="within error of the best">≈ best</span> ', "") if number in near else ("", "")


def place(point: Point) -> str:
    """The values of a point in words."""
    return ", ".join(f"{setting(name)} {each}" for name, each in point["values"].items())


def title(summary: dict[str, Any]) -> str:
    """The name of the sweep, and from where to where that figure goes which varies most."""
    candidates = [(name, known) for name in shown_figures(summary) if (known := _varying(summary, name))]
    if any(str(each.get("setting", "")).endswith(LOADS) for each in summary["sweep"]["vary"]):
        # What is asked of a drive is no finding; how long requests then take is.
        candidates = [each for each in candidates if each[0].startswith("latency_us.")] or candidates
    if not candidates:
        return str(summary["name"])
    name, known = max(candidates, key=lambda each: _range(each[1], each[0]))
    ends = (written(name, _mean(end, name), 3) for end in _ends(known, name))
    return f"{summary['name']}: {spoken(name)} from {' to '.join(ends)}"


def _varying(summary: dict[str, Any], name: str) -> list[Point]:
    """The points that have a measured figure; none where it reads the same at all of them."""
    known = [point for point in summary["points"] if point["figures"][name]["mean"] is not None]
    if name == THEORY or not known:
        return []
    first = _read(known[0], name)
    return known if any(_read(point, name) != first for point in known) else []


def _read(point: Point, name: str) -> str:
    """A mean as it is read in a sentence."""
    return written(name, _mean(point, name), 3)


def _range(known: list[Point], name: str) -> float:
    """The distance of the ends of a figure, relative to the one that is further from zero."""
    low, high = (_mean(end, name) for end in _ends(known, name))
    return (high - low) / max(abs(low), abs(high))


def _mean(point: Point, name: str) -> float:
    return float(point["figures"][name]["mean"])


def _ends(known: list[Point], name: str) -> tuple[Point, Point]:
    ordered = _ordered(known, name)
    return ordered[0], ordered[-1]


def _ordered(known: list[Point], name: str) -> list[Point]:
    return sorted(known, key=lambda point: (_mean(point, name), point["point"]))


def _tied(ordered: Iterable[Point], name: str) -> list[Point]:
    """The first of points in the order of a mean whose texts are the same: what is rounded keeps its order."""
    rest = iter(ordered)
    first = next(rest)
    said = _read(first, name)
    return [first, *takewhile(lambda point: _read(point, name) == said, rest)]


def sentences(summary: dict[str, Any]) -> list[str]:
    """Findings of the sweep as HTML: best and worst point of each figure, the closed form, and the front."""
    parts = []
    for name in shown_figures(summary):
        known = _varying(summary, name)
        if not known:
            continue
        ordered = _ordered(known, name)
        tied, ways = (_tied(ordered, name), _tied(reversed(ordered), name)), ("lowest", "highest")
        if best_way(summary, name) == "highest":
            tied, ways = tied[::-1], ways[::-1]
        near = set(best_of(summary, name)[1]) - {point["point"] for point in tied[0]}
        within = f"; {short(len(near))} other points are within error of it" if len(near) > 1 else ""
        within = "; one other point is within error of it" if len(near) == 1 else within
        first, last = (f"<b>{_read(ends[0], name)}</b> at {_where(ends, len(known))}" for ends in tied)
        subject = spoken(name)
        parts.append(f"{subject[0].upper()}{subject[1:]} is {ways[0]}, {first}, and {ways[1]}, {last}{within}.")
    theory = _theory(summary)
    front = _front(summary)
    room = MOST_SENTENCES - len(theory) - len(front)
    return [*parts[:room], *theory, *front]


def _where(tied: list[Point], count: int) -> str:
    """Location of an extreme as HTML: its point, or how many of `count` points have a mean that reads the same."""
    return text(place(tied[0])) if len(tied) == 1 else f"{short(len(tied))} of {short(count)} points"


def _theory(summary: dict[str, Any]) -> list[str]:
    if not {MEASURED, THEORY} <= set(summary["sweep"]["figures"]):
        return []
    pairs = [(stats[MEASURED]["mean"], stats[THEORY]["mean"]) for stats in (p["figures"] for p in summary["points"])]
    off = [one / two - 1 for one, two in pairs if one is not None and two]
    if not off:
        return []
    least, most = (signed(value, "0.0 %") for value in (min(off), max(off)))
    return [f"Measured write amplification differs from its closed form by {least} to {most}."]


def _front(summary: dict[str, Any]) -> list[str]:
    pareto, count = summary["pareto"], len(summary["points"])
    if not pareto["front"]:
        return []
    *most, last = (spoken(each["figure"]) for each in pareto["figures"])
    of = f"{', '.join(most)} and {last}" if most else last
    return [f"<b>{short(len(pareto['front']))} of {short(count)}</b> points are on the Pareto front of {of}."]
