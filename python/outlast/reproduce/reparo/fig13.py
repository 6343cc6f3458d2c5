"""Figure 13: write amplification after a die has failed and been repaired."""

from __future__ import annotations

from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import Cell, Figure, Found, Number, Setting, Statement, Table
from outlast.reproduce.reparo.common import CDR, CDR_STAR, CORES, DIES, IDR, NEW, SCATTER, points
from outlast.reproduce.reparo.fig12 import (
    LISTS,
    RANDOM_WRITE,
    SEQUENTIAL_WRITE,
    SMALL,
    WITH_LISTS,
    cells_of,
    figure_of,
    rows,
)
from outlast.reproduce.reparo.space import after


def _cells13(setting: Setting) -> list[Cell]:
    return cells_of(setting, (SEQUENTIAL_WRITE, RANDOM_WRITE), "fig13.toml")


def _more(table: Table, stream: str, capacity: str, scheme: str) -> float:
    return 100 * (figure_of(table, "waf_ratio", stream, capacity, scheme) - 1)


def _sequential_idr(table: Table) -> Found:
    rest = [_more(table, SEQUENTIAL_WRITE, at, own) for at in DIES for own in (IDR, CDR)]
    found = points("4 TB, % more:", _more(table, SEQUENTIAL_WRITE, SMALL, IDR), 7)
    return Found(found.holds, f"{found.words}; the others at most {max(rest):.1f} % more (paper 2 %)", found.numbers)


SEQUENTIAL_IS_ONE = (
    "whole superblocks are stale when a sequential writer comes back to them, so that nothing is copied however little "
    "spare space there is: WAF is 1. What was random in the paper's drive before, or beside its writer, is not in the "
    "text"
)


def _whole(table: Table) -> Found:
    return points("8 TB, all cores, % more:", _more(table, RANDOM_WRITE, "8 TB", IDR), 47)


def _why_whole(table: Table) -> str:
    closed = 100 * (after(DIES["8 TB"] // CORES, 1) - 1)
    core = 100 * (victim(table, "8 TB") - 1)
    return (
        "writes are spread over four cores, of which three have the spare space that they had. Of the victim core "
        f"alone it is {core:.0f} %, {closed:.0f} % in closed form; were all cores as it is, it would be {core:.0f} "
        "%, too"
    )


def victim(table: Table, capacity: str) -> float:
    """Write amplification of IDR's victim core beside that core of a new drive."""
    return figure_of(table, "waf_core", RANDOM_WRITE, capacity, IDR) / figure_of(
        table, "waf_core", RANDOM_WRITE, capacity, NEW
    )


def _shared(table: Table) -> Found:
    value = _more(table, RANDOM_WRITE, "8 TB", CDR)
    closed = 100 * (after(DIES["8 TB"], 1) - 1)
    words = f"{value:.1f} % more, {closed:.1f} % in closed form; runs scatter by {SCATTER:g} %"
    return Found(value + 2 * SCATTER < 9, words, (Number("8 TB, at most", value, 9, "%", closed=closed),))


def _even(table: Table) -> Found:
    parts = []
    for capacity in DIES:
        idr, cdr = (_more(table, RANDOM_WRITE, capacity, scheme) for scheme in (IDR, CDR))
        parts.append(Found(cdr < idr, f"{capacity} CDR {cdr:.1f} %, IDR {idr:.1f} % more"))
    return every(parts)


def _lists(table: Table) -> Found:
    waf = {scheme: figure_of(table, "waf", LISTS, SMALL, scheme) for scheme in WITH_LISTS}
    return points("4 TB, % more:", 100 * (waf[CDR_STAR] / waf[CDR] - 1), 1.5)


def _why_lists(_: Table) -> str:
    return (
        "a list takes one page of 768, and so much of the spare space; how much is held back besides decides the rest"
    )


def _charts13(table: Table) -> list[Chart]:
    found = []
    for stream in (SEQUENTIAL_WRITE, RANDOM_WRITE):
        series = {
            own: [figure_of(table, "waf_ratio", stream, capacity, own) for capacity in DIES] for own in (IDR, CDR)
        }
        if stream == RANDOM_WRITE:
            series["IDR, victim core"] = [victim(table, capacity) for capacity in DIES]
        unit = axis("WAF beside new", rangemode="tozero")
        found.append(bars(f"fig13-{stream.replace(' ', '-')}", stream.capitalize(), list(DIES), series, unit))
    return found


FIGURE = Figure(
    "fig13",
    "Figure 13: write amplification after a die has been repaired",
    "Pages written for each page of the host, beside a new SSD of the same capacity.",
    _cells13,
    {"waf": "WAF", "waf_ratio": "beside new", "waf_core": "core 0"},
    _charts13,
    [
        Statement(
            "Sequential writes: IDR's WAF is 7 % higher on 4 TB.",
            "7.2.2, Figure 13a",
            _sequential_idr,
            SEQUENTIAL_IS_ONE,
        ),
        Statement("Random writes: IDR's WAF is 47 % higher on 8 TB.", "7.2.2, Figure 13b", _whole, _why_whole),
        Statement("Random writes: CDR's is less than 9 % higher on 8 TB.", "7.2.2, Figure 13b", _shared),
        Statement("CDR keeps spare space more even, and has less WAF than IDR.", "7.2.2, Figure 13b", _even),
        Statement("CDR*'s WAF is 1.5 % above CDR's.", "7.2.2, Figure 13b", _lists, _why_lists),
    ],
    ("As Figure 12. The victim core's WAF is what it writes for each page that the host writes to it.",),
    rows,
)
