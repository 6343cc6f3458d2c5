"""The book of a reproduction: a front page with every statement, and a self-contained page for each paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlast import __version__
from outlast.products.reproduce.model import (
    ASSUMED,
    CALIBRATED,
    CLOSED,
    NUMBER,
    ORDER,
    OURS,
    RUN,
    TEXT,
    Figure,
    Mode,
    Paper,
    Row,
    Table,
    Verdict,
    describe,
    is_counted,
)
from outlast.report.numbers import short, text
from outlast.report.page import Section, document

if TYPE_CHECKING:
    from outlast.products.reproduce.write import Chapter

BADGES = {"agrees": "good", "differs": "warn", "not judged": ""}
Parts = Sequence[tuple[Figure, Table, list[Verdict]]]


def front(chapters: Sequence[Chapter], command: str) -> str:
    """The front page: counts by paper, then every statement with its numbers and verdict."""
    within = [chapter for chapter in chapters if not chapter.paper.apart] or chapters
    every = [verdict for chapter in within for verdict in chapter.verdicts]
    papers = [chapter for chapter in chapters if chapter.paper.against == "paper"]
    title = "Papers, reproduced" if papers else chapters[0].paper.title
    about = f"{len(within)} paper{'s' if len(within) > 1 else ''}" if papers else "measurements"
    header = (
        f'<div class="mark">Outlast</div><h1>{text(title)}</h1>'
        f'<p class="about">{_headline(every, about)}</p>'
        f'<p class="description">Made by <code>{text(command)}</code>. Each paper\'s page has its charts, all numbers '
        "and assumptions.</p>"
    )
    sections = [Section("papers", "Papers", columns="one").add(_summary(chapters))]
    for chapter in chapters:
        name = chapter.paper.name
        counted = _headline(chapter.verdicts, f"the {chapter.paper.against}")
        finding = f'{counted} <a href="{name}.html">Charts and numbers</a>'
        section = Section(name, chapter.paper.title, finding, columns="one")
        body = "".join(
            f'<tr><th colspan="7"><a href="{name}.html#{figure.name}">{text(figure.title)}</a></th></tr>'
            f"{_lines(verdicts)}"
            for figure, _, verdicts in chapter.parts
        )
        section.add(_verdicts(body, chapter.paper.against))
        for card in _notes(chapter.paper, chapter.skipped):
            section.add(card)
        sections.append(section)
    return document(f"{title} · Outlast", header, sections, f"Outlast {text(__version__)}", charts=False)


def _summary(chapters: Sequence[Chapter]) -> str:
    rows = []
    for chapter in chapters:
        verdicts, name = chapter.verdicts, chapter.paper.name
        cells = [f'<a href="#{name}">{text(chapter.paper.title)}</a>', f"{len(chapter.parts)}"]
        for own in _columns(verdicts).values():
            cells.append(f"{_agree(own)} of {len(own)}" if own else "–")
        rows.append(f"<tr>{_cells(cells)}<td>{text(chapter.setting.mode.about)}</td></tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("paper", "figures", *_columns([]), "what was run"))
    return (
        f'<div class="card scroll"><table class="verdicts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _columns(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Verdicts by the columns of the summary: numbers and orders of the paper first, then what is not counted."""

    def of(claim: str, kind: str) -> list[Verdict]:
        return [each for each in verdicts if is_counted(each) and (each["claims"], each["kind"]) == (claim, kind)]

    def aside(kind: str) -> list[Verdict]:
        return [each for each in verdicts if each["whose"] != OURS and each["kind"] == kind]

    return {
        "numbers by simulation": of(NUMBER, RUN),
        "orders by simulation": of(ORDER, RUN),
        "numbers by closed form": of(NUMBER, CLOSED),
        "orders by closed form": of(ORDER, CLOSED),
        "calibrated (not counted)": aside(CALIBRATED),
        "decided by an assumption (not counted)": aside(ASSUMED),
        "consistency of the text (not counted)": aside(TEXT),
        "ours (not counted)": [each for each in verdicts if each["whose"] == OURS],
    }


def _headline(verdicts: Sequence[Verdict], about: str) -> str:
    """Numbers by simulation, then orders and closed forms, and what stands beside them without being counted."""
    numbers, orders, *closed = list(_columns(verdicts).values())[:4]
    forms = [verdict for own in closed for verdict in own]
    words = (
        f"<b>{_agree(numbers)} of {len(numbers)}</b> numbers of {about} agree by simulation. Orders by simulation: "
        f"{_agree(orders)} of {len(orders)}. Numbers and orders by closed forms: {_agree(forms)} of {len(forms)}."
    )
    aside = [f"{len(own)} {ASIDE[name]}" for name, own in list(_columns(verdicts).items())[4:] if own]
    return f"{words} Not counted: {', '.join(aside)}." if aside else words


ASIDE = {
    "calibrated (not counted)": "that a number of the model was set by, or that follow from one",
    "decided by an assumption (not counted)": "that an assumption decides",
    "consistency of the text (not counted)": "that compare the text with itself",
    "ours (not counted)": "of this project",
}
"""Columns of the summary that are not counted, in words."""


def page(paper: Paper, mode: Mode, parts: Parts, skipped: Sequence[str], command: str) -> str:
    """The page of a paper: a section for each figure."""
    verdicts = [verdict for _, _, judged in parts for verdict in judged]
    header = (
        '<div class="mark"><a href="index.html">Outlast: papers, reproduced</a></div>'
        f"<h1>{text(paper.title)}</h1>"
        f'<p class="about">{_headline(verdicts, f"the {paper.against}")}</p>'
        f'<p class="description">{text(mode.about)} Made by <code>{text(command)}</code>.</p>'
    )
    sections = [_section(figure, table, judged, paper.against) for figure, table, judged in parts]
    if cards := _notes(paper, skipped):
        sections.append(Section("skipped", "Left out", cards=cards, columns="one"))
    return document(f"{paper.name} · Outlast", header, sections, f"Outlast {text(__version__)}")


def _agree(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict["verdict"] == "agrees" for verdict in verdicts)


def _notes(paper: Paper, skipped: Sequence[str]) -> list[str]:
    """Cards on what has no row."""
    cards = []
    if skipped:
        cards.append(f'<div class="card notes"><h3>Left out in this run</h3>{_list(skipped)}</div>')
    if paper.elsewhere:
        items = [f"{name}: {reason}" for name, reason in paper.elsewhere.items()]
        cards.append(
            f'<div class="card notes"><h3>Figures and tables of the paper that have no rows</h3>{_list(items)}</div>'
        )
    return cards


def _section(figure: Figure, table: Table, verdicts: Sequence[Verdict], against: str) -> Section:
    counted = [verdict for verdict in verdicts if is_counted(verdict)]
    found = f" <b>{_agree(counted)} of {len(counted)}</b> statements agree." if counted else ""
    finding = f"{text(figure.about)}{found}"
    section = Section(figure.name, figure.title, finding, columns="two")
    for chart in figure.charts(table):
        section.add(chart if chart.data else None)
    if verdicts:
        section.cards.append(_wide(_verdicts(_lines(verdicts), against)))
    if table.rows:
        section.cards.append(_wide(_rows(figure, table)))
    if figure.assumptions:
        section.cards.append(_wide(f'<div class="card notes"><h3>Assumptions</h3>{_list(figure.assumptions)}</div>'))
    return section


def _wide(card: str) -> str:
    return f'<div style="grid-column: 1 / -1">{card}</div>'


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(item)}</li>" for item in items) + "</ul>"


def _verdicts(body: str, against: str) -> str:
    names = ("statement", "kind", against, "closed form", "simulation", "ratio", "verdict")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<div class="card scroll"><table class="verdicts even"><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        "</table></div>"
    )


def _lines(verdicts: Sequence[Verdict]) -> str:
    """A line for each statement; a reason that several share is told once."""
    rows, told = [], set()
    for verdict in verdicts:
        reason = verdict["because"]
        shown = f"because {reason}" if reason not in told else "for the reason given above"
        because = f'<br><span class="muted">{text(shown)}</span>' if reason else ""
        told.add(reason)
        badge = f'<span class="badge {BADGES[verdict["verdict"]]}">{verdict["verdict"]}</span>'
        statement = f'{text(verdict["statement"])} <span class="muted">({text(_place(verdict["where"]))})</span>'
        lines = _numbers(verdict)
        span = f' rowspan="{len(lines)}"' if len(lines) > 1 else ""
        rows.append(
            f"<tr><td{span}>{statement}</td><td{span}>{describe(verdict)}</td>{lines[0]}<td{span}>{badge}{because}</td></tr>"
        )
        rows += [f"<tr>{line}</tr>" for line in lines[1:]]
    return "".join(rows)


def _place(where: str) -> str:
    return f"section {where}" if where[:1].isdigit() else where


def _numbers(verdict: Verdict) -> list[str]:
    """Cells of paper, closed form, simulation and ratio, a line for each figure; words where there is none."""
    words = text(verdict["found"]) or "–"
    numbers = verdict["numbers"]
    if not numbers:
        formula = verdict["kind"] in (CLOSED, TEXT)
        closed, run = (words, "–") if formula else ("–", words)
        return [_cells(["as stated", closed, run, "–"])]
    lines = [
        _cells(
            [
                _number(number["paper"], number["unit"], number["name"]),
                _number(number["closed_form"], number["unit"]),
                _number(number["simulation"], number["unit"]),
                _number(number["ratio"], ""),
            ]
        )
        for number in numbers
    ]
    # Words that say more than the figures do stay with them.
    if any(f"{number['name']} " not in verdict["found"] for number in numbers):
        lines.append(f'<td colspan="4" class="muted">{words}</td>')
    return lines


def _number(value: float | None, unit: str, name: str = "") -> str:
    if value is None:
        return "–"
    label = f"{text(name)} " if name else ""
    shown = f"{value:,.5g}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.3g}"
    return f'{label}<span class="number">{shown}{" " if unit else ""}{text(unit)}</span>'


def _cells(cells: Sequence[str]) -> str:
    return "".join(f"<td>{cell}</td>" for cell in cells)


def label_names(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """The labels of rows: what is text and is no note, in order of appearance."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if isinstance(value, str))
    return [name for name in names if name != "notes" and name not in columns]


def _rows(figure: Figure, table: Table) -> str:
    labels = label_names(table.rows, list(figure.columns))
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in [*labels, *figure.columns.values()])
    body = []
    for row in table.rows:
        cells = [f'<th scope="row">{text(row.get(name, ""))}</th>' for name in labels[:1]]
        cells += [f"<td>{text(row.get(name, ''))}</td>" for name in labels[1:]]
        cells += [f"<td>{_cell(row.get(name))}</td>" for name in figure.columns]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        '<details class="card scroll"><summary>The numbers</summary><table class="figures"><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></details>"
    )


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    # Small rates would be zeros with so many decimals.
    return f"{value:.3g}" if 0 < abs(value) < 1e-3 else short(float(value), 4)
