"""report.html: what was found, when it is bad, and how to see each bad state again."""

from __future__ import annotations

import shlex

from outlast import __version__
from outlast.products.torture.junit import why
from outlast.products.torture.result import Failure, Result
from outlast.products.torture.results import Verdict
from outlast.products.torture.summary import ALLOWED, NOTHING, named, risk_text
from outlast.products.torture.timeline import timeline
from outlast.report.numbers import percent, seconds, short, size, text
from outlast.report.page import Section, Tile, document

MOST_ROWS = 200
"""Bad states in the table; results.jsonl has all."""


def page(result: Result) -> str:
    """The whole page."""
    figure = timeline(result)
    sections = [_when(result), _failures(result), _models(result), _bad(result)]
    footer = f"Outlast {text(__version__)} · simulated, not measured on hardware"
    title = f"{result.request.run.name} · Outlast"
    if figure is not None:
        sections[0].add(figure)
    return document(title, _header(result), sections, footer, charts=figure is not None)


def _header(result: Result) -> str:
    request, bad, facts = result.request, len(result.bad), result.facts
    planned = sum(result.planned.values())
    left = planned - len(result.verdicts)
    marks = [f'<span class="badge bad">{bad} bad</span>' if bad else '<span class="badge good">none bad</span>']
    if left:
        marks.append(f'<span class="badge warn">{left} of {planned} not checked</span>')
    where = "in process" if request.in_process else f"{request.fs}, by {result.backend}"
    tiles = [
        Tile("states", short(len(result.verdicts)), f"of {short(planned)}"),
        Tile("bad states", short(bad), f"{len(result.failures)} distinct" if bad else ""),
        Tile(
            "recorded", f"{short(facts['writes'])} writes", f"{short(facts['flushes'])} flushes, {size(facts['bytes'])}"
        ),
    ]
    for model in result.planned:
        for group, risk in result.risks_of(model).items():
            about = "exact" if risk.exact else f"{percent(risk.low)} to {percent(risk.high)}"
            value = "–" if risk.value is None else percent(risk.value)
            tiles.append(Tile(f"power loss at a random instant, {text(group)}", value, about))
    if result.checked_now:
        workers = f"{request.jobs} worker{'s' if request.jobs > 1 else ''}"
        tiles.append(
            Tile("states a second", short(result.rate), f"{seconds(result.seconds)}, {workers}; {text(where)}")
        )
    check = request.in_process or shlex.join(request.command)
    return (
        f'<div class="mark">Outlast torture</div><h1>{text(request.run.name)}</h1><p class="about">{text(check)}</p>'
        f'<p class="badges">{"".join(marks)}</p><div class="tiles">{"".join(tile.html() for tile in tiles)}</div>'
    )


def _failures(result: Result) -> Section:
    section = Section("failures", "What fails", columns="one")
    for failure in result.failures:
        section.add(_card(failure, result))
    return section


def _card(failure: Failure, result: Result) -> str:
    smallest, first = failure.smallest, failure.states[0]
    meaning = ALLOWED.get(first.model, "")
    checks = f" ({failure.checks} checks)" if failure.checks else ""
    how = f"; each of them is needed{checks}" if failure.minimal else f"; fewer might be enough{checks}"
    enough = f"{smallest.lost} of {first.lost} lost pieces of writes {'is' if smallest.lost == 1 else 'are'} enough"
    lost = f"{enough}{how}" if smallest.lost else NOTHING
    count = len(failure.states)
    return (
        f'<div class="card"><h3>{text(why(smallest))}</h3><p class="finding"><b>{count}</b> '
        f"state{'s' if count > 1 else ''} of {text(first.group)}{f': {meaning}' if meaning else ''}. "
        f"{lost}.</p>{_details(smallest, result)}</div>"
    )


def _details(verdict: Verdict, result: Result) -> str:
    """The witness, the output and the line that checks a bad state again."""
    lost = [str(entry["text"]) for entry in verdict.witness]
    if len(lost) < verdict.lost:
        lost.append(f"and {verdict.lost - len(lost)} more")
    parts = [("lost", "\n".join(lost) or "nothing"), ("output", verdict.output.rstrip() or "none")]
    parts.append(("again", result.request.reproduce(verdict.state)))
    return "".join(f'<p class="muted">{name}</p><pre class="told">{text(value)}</pre>' for name, value in parts)


def _when(result: Result) -> Section:
    section = Section("when", "When", columns="one")
    told = []
    for model in result.planned:
        for group, risk in result.risks_of(model).items():
            low, high = risk.bounds
            rest = (
                "" if risk.exact else f"; between {percent(low)} and {percent(high)}, whatever the unchecked states are"
            )
            told.append(f"{text(group)} <b>{risk_text(risk)}</b>{rest}")
    if told:
        section.finding = f"Probability that a power loss at a random instant leaves a bad state: {'; '.join(told)}."
    return section


def _models(result: Result) -> Section:
    section = Section("models", "By model", columns="one")
    rows = []
    for model, counts in result.by_model().items():
        cells = [f"<td>{short(counts[name])}</td>" for name in ("planned", "checked", "bad")]
        risks = "<br>".join(f"{named(group, model)}{risk_text(risk)}" for group, risk in result.risks_of(model).items())
        rows.append(f'<tr><th scope="row">{text(model)}</th>{"".join(cells)}<td>{risks or "–"}</td></tr>')
    names = ("states", "checked", "bad", "power loss at a random instant")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return section.add(
        '<div class="card scroll"><table class="figures"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _bad(result: Result) -> Section:
    section = Section("bad", "Bad states", columns="one")
    bad = result.bad
    if not bad:
        return section
    if len(bad) > MOST_ROWS:
        section.finding = f"{MOST_ROWS} of {len(bad)}; results.jsonl has all."
    rows = [
        f'<tr><td class="number">{text(_short_name(verdict))}</td><td class="number">{_at(verdict, result)}</td>'
        f"<td>{text(verdict.mark or '')}</td><td>{verdict.lost}</td>"
        f"<td><details><summary>{text(why(verdict))}</summary>{_details(verdict, result)}</details></td></tr>"
        for verdict in bad[:MOST_ROWS]
    ]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("state", "at", "last mark", "lost", "how"))
    return section.add(
        f'<div class="card scroll"><table class="verdicts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _at(verdict: Verdict, result: Result) -> str:
    return f"{verdict.at_ns / 1e6:,.3f} ms" if result.facts["has_times"] else f"event {verdict.event}"


def _short_name(verdict: Verdict) -> str:
    return verdict.state if len(verdict.state) <= 60 else f"{verdict.state[:60]}…"
