"""Figure 11: how fast failed addresses are found."""

from __future__ import annotations

from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every, rising
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import CALIBRATED, Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.reparo.common import CDR, CDR_STAR, DIES, IDR, PAGES, THREE, TWO, about, points
from outlast.reproduce.reparo.fig10 import LARGE, SMALL, cell, rows, took

ONE, FOUR, BY_PAGE, BY_BLOCK = "one core", "four cores", "page lists", "block lists"
CORES = {ONE: IDR, "two cores": TWO, "three cores": THREE, FOUR: CDR}
TECHNIQUES = CORES | {BY_PAGE: PAGES, BY_BLOCK: CDR_STAR}


def _cells(setting: Setting) -> list[Cell]:
    return [cell(setting, capacity, scheme, file="fig11.toml") for capacity in DIES for scheme in TECHNIQUES.values()]


def speed(table: Table, technique: str, capacity: str) -> float:
    """Addresses looked through in a time, beside one core on 4 TB."""
    own = took(table, TECHNIQUES[technique], capacity, "identify_min")
    base = took(table, IDR, SMALL, "identify_min")
    return DIES[capacity] / DIES[SMALL] * base / own


def lead(table: Table, technique: str, over: str, capacity: str) -> float:
    """How many times as fast a technique is as another."""
    return speed(table, technique, capacity) / speed(table, over, capacity)


def _rises(table: Table) -> Found:
    return every(
        [rising(own, [(capacity, speed(table, own, capacity)) for capacity in DIES], slack=0.0) for own in TECHNIQUES]
    )


def _two(table: Table) -> Found:
    return about("4 TB:", lead(table, FOUR, ONE, SMALL), 2)


def _three(table: Table) -> Found:
    return about("32 TB:", lead(table, FOUR, ONE, LARGE), 3.1)


def _pages(table: Table) -> Found:
    leads = {capacity: lead(table, BY_PAGE, FOUR, capacity) for capacity in DIES}
    words = ", ".join(f"{capacity} {value:.2f}×" for capacity, value in leads.items())
    return Found(max(leads.values()) < 1, f"beside four cores: {words}")


def _why_pages(table: Table) -> str:
    reads = took(table, PAGES, LARGE, "identify_min") - took(table, CDR_STAR, LARGE, "identify_min")
    return (
        f"reading every page of the neighbouring die takes {60 * reads:.0f} s here at each capacity, at the speed of "
        "the flash (60 µs and the transfer, two planes at once), and the marks save the more the larger the table is. "
        "What the paper's firmware does for each page besides is not in the text; with half as much again it would be "
        "slower on 32 TB, too"
    )


def _blocks(table: Table) -> Found:
    leads = {capacity: lead(table, BY_BLOCK, FOUR, capacity) for capacity in DIES}
    words = ", ".join(f"{capacity} {value:.2f}×" for capacity, value in leads.items())
    return Found(min(leads.values()) > 1, f"beside four cores: {words}")


def _leads(table: Table) -> Found:
    paper = {"16 TB": 48, LARGE: 44}
    return every(
        [points(f"{at}, % faster:", 100 * (lead(table, BY_BLOCK, FOUR, at) - 1), value) for at, value in paper.items()]
    )


def _more_cores(table: Table) -> Found:
    parts = []
    for capacity in DIES:
        speeds = [speed(table, own, capacity) / speed(table, ONE, capacity) for own in CORES]
        words = ", ".join(f"{value:.2f}" for value in speeds)
        parts.append(Found(speeds == sorted(speeds), f"{capacity}: {words} times as fast with one to four cores"))
    return every(parts)


def _why_two_to_four(table: Table) -> str:
    each = ", ".join(f"{lead(table, FOUR, ONE, capacity):.2f}× at {capacity}" for capacity in DIES)
    return f"{each}: the costs are a compromise with 76 % less time at 32 TB (Figure 10c), which is 4.2 times as fast"


def _charts(table: Table) -> list[Chart]:
    series = {own: [speed(table, own, capacity) for capacity in DIES] for own in TECHNIQUES}
    unit = axis("× one core at 4 TB", rangemode="tozero")
    return [bars("fig11-speed", "Identification performance", list(DIES), series, unit)]


FIGURE = Figure(
    "fig11",
    "Figure 11: performance of Identifier",
    "Addresses looked through in a time: by the victim core alone, by all four, by lists of the neighbour.",
    _cells,
    {"identify_min": "Identifier, min", "failed_units": "failed units found"},
    _charts,
    [
        Statement("The larger the SSD, the faster addresses are looked through.", "7.2.1, Figure 11", _rises),
        Statement("Four cores are about twice as fast as one on 4 TB.", "7.2.1, Figure 11", _two),
        Statement("Four cores are 3.1 times as fast as one on 32 TB.", "7.2.1, Figure 11", _three, _why_two_to_four),
        Statement("The more cores search, the faster it is.", "7.2.1, Figure 11", _more_cores),
        Statement(
            "Page-level lists take longer than four cores at all capacities.", "7.2.1, Figure 11", _pages, _why_pages
        ),
        Statement("Block-level lists are faster than four cores at all capacities.", "7.2.1, Figure 11", _blocks),
        Statement("Block-level lists lead by 48 % on 16 TB and 44 % on 32 TB.", "7.2.1, Figure 11", _leads),
    ],
    (
        "Costs were fitted to some of these statements (see Figure 10). What two and three cores give is in the "
        "figure only, "
        "not in the text.",
        "One core is IDR's search, the others are of cooperative recovery (`device.repair.search_cores`).",
    ),
    rows,
    CALIBRATED,
)
