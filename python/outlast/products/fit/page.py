"""The report of a fit: measured against simulated, what was found, and what could not be."""

from __future__ import annotations

import math

from outlast import __version__
from outlast.products.fit.engine import Fit
from outlast.products.fit.observe import Observation
from outlast.products.fit.parameters import STAGES, stage_named
from outlast.products.fit.words import NOT_TOLD, fitted_figures, format_value, interval, title
from outlast.report.figure import Figure, axis
from outlast.report.numbers import micros, short, text
from outlast.report.page import Section, Tile, document


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


def _header(fit: Fit) -> str:
    tiles = [Tile("rows", short(len(fit.measured.rows)), text(fit.measured.source)), Tile("runs", short(fit.runs))]
    for kind in ("fitted", "predicted"):
        if (errors := missed(fit, kind)) is not None:
            tiles.append(Tile(f"{kind} figures", f"{errors[0]:.1%}", f"off in the mean, {errors[1]:.1%} at most"))
    marks = ""
    if fit.scale > 1.05:
        noise = f"{math.sqrt(fit.scale):.1f} times the measurement noise"
        words = f"residuals are {noise}; intervals are widened by that factor"
        marks = f'<p class="badges"><span class="badge warn">{words}</span></p>'
    return (
        f'<div class="mark">Outlast</div><h1>{text(fit.measured.name)}</h1><p class="about">A drive fitted to what was '
        f'measured of it.</p>{marks}<div class="tiles">{"".join(tile.html() for tile in tiles)}</div>'
    )


def _table(head: list[str], body: list[list[str]]) -> str:
    top = "".join(f'<th scope="col">{each}</th>' for each in head)
    lines = [f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in body]
    rows = f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="card scroll"><table class="figures wide">{rows}</table></div>'


def _fitted_section(fit: Fit) -> Section:
    body = [
        [
            text(title(each.name)),
            text(format_value(each.name, each.value)),
            text(interval(each)),
            text(fitted_figures(each)),
        ]
        for each in fit.found.values()
    ]
    section = Section("found", "What was found")
    return section.add(_table(["number", "value", "90 % interval", "of what"], body)) if body else section


def _figures(fit: Fit) -> Section:
    section = Section("figures", "Measured against simulated", columns="one")
    section.add(_errors(fit))
    body = []
    for seen, kind, measured, value in rows(fit):
        without = fit.left_out.get(f"{seen.row.place} {seen.name}")
        body.append([
            text(str(seen.row.load)), text(seen.name), _value(seen.name, measured), _value(seen.name, value),
            "–" if value is None else f"{value / measured - 1:+.1%}", kind,
            "–" if without is None else f"{without:+.1%}", text(seen.row.place),
        ])  # fmt: skip
    head = ["load", "figure", "measured", "simulated", "off by", "kind", "off if left out", "from"]
    return section.add(_table(head, body))


def _value(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return short(value, 4) if name in ("iops", "waf") else micros(value * 1e6)


def _errors(fit: Fit) -> Figure:
    data = []
    for kind, colour in (("fitted", "var:--read"), ("predicted", "var:--write")):
        own = [(number, seen, value / measured - 1) for number, (seen, each, measured, value) in enumerate(rows(fit), 1)
               if each == kind and value is not None]  # fmt: skip
        if own:
            names = [f"{text(str(seen.row.load))}: {text(seen.name)}" for _, seen, _ in own]
            data.append({
                "type": "scatter", "mode": "markers", "x": [number for number, _, _ in own],
                "y": [error for _, _, error in own], "name": kind, "text": names,
                "marker": {"color": colour, "size": 8}, "hovertemplate": "%{text}: %{y:+.1%}<extra></extra>",
            })  # fmt: skip
    layout = {
        "xaxis": axis("figure, in order of the table"),
        "yaxis": axis("simulated over measured", tickformat="+.0%"),
    }
    return Figure("errors", data, layout, "How far the fitted drive is off", height=280)


def _choices(fit: Fit) -> Section:
    section = Section("choices", "Compared as a list")
    body = [
        [text(stage_named(name).title), text(choice.taken), text(choice.words())]
        for name, choice in fit.choices.items()
    ]
    head = ["what", "taken", "misses its figures by (root mean square)"]
    return section.add(_table(head, body)) if body else section


def _missing(fit: Fit) -> Section:
    section = Section("missing", "What could not be identified")
    body = [[text(stage.title), text(fit.missing[stage.name])] for stage in STAGES if stage.name in fit.missing]
    body += [[text(each), "not identifiable from outside, whatever is measured"] for each in NOT_TOLD]
    return section.add(_table(["what", "why"], body))
