"""The page of a plan: a table for each subject, made to be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlast.planning import words
from outlast.report.names import terabytes
from outlast.report.numbers import short, text, tiny
from outlast.report.page import Section, Tile, document
from outlast.report.tables import rows_card

if TYPE_CHECKING:
    from outlast.planning import LayoutPlan


def page(plan: LayoutPlan) -> str:
    """The whole page. It has no charts, and so needs no library."""
    names = [layout.name for layout in plan.layouts]
    sections = []
    for title, rows in words.groups(plan):
        section = Section(title.split()[0].lower(), title, columns="one")
        cells = [(name, *values) for name, values in rows]
        sections.append(section.add(rows_card(title, ("", *names), cells, wide=True)))
    items = "".join(f"<li>{text(note)}</li>" for note in words.notes(plan))
    sections.append(Section("notes", "Basis", columns="one").add(f'<div class="card notes"><ul>{items}</ul></div>'))
    tiles = "".join(_tile(plan, index).html() for index in range(len(names)))
    header = (
        f'<div class="mark">Outlast</div><h1>{text(plan.spec.name)}</h1>'
        f'<p class="about">{text(words.title(plan))}</p><div class="tiles">{tiles}</div>'
    )
    from outlast.version import named

    return document(f"{plan.spec.name} · Outlast", header, sections, f"<p>Outlast {text(named())}</p>", charts=False)


def _tile(plan: LayoutPlan, index: int) -> Tile:
    """A layout with its capacity, its risk and its price."""
    layout = plan.layouts[index]
    note = f"{tiny(layout.loss_in_period)} lost in {plan.spec.years:g} years"
    if layout.price_per_tb_year is not None:
        note += f", {short(layout.price_per_tb_year)} {plan.spec.drives.currency} per TB and year"
    return Tile(layout.name, terabytes(layout.usable_bytes), text(note))
