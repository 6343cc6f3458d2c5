"""How well seven fitted constants give the numbers of Figures 10 and 11 that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

from outlast.reproduce.model import CALIBRATED, Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo import fig10, fig11
from outlast.reproduce.reparo.common import BASELINE, CDR, CDR_STAR, IDR, WITHIN, Records
from outlast.reproduce.reparo.fig10 import LARGE, SMALL, TENTH, faster, took

CONSTANTS = 7
"""`scan_cost`, `copy_cost`, `found_cost`, `mark_cost`, `marked_scan_cost`, `run_cost` and the link's rate."""


def _search(table: Table, scheme: str, than: str) -> float:
    return took(table, scheme, name="identify_min") / took(table, than, name="identify_min")


FITTED: dict[str, tuple[float, Callable[[Table], float]]] = {
    "hours of a rebuild, 32 TB": (8.8, lambda t: took(t, BASELINE) / 60),
    "IDR over the baseline, 32 TB": (14.7, lambda t: faster(t, IDR, BASELINE)),
    "CDR over IDR, 32 TB": (3.1, lambda t: faster(t, CDR, IDR)),
    "CDR* over CDR, 32 TB": (1.27, lambda t: faster(t, CDR_STAR, CDR)),
    "CDR* over the baseline, 32 TB": (57, lambda t: faster(t, CDR_STAR, BASELINE)),
    "the same with a tenth of the bandwidth": (110, lambda t: faster(t, CDR_STAR, BASELINE, bandwidth=TENTH)),
    "CDR's search, of IDR's time": (0.24, lambda t: _search(t, CDR, IDR)),
    "CDR*'s search, of CDR's time": (0.69, lambda t: _search(t, CDR_STAR, CDR)),
    "four cores over one, 4 TB": (2, lambda t: fig11.lead(t, fig11.FOUR, fig11.ONE, SMALL)),
    "four cores over one, 32 TB": (3.1, lambda t: fig11.lead(t, fig11.FOUR, fig11.ONE, LARGE)),
    "block lists over four cores, 16 TB": (1.48, lambda t: fig11.lead(t, fig11.BY_BLOCK, fig11.FOUR, "16 TB")),
    "block lists over four cores, 32 TB": (1.44, lambda t: fig11.lead(t, fig11.BY_BLOCK, fig11.FOUR, LARGE)),
}
"""The paper's numbers, and ours."""


def _rows(setting: Setting, cells: Sequence[Cell], records: Records) -> list[Row]:
    repairs = Table(fig10.rows(setting, cells, records))
    return [
        {"number": name, "paper": paper, "ours": own(repairs), "error_percent": 100 * (own(repairs) / paper - 1)}
        for name, (paper, own) in FITTED.items()
    ]


def _quality(table: Table) -> Found:
    errors = table.values("error_percent")
    worst = max(errors, key=abs)
    spread = sqrt(sum(error**2 for error in errors) / (len(errors) - CONSTANTS))
    words = (
        f"{CONSTANTS} constants for {len(errors)} numbers, so that {len(errors) - CONSTANTS} are left over: the "
        "largest error "
        f"is {worst:+.1f} %, the residual standard deviation {spread:.1f} %"
    )
    return Found(abs(worst) <= 100 * WITHIN, words)


def _why(table: Table) -> str:
    return (
        "four cores cannot be 3.1 times as fast as one and take 76 % less time, and 3.1 times for the whole repair "
        "needs the "
        f"latter; the {len(table.rows)} numbers are not independent either: 57 is the product of three others"
    )


def _cells(setting: Setting) -> list[Cell]:
    pairs = fig10.FIGURE.cells(setting) + fig11.FIGURE.cells(setting)
    return list({tuple(cell.labels.items()): cell for cell in pairs}.values())


FIGURE = Figure(
    "fit",
    "Section 7.2.1: how well the fitted constants fit",
    "The numbers of Figures 10 and 11 that the costs of search and recovery were fitted to, or that follow from them.",
    _cells,
    {"paper": "paper", "ours": "ours", "error_percent": "error, %"},
    lambda _: [],
    [
        Statement(
            f"Each number is met within {100 * WITHIN:.0f} %.",
            "ours",
            _quality,
            _why,
        )
    ],
    ("No prediction: see Figure 10 for what was fitted to what.",),
    _rows,
    CALIBRATED,
)
