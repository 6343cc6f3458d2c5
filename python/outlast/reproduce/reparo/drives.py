"""Figure 1 and section 2.2: large drives take long to rebuild and lose dies often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import CLOSED, TEXT, Cell, Figure, Found, Number, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import DIE_BYTES, DIES, PRINTED, WITHIN, no_cells

Records = Sequence[Mapping[str, Any]]
LINKS = {"6 Gbit/s": 6e9, "12 Gbit/s": 12e9}
CODING = 8 / 10
"""SAS up to 12 Gbit/s sends ten bits for eight."""
PPM = (25, 50, 100)


def rebuild_hours(dies: int, link: str) -> float:
    """All of a drive's flash over a link, after its 8b/10b coding."""
    return dies * DIE_BYTES * 8 / (LINKS[link] * CODING) / 3600


def die_failure(dies: int, ppm: float) -> float:
    """Probability that a drive loses a die (footnote 2)."""
    return float(models.any_failure(dies, ppm * 1e-6))


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    base = die_failure(DIES["4 TB"], 25)
    return [
        {"capacity": capacity, "dies": dies}
        | {f"hours_{link.split()[0]}": rebuild_hours(dies, link) for link in LINKS}
        | {f"failures_{ppm}": die_failure(dies, ppm) / base for ppm in PPM}
        for capacity, dies in DIES.items()
    ]


def _hours(table: Table) -> Found:
    return near("32 TB at 12 Gbit/s", table.value("hours_12", capacity="32 TB"), 8.8, WITHIN * 8.8, " h")


def _failures(table: Table) -> Found:
    return every(
        [
            near("25 PPM", table.value("failures_25", capacity="32 TB"), 8, PRINTED, "×"),
            near("100 PPM", table.value("failures_100", capacity="32 TB"), 31, PRINTED, "×"),
        ]
    )


def _charts(table: Table) -> list[Chart]:
    x = list(DIES)
    hours = {link: [row[f"hours_{link.split()[0]}"] for row in table.rows] for link in LINKS}
    failures = {f"{ppm} PPM": [row[f"failures_{ppm}"] for row in table.rows] for ppm in PPM}
    return [
        bars("fig01a", "Figure 1a: rebuild at full bandwidth", x, hours, axis("hours", rangemode="tozero")),
        bars("fig01b", "Figure 1b: drives with a failed die", x, failures, axis("× 4 TB at 25 PPM")),
    ]


FIG01 = Figure(
    "fig01",
    "Figure 1: recovery time and die failures by capacity",
    "How long a whole drive takes over its link, and how often it loses a die.",
    no_cells,
    {
        "dies": "dies",
        "hours_6": "hours at 6 Gbit/s",
        "hours_12": "hours at 12 Gbit/s",
        "failures_25": "× at 25 PPM",
        "failures_50": "× at 50 PPM",
        "failures_100": "× at 100 PPM",
    },
    _charts,
    [
        Statement("The recovery of a 32-TB SSD takes 8.8 hours with 12 Gbit/s.", "1, Figure 1a", _hours, kind=TEXT),
        Statement(
            "From 4 to 32 TB defective dies increase 8 times at 25 PPM and 31 times at 100 PPM.",
            "1, Figure 1b",
            _failures,
        ),
    ],
    (
        "All flash of the drive, 64 GiB a die, at the rate of the link after its coding of ten bits for eight, and no "
        "other cost of the protocol. The paper's 8.8 hours are 8 % more.",
        "The text names two of Figure 1b's three defect rates; the third is taken to be 50 PPM.",
    ),
    _rows,
    CLOSED,
)

BLOCKS, LIMIT = 5460, 2.5
"""Blocks of a die; the share of bad blocks, in percent, at which a drive is considered to have failed."""


def _dies(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    return [
        {"drive": drive, "dies": dies, "blocks": dies * BLOCKS, "percent": 100 * BLOCKS / (dies * BLOCKS)}
        for drive, dies in {"512 GB": 8, **DIES}.items()
    ]


def _small_fails(table: Table) -> Found:
    share = table.value("percent", drive="512 GB")
    number = Number("limit", share, LIMIT, "%")
    return Found(share > LIMIT, f"{share:.1f} % of its blocks, more than {LIMIT} %", (number,))


def _large_survives(table: Table) -> Found:
    return near("32 TB", table.value("percent", drive="32 TB"), 0.2, PRINTED / 10, " %")


SECTION2 = Figure(
    "section2",
    "Section 2.2: a die beside a drive",
    "Which share of a drive's blocks is bad when one die has failed.",
    no_cells,
    {"dies": "dies", "blocks": "blocks", "percent": "bad after a die failure, %"},
    lambda _: [],
    [
        Statement("A single die failure is more than a 512-GB SSD of 8 dies may lose.", "2.2", _small_fails),
        Statement("In a 32-TB SSD it is 0.2 % of the blocks.", "2.2", _large_survives),
    ],
    ("Blocks of the flash; the text says user-visible ones, which are a tenth fewer.",),
    _dies,
    TEXT,
)
