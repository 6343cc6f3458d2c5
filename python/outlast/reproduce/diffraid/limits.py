"""Figures 9 and 10: weaker ECC, and devices used beyond their erasure limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.report.figure import Figure as Chart
from outlast.reproduce.diffraid.common import ASSUMED_CURVE, RAID5, array_of, at_the_end, bars, log_axis, no_cells
from outlast.reproduce.model import Figure, Found, Number, Row, Statement, Table

Records = Sequence[Mapping[str, Any]]
LEVELS = (1, 2, 3, 4, 5, 6)
LIMITS = tuple(range(10_000, 20_001, 1_000))


def _pairs(array: dict[str, Any], setting: str, values: Sequence[int]) -> list[Row]:
    return [
        {
            "case": f"{value:,} {'bits' if setting == 'ecc' else 'cycles'}",
            setting: value,
            "diff": at_the_end(array, **{setting: value})[0],
            "raid5": at_the_end(array, **{setting: value}, parity_percent=RAID5)[0],
        }
        for value in values
    ]


def _chart(table: Table, setting: str, chart: str, title: str) -> Chart:
    series = {"Diff-RAID": [row["diff"] for row in table.rows], "RAID-5": [row["raid5"] for row in table.rows]}
    return bars(chart, title, [f"{row[setting]}" for row in table.rows], series, log_axis("data loss probability"))


def _at(table: Table, setting: str, value: int) -> Row:
    return next(row for row in table.rows if row[setting] == value)


def _three_for_five(table: Table) -> Found:
    diff, raid5 = _at(table, "ecc", 3)["diff"], _at(table, "ecc", 5)["raid5"]
    return Found(0.1 <= diff / raid5 <= 10, f"{diff:.1e} with 3 bits against {raid5:.1e} of RAID-5 with 5")


def _no_worse(table: Table) -> Found:
    diff, raid5 = _at(table, "ecc", 3)["diff"], _at(table, "ecc", 5)["raid5"]
    return Found(diff <= raid5, f"{diff:.1e} against {raid5:.1e}: {raid5 / diff:.1f} times better")


FIG09 = Figure(
    "fig09",
    "Figure 9: weaker ECC suffices",
    "Data loss probability by bits corrected in each 512-byte sector: (80, 5, 5, 5, 5) and RAID-5, D-MLC32-1.",
    no_cells,
    {"ecc": "bits", "diff": "Diff-RAID", "raid5": "RAID-5"},
    lambda table: [_chart(table, "ecc", "fig09-loss", "By strength of the ECC")],
    [
        Statement("Diff-RAID on 3-bit ECC flash is equivalent to RAID-5 on 5-bit ECC flash.", "4.1.4", _three_for_five),
        Statement("Diff-RAID can lower hardware ECC requirements by two bits.", "4.1.4", _no_worse),
    ],
    (ASSUMED_CURVE, "A BCH code over GF(2^13): 13 bits of parity for each bit that is corrected."),
    lambda setting, _cells, _records: _pairs(array_of(setting, "fig09.toml"), "ecc", LEVELS),
)


def _thirteen(table: Table) -> Found:
    loss = _at(table, "limit", 13_000)["diff"]
    return Found(loss < 1e-3, f"{loss:.1e}", (Number("at most", loss, 1e-3),))


def _twenty(table: Table) -> Found:
    loss, before = _at(table, "limit", 20_000)["diff"], _at(table, "limit", 15_000)["diff"]
    words = f"{before:.3f} at 15,000, {loss:.4f} at 20,000"
    return Found(loss > 0.99 and before < 0.1, words, (Number("at 20,000", loss, 1.0),))


def _raid5(table: Table) -> Found:
    loss = _at(table, "limit", 11_000)["raid5"]
    words = f"{_at(table, 'limit', 10_000)['raid5']:.2f} at 10,000, {loss:.6f} at 11,000"
    return Found(loss > 0.999, words, (Number("at 11,000", loss, 1.0),))


FIG10 = Figure(
    "fig10",
    "Figure 10: beyond the erasure limit",
    "Data loss probability by the cycles at which devices are replaced: (80, 5, 5, 5, 5) and RAID-5, D-MLC32-1.",
    no_cells,
    {"limit": "cycles", "diff": "Diff-RAID", "raid5": "RAID-5"},
    lambda table: [_chart(table, "limit", "fig10-loss", "By extended erasure limit")],
    [
        Statement(
            "With 13,000 cycles, less than one out of 1000 failures of the oldest loses data.", "4.1.5", _thirteen
        ),
        Statement("RAID-5's data loss probability hits 1.0 immediately beyond 10,000 cycles.", "4.1.5", _raid5),
        Statement("Diff-RAID's climbs slowly and hits 1.0 at 20,000 cycles.", "4.1.5", _twenty),
    ],
    (ASSUMED_CURVE,),
    lambda setting, _cells, _records: _pairs(array_of(setting, "fig10.toml"), "limit", LIMITS),
)
