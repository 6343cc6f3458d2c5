"""The report of a fit: measured against simulated, what was found, and what could not be."""

from __future__ import annotations

import math
from typing import Any

from outlast import __version__
from outlast.products.fit.engine import Fit
from outlast.products.fit.observe import Observation
from outlast.products.fit.parameters import STAGES, stage_named
from outlast.products.fit.words import (
    NOT_TOLD,
    fitted_figures,
    format_figure,
    format_value,
    given,
    interval,
    percent,
    title,
    trust,
)
from outlast.report.figure import Figure, axis
from outlast.report.numbers import short, text
from outlast.report.page import Section, Tile, document

NINETY = 1.645
"""Standard deviations on either side that hold nine of ten values."""


def page(fit: Fit) -> str:
    """The whole page."""
    sections = [_fitted_section(fit), _figures(fit), _choices(fit), _missing(fit)]
    footer = f"Outlast {text(__version__)} · simulated beside what was measured"
    return document(f"{fit.measured.name}, fitted · Outlast", _header(fit), sections, footer)


def rows(fit: Fit) -> list[tuple[Observation, str, float, float | None]]:
    """Each figure with its kind (`fitted` or `predicted`), what the fitted drive gives, and by how much that is off."""
    found = {each.stage for each in fit.found.values()} | set(fit.choices)
    listed = []
    for seen, log in zip(fit.seen, fit.simulated, strict=True):
        kind = "fitted" if seen.stage in found else "predicted"
        value = math.exp(log) if math.isfinite(log) else None
        listed.append((seen, kind, seen.figure.value, value))
    return listed


def missed(fit: Fit, kind: str) -> tuple[float, float] | None:
    """The mean and the largest error of figures of one kind."""
    errors = [abs(value / measured - 1) for _, own, measured, value in rows(fit) if own == kind and value is not None]
    return (sum(errors) / len(errors), max(errors)) if errors else None


MAIN = ("dies", "read", "program", "effective")
"""The numbers that say most of a drive, for the first screen."""


def _header(fit: Fit) -> str:
    tiles = [
        Tile(text(title(name)), text(format_value(name, fit.found[name].value)), text(interval(fit.found[name])))
        for name in MAIN
        if name in fit.found
    ]
    for kind in ("fitted", "predicted"):
        if (errors := missed(fit, kind)) is not None:
            tiles.append(
                Tile(f"error of {kind} figures", percent(errors[0]), f"on average; at most {percent(errors[1])}")
            )
    marks = ""
    if fit.scale > 1.05:
        noise = f"{math.sqrt(fit.scale):.1f} times the measurement noise"
        words = f"residuals are {noise}; intervals are widened by that factor"
        marks = f'<p class="badges"><span class="badge warn">{words}</span></p>'
    rows = len(fit.measured.rows)
    source = f"{rows} row{'' if rows == 1 else 's'} of {text(fit.measured.source)}, {short(fit.runs)} simulated runs"
    return (
        f'<div class="mark">Outlast</div><h1>{text(fit.measured.name)}</h1>'
        f'<p class="about">A simulated drive, fitted to measurements: {source}.</p>'
        f'<p class="description">{text(trust(fit))}</p>{marks}'
        f'<div class="tiles">{"".join(tile.html() for tile in tiles)}</div>'
    )


def _table(head: list[str], body: list[list[str]], prose: tuple[int, ...] = ()) -> str:
    """A table, of which the columns in `prose` are sentences and not numbers."""
    kind = [' class="prose"' if column in prose else "" for column in range(len(head))]
    top = "".join(f'<th scope="col"{own}>{each}</th>' for each, own in zip(head, kind, strict=True))
    lines = [
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td{own}>{cell}</td>" for cell, own in zip(row[1:], kind[1:], strict=True))
        + "</tr>"
        for row in body
    ]
    rows = f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="card scroll"><table class="figures wide">{rows}</table></div>'


def _fitted_section(fit: Fit) -> Section:
    body = [
        [
            text(title(each.name)),
            text(format_value(each.name, each.value)),
            text(interval(each)),
            text(fitted_figures(each, fit)),
        ]
        for each in fit.found.values()
    ]
    section = Section("found", "Fitted numbers")
    return section.add(_table(["number", "value", "90 % interval", "fitted to"], body, (3,))) if body else section


def _figures(fit: Fit) -> Section:
    section = Section("figures", "Given and simulated figures", columns="one")
    section.add(_errors(fit))
    body = []
    for seen, kind, measured, value in rows(fit):
        without = fit.left_out.get(f"{seen.row.place} {seen.name}")
        body.append([
            text(str(seen.row.load)), text(seen.name), text(given(seen)), text(format_figure(seen.name, value)),
            "–" if value is None else percent(value / measured - 1, signed=True), kind,
            "–" if without is None else percent(without, signed=True), text(seen.row.place.rpartition("/")[2]),
        ])  # fmt: skip
    head = ["load", "figure", "given", "simulated", "error", "role", "error if left out", "from"]
    return section.add(_table(head, body, (2, 7)))


def _errors(fit: Fit) -> Figure:
    """Errors of all figures by name, with the 90 % interval of each measurement around zero error."""
    listed = rows(fit)
    names = [f"{text(str(seen.row.load))}: {text(seen.name)}" for seen, _, _, _ in listed]
    data: list[dict[str, Any]] = []
    for kind, colour in (("fitted", "var:--read"), ("predicted", "var:--write")):
        own = [(name, seen, value / measured - 1)
               for name, (seen, each, measured, value) in zip(names, listed, strict=True)
               if each == kind and value is not None]  # fmt: skip
        if own:
            data.append({
                "type": "scatter", "mode": "markers", "x": [error for _, _, error in own],
                "y": [name for name, _, _ in own], "name": kind, "marker": {"color": colour, "size": 8},
                "error_x": {"type": "data", "array": [math.expm1(NINETY * seen.sigma) for _, seen, _ in own]},
                "hovertemplate": "%{y}: %{x:+.1%}<extra></extra>",
            })  # fmt: skip
    layout = {
        "xaxis": axis("simulated over given", tickformat="+.1~%", zeroline=True),
        "yaxis": {"autorange": "reversed", "automargin": True, "categoryorder": "array", "categoryarray": names},
    }
    hint = "whiskers: 90 % interval of the measurement"
    return Figure("errors", data, layout, "Error of the fitted drive", hint, height=120 + 24 * len(set(names)))


def _choices(fit: Fit) -> Section:
    section = Section("choices", "Compared choices")
    body = [
        [text(stage_named(name).title), text(choice.taken), text(choice.words())]
        for name, choice in fit.choices.items()
    ]
    head = ["setting", "taken", "error of each choice (root mean square)"]
    return section.add(_table(head, body, (2,))) if body else section


def _missing(fit: Fit) -> Section:
    section = Section("missing", "What could not be identified")
    body = [[text(stage.title), text(fit.missing[stage.name])] for stage in STAGES if stage.name in fit.missing]
    body += [[text(each), "no measurement from outside shows it"] for each in NOT_TOLD]
    return section.add(_table(["number", "reason"], body, (1,)))
