"""Figures 3 and 4 with simulated repairs: what the time of a repair does to the time until data is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast import models
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import bars, log_axis
from outlast.reproduce.model import CALIBRATED, RUN, Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo import fig10
from outlast.reproduce.reparo.common import BASELINE, DIES, WITHIN, Records
from outlast.reproduce.reparo.fig10 import ALL, LARGE, REPAIRS, SMALL

SSDS, MTTF_HOURS, GROUP = 8, 1.5e6, 16
"""Section 7.1's array; a mean time to failure as data sheets name it; section 3's UL-RAID(16)."""
TINY = "512 GB"
TINY_DRIVE: dict[str, Any] = {"device.geometry.channels": 8, "device.geometry.dies_per_chip": 1}
"""Eight dies of 512 Gib (section 2.2)."""


def _cells(setting: Setting) -> list[Cell]:
    found = [fig10.cell(setting, capacity, own) for capacity in (SMALL, LARGE) for own in (BASELINE, *REPAIRS)]
    base = fig10.cell(setting, SMALL, BASELINE, more=TINY_DRIVE)
    return [*found, Cell({"capacity": TINY, "scheme": BASELINE, "bandwidth": ALL}, base.layers, base.overrides)]


def _rows(setting: Setting, cells: Sequence[Cell], records: Records) -> list[Row]:
    found: list[Row] = []
    for repair in fig10.rows(setting, cells, records):
        hours = repair["total_min"] / 60
        row = {name: repair[name] for name in ("capacity", "scheme")} | {"mttr_hours": hours}
        row["mttdl_years"] = float(models.mttdl(SSDS, 1, MTTF_HOURS, hours)) / 8760
        found.append(row | {"p2": float(models.second_failures(hours, MTTF_HOURS, GROUP))})
    return found


def _longer(table: Table) -> Found:
    parts = []
    for own in REPAIRS:
        years, hours = (
            table.value(name, capacity=LARGE, scheme=own) / table.value(name, capacity=LARGE, scheme=BASELINE)
            for name in ("mttdl_years", "mttr_hours")
        )
        words = f"{own} {years:.1f} times the baseline's, its repair takes 1/{1 / hours:.1f} of the time"
        parts.append(Found(abs(years * hours - 1) <= WITHIN, words))
    return every(parts)


def _linear(table: Table) -> Found:
    large, tiny = (table.value("p2", capacity=capacity, scheme=BASELINE) for capacity in (LARGE, TINY))
    return near("sixteen SSDs:", large / tiny, 64, WITHIN * 64, "×")


def _charts(table: Table) -> Any:
    x = [BASELINE, *REPAIRS]
    series = {at: [table.value("mttdl_years", capacity=at, scheme=own) for own in x] for at in (SMALL, LARGE)}
    return [bars("mttdl-years", "Mean time to data loss of eight SSDs", x, series, log_axis("years"))]


FIGURE = Figure(
    "mttdl",
    "Section 3, Equation 1: double failures by simulated repairs",
    "Figure 10's repair times as MTTR: further failures while a repair is under way, and the mean time until two "
    "failures meet.",
    _cells,
    {"mttr_hours": "MTTR, h", "mttdl_years": "MTTDL of 8, years", "p2": "P2 of 16"},
    _charts,
    [
        Statement(
            "In UL-RAID(16) P2 increases 64 times over sixteen 512-GB SSDs.",
            "3, Equation 1",
            _linear,
            "rebuilds take as long as the drive's bytes over the link",
            kind=RUN,
        ),
        Statement(
            "The time until double failures lose data grows as repairs get faster.",
            "3, Equation 1",
            _longer,
            "a repair is no longer short beside the time between failures",
        ),
    ],
    (
        f"MTTDL is of a Markov chain (`outlast model mttdl`) of {SSDS} SSDs that fail once in {MTTF_HOURS:g} hours "
        "(assumed: data "
        "sheets), without read failures; a die's failure is taken as an SSD's.",
        f"The {TINY} SSD has {DIES[SMALL] // 8} dies, and is rebuilt by Rebuild Assist, as the baseline.",
    ),
    _rows,
    CALIBRATED,
)
