"""The book of a reproduction: one self-contained page with a section for each figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast import __version__
from outlast.report.numbers import short, text
from outlast.report.page import Section, document
from outlast.reproduce.model import Figure, Mode, Paper, Row, Table

BADGES = {"agrees": "good", "differs": "warn", "not judged": ""}
Verdicts = Sequence[dict[str, str]]


def page(
    paper: Paper, mode: Mode, parts: Sequence[tuple[Figure, Table, Verdicts]], skipped: Sequence[str], command: str
) -> str:
    """The whole page."""
    verdicts = [verdict["verdict"] for _, _, judged in parts for verdict in judged]
    agree = verdicts.count("agrees")
    header = (
        f'<div class="mark">Outlast</div><h1>{text(paper.title)}</h1>'
        f'<p class="about"><b>{agree}</b> of {len(verdicts)} statements of the paper agree with what was simulated.</p>'
        f'<p class="description">{text(mode.about)} Made by <code>{text(command)}</code>.</p>'
    )
    sections = [_section(figure, table, judged) for figure, table, judged in parts]
    if skipped:
        left = Section("skipped", "Left out", columns="one")
        sections.append(left.add(f'<div class="card notes">{_list(skipped)}</div>'))
    return document(f"{paper.name} · Outlast", header, sections, f"Outlast {text(__version__)}")


def _section(figure: Figure, table: Table, verdicts: Verdicts) -> Section:
    agree = sum(verdict["verdict"] == "agrees" for verdict in verdicts)
    finding = f"{text(figure.about)} <b>{agree} of {len(verdicts)}</b> statements agree."
    section = Section(figure.name, figure.title, finding, columns="two")
    for chart in figure.charts(table):
        section.add(chart if chart.data else None)
    section.cards.append(_wide(_judged(verdicts)))
    section.cards.append(_wide(_rows(figure, table)))
    section.cards.append(_wide(f'<div class="card notes"><h3>Assumptions</h3>{_list(figure.assumptions)}</div>'))
    return section


def _wide(card: str) -> str:
    return f'<div style="grid-column: 1 / -1">{card}</div>'


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(item)}</li>" for item in items) + "</ul>"


def _judged(verdicts: Verdicts) -> str:
    rows, told = [], set()
    for verdict in verdicts:
        reason = verdict["because"]
        shown = f"because {reason}" if reason not in told else "for the reason given above"
        because = f'<br><span class="muted">{text(shown)}</span>' if reason else ""
        told.add(reason)
        rows.append(
            f"<dt>{text(verdict['statement'])} <span>(section {text(verdict['where'])})</span></dt>"
            f'<dd><span class="badge {BADGES[verdict["verdict"]]}">{verdict["verdict"]}</span> '
            f"{text(verdict['found'])}{because}</dd>"
        )
    listed = f'<dl style="display: grid; gap: 8px; margin: 0">{"".join(rows)}</dl>'
    return f'<div class="card"><h3>What the paper says</h3>{listed}</div>'


def label_names(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """The labels of rows: what is text and is no note, in order of appearance."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if isinstance(value, str))
    return [name for name in names if name != "notes" and name not in columns]


def _rows(figure: Figure, table: Table) -> str:
    labels = label_names(table.rows, list(figure.columns))
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in [*labels, *figure.columns.values()])
    body = []
    for row in table.rows:
        cells = [f'<th scope="row">{text(row.get(labels[0], ""))}</th>']
        cells += [f"<td>{text(row.get(name, ''))}</td>" for name in labels[1:]]
        cells += [f"<td>{_cell(row.get(name))}</td>" for name in figure.columns]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        '<details class="card scroll"><summary>The numbers</summary><table class="figures"><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></details>"
    )


def _cell(value: Any) -> str:
    return "–" if value is None else short(float(value), 4)
