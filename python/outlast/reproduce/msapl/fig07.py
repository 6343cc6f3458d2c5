"""Figure 7: the life that less write amplification gives."""

from __future__ import annotations

import math

from outlast import models
from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import near, percent
from outlast.reproduce.model import CLOSED, TEXT, Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.msapl.common import ESAP, ESAP_MORE, MSAPL, POINTS, WORKLOADS, cells_of, saved

SCHEMES = (ESAP, ESAP_MORE, MSAPL)
PAPER_WAF = 1 - WORKLOADS["Financial"].waf / 100
TARGET = 1e-15
"""Errors of hard disks, which section 6 takes as what is acceptable."""
LEAD_ENDS = 19_000
CODE = {"n": 65_536, "k": 8, "stripe": 8, "parities": 2}
"""Table 3."""


def cells(setting: Setting) -> list[Cell]:
    """Financial under eSAP and mSAPL: cells of Figure 5."""
    return [cell for cell in cells_of(setting, {}) if cell.labels["workload"] == "Financial" and _wanted(cell)]


def _wanted(cell: Cell) -> bool:
    return cell.labels["scheme"] in SCHEMES


def log_uper(cycles: float, waf: float) -> float:
    """Ln UPER by Equation 5 when eSAP has made so many cycles, for a write amplification beside eSAP's."""
    return float(models.uper(models.rber("msapl", cycles * waf), log=True, **CODE))


def _factor(table: Table, base: str = ESAP) -> float:
    return 1 / (1 - saved(table, "write_amplification", "Financial", MSAPL, base) / 100)


def crossing() -> float:
    """The cycles at which Table 3's code reaches the error rate of hard disks."""
    low, high = 0.0, 40_000.0
    for _step in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if log_uper(middle, 1.0) < math.log(TARGET) else (low, middle)
    return low


def _paper_factor(_: Table) -> Found:
    return percent("1 / (1 - 0.133) - 1 =", 100 / PAPER_WAF - 100, 16, 1)


def _ends(_: Table) -> Found:
    esap = crossing()
    mine = near("mSAPL, 13.3 % less worn,", esap / PAPER_WAF, LEAD_ENDS, 500, " cycles")
    return Found(mine.holds, f"{mine.words}; eSAP at {esap:,.0f}", mine.numbers)


def _own_factor(table: Table) -> Found:
    return percent("life", 100 * _factor(table) - 100, 16, POINTS)


def _why_factor(table: Table) -> str:
    return (
        "the life is in proportion to 1 / WAF, so that it differs as Figure 5 does; beside an eSAP with as much spare "
        f"space it is {100 * _factor(table, ESAP_MORE) - 100:.0f} % longer; the figure spare "
        "has what would make it agree"
    )


def _lower(_: Table) -> Found:
    points = [1000.0 * step for step in range(1, 20)]
    holds = all(log_uper(x, PAPER_WAF) < log_uper(x, 1.0) for x in points)
    gap = [log_uper(x, 1.0) - log_uper(x, PAPER_WAF) for x in (10_000.0, 19_000.0)]
    words = (
        f"eSAP's is {2.718281828 ** gap[0]:.3g} times mSAPL's at 10 000 cycles, {2.718281828 ** gap[1]:.3g} at 19 000"
    )
    return Found(holds, words)


def _charts(table: Table) -> list[Chart]:
    cycles = [500.0 * step for step in range(1, 61)]
    curves = {ESAP: 1.0, "mSAPL, 13.3 % less": PAPER_WAF}
    if table.has(workload="Financial", scheme=MSAPL):
        curves["mSAPL as measured"] = 1 / _factor(table)
    data = [
        line(cycles, [log_uper(x, waf) / 2.302585 for x in cycles], name, RUN_COLOURS[index])
        for index, (name, waf) in enumerate(curves.items())
    ]
    layout = {"xaxis": axis("P/E cycles of eSAP"), "yaxis": axis("log10 of UPER"), "hovermode": "x"}
    return [Chart("fig07-uper", data, layout, "Uncorrectable page error rate", "Equation 5, Table 3", 320)]


FIGURE = Figure(
    "fig07",
    "Figure 7: error rate and life",
    "Error rates by Equation 5 with Table 3's code, worn by the write amplification of Financial.",
    cells,
    {"write_amplification": "write amplification"},
    _charts,
    [
        Statement("13.3 % less write amplification is 16 % more life.", "6", _paper_factor, kind=TEXT),
        Statement("mSAPL's life is 16 % longer than eSAP's.", "6, Figure 7", _own_factor, _why_factor),
        Statement("mSAPL has the lower error rate until about 19 000 cycles.", "6, Figure 7", _lower, kind=TEXT),
        Statement(
            "At about 19 000 cycles mSAPL reaches the error rate of hard disks, 1e-15, too.",
            "6, Figure 7 (our reading)",
            _ends,
            kind=CLOSED,
        ),
    ],
    (
        "Table 3: n = 64 Kb, k = 8, N = 8. mSAPL's data is all given two parities, as section 6 does.",
        "Error rates depend on wear alone, so at any target the life is in proportion to 1 / WAF.",
    ),
)
