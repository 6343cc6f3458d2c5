"""Figure 5: write latency."""

from __future__ import annotations

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import SLACK, every, rising
from outlast.reproduce.flexible.common import CODES, DOUBLE, NONE, SINGLE, TWO_LEVEL
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Number, Setting, Statement, Table

PAGES = range(1, 7)
WITHIN = 0.1
"""Parities are whole ones."""


def cells(setting: Setting) -> list[Cell]:
    """Writes of 1 to 6 pages under each code."""
    return [
        Cell(
            {"pages": f"{pages}", "scheme": code},
            [setting.scenarios / "fig05.toml"],
            {"workload.synthetic.size": f"{4 * pages}KiB", **changes},
        )
        for pages in PAGES
        for code, changes in CODES.items()
    ]


def _order(table: Table) -> Found:
    parts = []
    for pages in PAGES:
        values = [(code, table.value("write_mean_us", pages=f"{pages}", scheme=code)) for code in CODES]
        parts.append(rising(f"{pages} pages", values, unit=" µs", slack=0.0))
    return every(parts)


def _parallel(table: Table) -> Found:
    one, six = (table.value("write_mean_us", pages=pages, scheme=NONE) for pages in ("1", "6"))
    return Found(six <= one * (1 + SLACK), f"without a code {one:.1f} µs for one page, {six:.1f} µs for six")


def _by_parity(table: Table) -> Found:
    base = table.value("write_mean_us", pages="1", scheme=NONE)
    added = {c: table.value("write_mean_us", pages="1", scheme=c) - base for c in (SINGLE, DOUBLE, TWO_LEVEL)}
    ratio = added[DOUBLE] / added[SINGLE], added[TWO_LEVEL] / added[SINGLE]
    words = f"added to a write of one page, (7,1) being 1: (6,2) {ratio[0]:.2f}, (7,1) + (63,1) {ratio[1]:.2f}"
    numbers = Number("(6,2)", ratio[0], 2, "×"), Number("(7,1) + (63,1)", ratio[1], 4, "×")
    return Found(all(abs(own - paper) <= WITHIN for own, paper in zip(ratio, (2, 4), strict=True)), words, numbers)


def _charts(table: Table) -> list[Chart]:
    return [bars(table, "fig05-latency", "Write latency", "write_mean_us", "µs", across=("pages",))]


FIGURE = Figure(
    "fig05",
    "Figure 5: write latency",
    "Writes of 1 to 6 pages to flash, one at a time, each page to another card.",
    cells,
    {"write_mean_us": "mean write, µs", "write_amplification": "pages written a page of data"},
    _charts,
    [
        Statement(
            "The amount of parity per page determines the performance: each code costs more.", "4.3", _order, kind=TEXT
        ),
        Statement(
            "Writes of several pages go to several cards at once, so that six take as long as one.", "4.3", _parallel
        ),
        Statement(
            "(7,1) writes 1 parity per page, (6,2) writes 2, (7,1) + (63,1) writes 4.",
            "4.3",
            _by_parity,
            "a page of data changes three parities here: that of its stripe, of its block, and of the block in which "
            "the stripe's parity lies. The fourth of the paper we cannot place",
        ),
    ],
    (
        "Figure 5's values are not in the text; what the text says of them is judged.",
        "A write ends on flash. Parity is staged in the cache and programmed when its stripe or block is full "
        "(section 3.5), while the host does something else; what a write waits for is the encoding, 4.883 µs for each "
        "page and parity, derived from the rebuild times.",
    ),
)
