"""Table 1: space efficiency."""

from __future__ import annotations

from collections.abc import Callable

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import near
from outlast.reproduce.flexible.common import CODES, DOUBLE, NONE, SINGLE, TWO_LEVEL
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Setting, Statement, Table

PAPER = {SINGLE: 87.5, DOUBLE: 75.0, TWO_LEVEL: 85.9}


def cells(setting: Setting) -> list[Cell]:
    """The drive written once, under each code."""
    return [Cell({"code": code}, [setting.scenarios / "space.toml"], changes) for code, changes in CODES.items()]


def efficiency(table: Table, code: str) -> float:
    """Pages of data among the pages written, in percent."""
    return 100 / table.value("write_amplification", code=code)


CLOSED_FORMS = {SINGLE: 700 / 8, DOUBLE: 600 / 8, TWO_LEVEL: 700 / 8 * 63 / 64}
"""Shares of data by the codes alone, in percent."""


def _is(code: str) -> Callable[[Table], Found]:
    return lambda table: near(code, efficiency(table, code), PAPER[code], 0.05, " %", CLOSED_FORMS[code])


def _why(_: Table) -> str:
    return (
        "7 x 63 of the 8 x 64 pages of a product code hold data, 7/8 x 63/64 = 86.13 %. The paper's figure is "
        "7/8 - 1/64 = 85.94 %: it takes the page off that is parity of a block in the parity blocks, too, which were "
        "not data before"
    )


def _charts(table: Table) -> list[Chart]:
    rows = [row | {"scheme": row["code"], "efficiency": efficiency(table, row["code"])} for row in table.rows]
    return [bars(table, "space", "Pages of data among all, %", "efficiency", "%", across=("code",), rows=rows)]


FIGURE = Figure(
    "space",
    "Table 1: space efficiency",
    "Everything is written once, and pages are counted.",
    cells,
    {"write_amplification": "pages written a page of data", "wa_parity": "of these parity"},
    _charts,
    [
        *(Statement(f"{code} leaves {PAPER[code]} % to data.", "Table 1", _is(code), _why) for code in PAPER),
        Statement(
            "Without a code everything is data.", "Table 1", lambda table: near(NONE, efficiency(table, NONE), 100, 0)
        ),
    ],
    ("The parity of a last stripe that is not full is not yet written at the end: 0.02 points.",),
    kind=TEXT,
)
