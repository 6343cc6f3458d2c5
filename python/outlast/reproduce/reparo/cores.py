"""Figures 7 and 8, Tables 1 and 2, Equations 3 and 4: cores that lose dies, and the space that others lend them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.report.figure import axis
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Number, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import CORES, no_cells
from outlast.reproduce.reparo.example import ADDRESSES, lost, redirected

Records = Sequence[Mapping[str, Any]]
DIES = (4, 8, 16, 32, 64, 128)
"""Dies of each core, the columns of both tables."""
TABLE_1 = (33.33, 14.29, 6.67, 3.23, 1.59, 0.79)
TABLE_2 = (6.67, 3.23, 1.59, 0.79, 0.39, 0.20)


def _table(which: str, printed: Sequence[float]) -> Any:
    def rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
        found = []
        for dies, paper in zip(DIES, printed, strict=True):
            share = models.isolated_increase(dies) if which == "IDR" else models.shared_increase(CORES, dies)
            found.append({"dies": f"{dies}", "percent": 100 * float(share), "paper": paper})
        return found

    return rows


def _to_the_digit(table: Table) -> Found:
    numbers = tuple(Number(f"{row['dies']} dies", row["percent"], row["paper"], "%") for row in table.rows)
    same = sum(round(row["percent"], 2) == row["paper"] for row in table.rows)
    return Found(same == len(DIES), f"{same} of {len(DIES)} values to the digit printed", numbers)


def _chart(which: str, table: Table) -> Any:
    series = {"computed": table.values("percent"), "printed": table.values("paper")}
    x = [row["dies"] for row in table.rows]
    return bars(f"{which}-increase", "Utilisation after a die failure", x, series, axis("%", rangemode="tozero"))


COLUMNS = {"percent": "increase, %", "paper": "paper, %"}


def apart(dies_per_core: int, failures: int) -> float:
    """By how many percent Equation 4, applied once a failure of the same core, misses the ideal space of that core."""
    extra = float(models.extra_space(1 / CORES, CORES * dies_per_core))
    victim = 1 / CORES - failures * (CORES - 1) * extra
    left = [float(dies_per_core)] * (CORES - 1) + [float(dies_per_core - failures)]
    ideal = models.balanced_spaces(1.0, left)[-1]
    return 100 * (victim / float(ideal) - 1)


def _four_failures(_: Table) -> Found:
    return near("64 dies a core, four failures of one core:", apart(64, 4), 0.06, 0.005, " %")


TABLE1 = Figure(
    "table1",
    "Table 1: utilisation under isolated recovery",
    "The victim core makes up for the die alone: 1/(x − 1).",
    no_cells,
    COLUMNS,
    lambda table: [_chart("table1", table)],
    [Statement("The six values of the victim core.", "5.2, Table 1", _to_the_digit)],
    (),
    _table("IDR", TABLE_1),
    CLOSED,
)
TABLE2 = Figure(
    "table2",
    "Table 2: utilisation under cooperative recovery",
    "All four cores share the loss: 1/(4·x − 1).",
    no_cells,
    COLUMNS,
    lambda table: [_chart("table2", table)],
    [
        Statement("The six values, of victim and helper cores alike.", "5.2.1, Table 2", _to_the_digit),
        Statement(
            "After four die failures in one core of 64 dies Equation 4 is 0.06 % apart from the ideal.",
            "5.2.1",
            _four_failures,
        ),
    ],
    ("0.06 % is read as the victim core's logical space beside space in proportion to dies.",),
    _table("CDR", TABLE_2),
    CLOSED,
)

SPACE, DIE_SPACE, DIES_PER_CORE, VICTIM = 60, 6, 4, 3
"""The example of Figure 8: logical units in all and physical ones of a die."""


def _fig08(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    extra = float(models.extra_space(SPACE / CORES, CORES * DIES_PER_CORE))
    rows: list[Row] = []
    for core in range(CORES):
        dies = DIES_PER_CORE - (core == VICTIM)
        space = SPACE / CORES + (extra if core != VICTIM else -(CORES - 1) * extra)
        before, alone = SPACE / CORES / (DIES_PER_CORE * DIE_SPACE), SPACE / CORES / (dies * DIE_SPACE)
        rows.append(
            {"core": f"core {core}", "space": space, "before": before, "alone": alone}
            | {"after": space / (dies * DIE_SPACE)}
        )
    return rows


def _spaces(table: Table) -> Found:
    helper, victim = (table.value("space", core=core) for core in ("core 0", f"core {VICTIM}"))
    return every([near("helper", helper, 16, 1e-9, " units"), near("victim", victim, 12, 1e-9, " units")])


def _utilisation(table: Table) -> Found:
    row = table.row(core=f"core {VICTIM}")
    alike = max(table.values("after")) - min(table.values("after")) < 1e-12
    parts = [near("before", row["before"], 0.625, 5e-4), near("after, every core", row["after"], 0.67, 5e-3)]
    found = every([*parts, near("victim without adjustment", row["alone"], 0.83, 5e-3)])
    return Found(found.holds and alike, found.words, found.numbers)


def _where_to(_: Table) -> Found:
    found = redirected()
    words = ", ".join(f"{lba} to core {core}" for lba, core in found.items())
    return Found(found == {3: 0, 7: 1, 11: 2}, f"of the addresses below {ADDRESSES} the drive moves {words}")


FIG08 = Figure(
    "fig08",
    "Figure 8, Equations 3 and 4: space moves between cores",
    "Four cores of four dies, 60 logical units, six physical ones a die; core 3 loses a die.",
    no_cells,
    {"space": "logical units", "before": "utilisation before", "alone": "without adjustment", "after": "adjusted"},
    lambda table: [
        bars(
            "fig08-utilisation",
            "Utilisation by core",
            [row["core"] for row in table.rows],
            {label: table.values(name) for label, name in (("alone", "alone"), ("adjusted", "after"))},
            axis("logical over physical", rangemode="tozero"),
        )
    ],
    [
        Statement("Each helper core gains 1, the victim core loses 3 of 15 units.", "5.2.1, Figure 8", _spaces),
        Statement("Utilisation rises from 0.625 to 0.67 in all cores; alone it would be 0.83.", "5.2.1", _utilisation),
        Statement("LBAs 3, 7 and 11 go to cores 0, 1 and 2.", "5.2.2, Figure 8", _where_to),
    ],
    (
        "Where addresses go is asked of a drive of such cores and dies, which has ten times as many: each is written "
        "anew.",
    ),
    _fig08,
    CLOSED,
)


def _lost(_: Table) -> Found:
    words = f"of LBAs 0 to 47 the drive no longer reads {', '.join(map(str, lost()))}"
    return Found(lost() == (15, 31, 47), words)


FIG07 = Figure(
    "fig07",
    "Figure 7: isolated recovery, an example",
    "Addresses go to cores in turn, and within a core to its dies in turn; one of core 3's four dies fails.",
    no_cells,
    {},
    lambda _: [],
    [
        Statement("Of LBAs 0 to 47 it is 15, 31 and 47 that have failed.", "4.2.2, 4.2.3, Figure 7", _lost),
    ],
    ("A drive of such cores and dies was written in order; its last die fails, and every address is read.",),
    lambda _, __, ___: [],
    CLOSED,
)
