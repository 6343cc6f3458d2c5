"""Figures 3 and 4, Equations 1 and 2: how likely an array is to be rebuilt, and to lose data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every, near, rising
from outlast.reproduce.diffraid.common import bars, log_axis
from outlast.reproduce.model import CLOSED, TEXT, Cell, Figure, Found, Number, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import PRINTED, no_cells

Records = Sequence[Mapping[str, Any]]
SIZES = (4, 8, 12, 16, 20, 24)
RATES = {"0.1 % a year": 0.001, "0.5 % a year": 0.005, "2 % a year": 0.02}
"""Assumed: the paper takes those of Figure 2, which its text does not give."""
SMALL, LARGE = 512e9, 32e12
SMALL_DIES, LARGE_DIES = 8, 512
UBER = 1e-16
DIE_SHARE = 0.03
"""Of the sudden failures of a 512-GB SSD (section 3)."""
YEAR_HOURS = 8760.0
SMALL_HOURS = 8.8 * SMALL_DIES / LARGE_DIES
"""A rebuild of a 512-GB SSD, at Figure 1a's rate."""


def _fig03(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    return [
        {"ssds": f"{n}"} | {f"p_{index}": float(models.any_failure(n, p)) for index, p in enumerate(RATES.values())}
        for n in SIZES
    ]


def _more_rebuilds(table: Table) -> Found:
    parts = []
    for index, rate in enumerate(RATES):
        values = [(f"{n}", 100 * table.value(f"p_{index}", ssds=f"{n}")) for n in SIZES]
        parts.append(rising(rate, values, unit=" %", slack=0.0))
    return every(parts)


FIG03 = Figure(
    "fig03",
    "Figure 3: rebuilds by size of the group",
    "Probability that a group of n SSDs is rebuilt in a year (footnote 4).",
    no_cells,
    {f"p_{index}": rate for index, rate in enumerate(RATES)},
    lambda table: [
        bars(
            "fig03-rebuilds",
            "Probability of a rebuild in a year",
            [f"{n}" for n in SIZES],
            {rate: table.values(f"p_{index}") for index, rate in enumerate(RATES)},
            axis("probability", rangemode="tozero"),
        )
    ],
    [Statement("The more SSDs, the more frequent rebuilds are.", "3, Figure 3", _more_rebuilds, kind=TEXT)],
    ("Yearly failure rates of 0.1, 0.5 and 2 % are assumed: those of the field study are not in the text.",),
    _fig03,
    CLOSED,
)


def failure_rate(rate: float, dies: int, share: float = DIE_SHARE) -> float:
    """Failure rate of an SSD by its dies, when dies make a share of that of a 512-GB one."""
    return rate * ((1 - share) + share * dies / SMALL_DIES)


def data_loss(n: int, capacity: float, dies: int, rate: float, share: float = DIE_SHARE) -> float:
    """Probability that an array of n loses data in a year: a device fails, and then another, or a read does."""
    own = failure_rate(rate, dies, share)
    first = float(models.any_failure(n, own))
    hours = SMALL_HOURS * dies / SMALL_DIES
    second = float(models.double_failure(hours, YEAR_HOURS / own, n))
    read = float(models.read_failure(UBER, (n - 1) * capacity * 8))
    return first * (1 - (1 - second) * (1 - read))


def _fig04(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    return [
        {"ssds": f"{n}"}
        | {
            f"amplification_{index}": data_loss(n, LARGE, LARGE_DIES, rate) / data_loss(4, SMALL, SMALL_DIES, rate)
            for index, rate in enumerate(RATES.values())
        }
        for n in SIZES
    ]


def _reads(_: Table) -> Found:
    small, large = (float(models.read_failure(UBER, 15 * capacity * 8)) for capacity in (SMALL, LARGE))
    return near("sixteen SSDs:", large / small, 52, PRINTED, "×")


def _thousand(table: Table) -> Found:
    values = {rate: table.value(f"amplification_{index}", ssds="24") for index, rate in enumerate(RATES)}
    words = ", ".join(f"{value:,.0f} times at {rate}" for rate, value in values.items())
    holds = all(1000 < value < 2000 for value in values.values())
    return Found(holds, words, (Number("least", min(values.values()), 1000, "×"),))


def _why_thousand(_: Table) -> str:
    worse = {
        share: data_loss(24, LARGE, LARGE_DIES, 0.005, share) / data_loss(4, SMALL, SMALL_DIES, 0.005, share)
        for share in (0.0, DIE_SHARE)
    }
    return (
        "more than 1,000 is taken as less than 2,000. Failure rates, and how a double failure and a read failure are "
        "put "
        f"together, are not in the text: at 0.5 % a year it would be {worse[0.0]:,.0f} if larger drives failed no more "
        f"often, and is {worse[DIE_SHARE]:,.0f} with 3 % of failures in proportion to dies"
    )


def _grows(table: Table) -> Found:
    return rising("", [(f"{n}", table.value("amplification_1", ssds=f"{n}")) for n in SIZES], slack=0.0)


def _charts(table: Table) -> list[Chart]:
    series = {rate: table.values(f"amplification_{index}") for index, rate in enumerate(RATES)}
    x = [f"{n}" for n in SIZES]
    return [bars("fig04-loss", "Data loss, × four 512-GB SSDs", x, series, log_axis("times"))]


FIG04 = Figure(
    "fig04",
    "Figure 4, Equations 1 and 2: data loss",
    "Double failures and read failures of arrays of 32-TB SSDs beside four of 512 GB.",
    no_cells,
    {f"amplification_{index}": f"× at {rate}" for index, rate in enumerate(RATES)},
    _charts,
    [
        Statement("In UL-RAID(16) P_rf increases 52 times over sixteen 512-GB SSDs.", "3, Equation 2", _reads),
        Statement("The larger the group, the likelier data loss.", "3, Figure 4", _grows, kind=TEXT),
        Statement(
            "Data loss is more than 1,000 times likelier in UL-RAID(24) than with four 512-GB SSDs.",
            "3, Figure 4",
            _thousand,
            _why_thousand,
        ),
    ],
    (
        "UBER 1e-16; the survivors are read whole, in decimal capacities (32 TB over 512 GB is 62.5; dies are 64).",
        "How the paper puts failures together is not in the text: here a device fails, and during its rebuild another, "
        "or a read. Equation 1 is taken as the exponent of a probability.",
        "Dies make 3 % of the failures of a 512-GB SSD, and 64 times as many in one of 32 TB. Rates are assumed as in "
        "Figure 3.",
    ),
    _fig04,
    CLOSED,
)
