"""Section 3.4: the code of each block group follows its own wear, continuously."""

from __future__ import annotations

from itertools import pairwise

from outlast.report.figure import Figure as Chart
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Row, Setting, Statement, Table

CYCLES = (800, 950, 1000, 1050, 1200)
"""P/E cycles of the mean block before the run."""
YOUNG, OLD = 1 / 7, 2 / 6
"""Parity for each page of data under (7,1) and (6,2)."""


def cells(setting: Setting) -> list[Cell]:
    """The same run at several wear states."""
    return [
        Cell(
            {"cycles": f"{cycles}"},
            [setting.scenarios / "wear.toml"],
            {"device.reliability.initial.pe_cycles": cycles},
        )
        for cycles in CYCLES
    ]


def share(row: Row) -> float:
    """How many percent of the data were written under (6,2), by the pages of parity."""
    parity = float(row["wa_parity"])
    return 100 * (parity / (float(row["write_amplification"]) - parity) - YOUNG) / (OLD - YOUNG)


def shares(table: Table) -> list[float]:
    """At the wear states, in order."""
    return [share(table.row(cycles=f"{cycles}")) for cycles in CYCLES]


def _by_group(table: Table) -> Found:
    found = shares(table)
    holds = all(b >= a - 0.5 for a, b in pairwise(found)) and found[0] < 1 and found[-1] > 99
    mixed = any(1 < own < 99 for own in found)
    words = ", ".join(f"{own:.0f} % at {cycles}" for cycles, own in zip(CYCLES, found, strict=True))
    return Found(holds and mixed, f"data under (6,2), by cycles before the run: {words}")


def _charts(table: Table) -> list[Chart]:
    rows = [row | {"scheme": "(6,2)", "share": share(row)} for row in table.rows]
    return [bars(table, "wear", "Data under (6,2)", "share", "%", across=("cycles",), rows=rows)]


FIGURE = Figure(
    "wear",
    "Section 3.4: the code follows wear",
    "A block group gets (7,1) when it is opened with fewer than a thousand erasures, else (6,2).",
    cells,
    {"write_amplification": "write amplification", "wa_parity": "of these parity"},
    _charts,
    [Statement("Block groups change to the stronger code one by one as they wear.", "3.4 (ours)", _by_group)],
    ("The paper leaves the trigger open: a thousand erasures of the mean block of the group are assumed.",),
)
