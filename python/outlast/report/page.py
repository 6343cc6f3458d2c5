"""The frame of every report: head, styles, plotly.js and the script that draws."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from outlast.errors import OutputError
from outlast.report.bundle import PLACE
from outlast.report.figure import Figure
from outlast.report.names import label
from outlast.report.numbers import text


@dataclass
class Section:
    """A part of the page: a heading, a sentence on what was found, and cards."""

    name: str
    title: str
    finding: str = ""
    cards: list[str] = field(default_factory=list)
    columns: str = "two"
    figures: list[Figure] = field(default_factory=list)
    """The charts among the cards, as data."""

    def add(self, card: Figure | str | None) -> Section:
        """Appends a card; `None` is left out."""
        if isinstance(card, Figure):
            self.figures.append(card)
        if card is not None and card != "":
            self.cards.append(card.html() if isinstance(card, Figure) else card)
        return self

    def html(self) -> str:
        """The section, or nothing if it has nothing to show."""
        if not self.cards and not self.finding:
            return ""
        finding = f'<p class="finding">{self.finding}</p>' if self.finding else ""
        columns = self.columns if len(self.cards) > 1 else "one"
        cards = f'<div class="grid {columns}">{"".join(self.cards)}</div>' if self.cards else ""
        return f'<section id="{self.name}"><h2>{text(self.title)}</h2>{finding}{cards}</section>'


@dataclass
class Tile:
    """One headline figure."""

    label: str
    value: str
    note: str = ""
    spark: str = ""
    tip: str = ""
    """Attributes that make it explain itself: see `names.tip`."""

    def html(self) -> str:
        """The tile."""
        title = label(self.label, self.tip)
        return (
            f'<div class="tile"{self.tip}><span class="label">{title}</span> <span class="value">{self.value}</span> '
            f'<span class="note">{self.note}</span>{self.spark}</div>'
        )


@cache
def _plotly_js() -> str:
    """The chart library, packed: a third of its size, and every browser since 2023 unpacks it by itself."""
    small = files("outlast.report").joinpath("assets", PLACE.name)
    # Read as a file: importing plotly would take longer than writing the page.
    library = small if small.is_file() else _whole()
    # Without a time, so that the same result has the same page.
    return b64encode(gzip.compress(library.read_bytes(), 9, mtime=0)).decode()


def _whole() -> Traversable:
    try:
        return files("plotly").joinpath("package_data/plotly.min.js")
    except ModuleNotFoundError as error:
        says = f"this installation lacks the chart library of reports ({PLACE.name}): install outlast[notebook]"
        raise OutputError(says) from error


@cache
def asset(name: str) -> str:
    """The text of a file that comes with the report."""
    return files("outlast.report").joinpath("assets", name).read_text(encoding="utf-8")


def document(title: str, header: str, sections: Iterable[Section], footer: str, *, charts: bool = True) -> str:
    """The whole page. It loads nothing: a content policy forbids every connection. `charts`: it has any."""
    shown = [(section, html) for section in sections if (html := section.html())]
    links = "".join(f'<a href="#{section.name}">{text(section.title)}</a>' for section, _ in shown)
    drawing = (
        f'<script type="application/json" id="frame">{asset("frame.json")}</script>\n'
        f'<script type="application/gzip" id="library">{_plotly_js()}</script>\n'
        f"<script>\n{asset('report.js')}</script>\n"
    )
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{text(title)}</title>\n<style>\n{asset('report.css')}</style></head>\n<body>\n"
        f"<header>{header}</header>\n<nav>{links}</nav>\n<main>{''.join(html for _, html in shown)}</main>\n"
        f"<footer>{footer}</footer>\n<script>\n{asset('tips.js')}</script>\n{drawing if charts else ''}</body></html>\n"
    )


def sparkline(values: list[float | None]) -> str:
    """A small curve without axes, from 0 to its maximum."""
    points = [(i, v) for i, v in enumerate(values) if v is not None]
    top = max((v for _, v in points), default=0.0)
    if len(points) < 3 or top <= 0:
        return ""
    last = len(values) - 1
    path = " ".join(f"{100 * i / last:.1f},{23 - 21 * v / top:.1f}" for i, v in points)
    first_x, last_x = 100 * points[0][0] / last, 100 * points[-1][0] / last
    return (
        '<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">'
        f'<polygon points="{first_x:.1f},24 {path} {last_x:.1f},24"/>'
        f'<polyline points="{path}" vector-effect="non-scaling-stroke"/></svg>'
    )
