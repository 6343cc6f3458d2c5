"""Figures 9 and 10: weaker ECC, and devices used beyond their erasure limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from outlast.report.figure import Figure as Chart
from outlast.reproduce.diffraid.common import ASSUMED_CURVE, RAID5, array_of, at_the_end, bars, log_axis, no_cells
from outlast.reproduce.model import CLOSED, Figure, Found, Number, Row, Statement, Table

Records = Sequence[Mapping[str, Any]]
LEVELS = (1, 2, 3, 4, 5, 6)
LIMITS = tuple(range(10_000, 20_001, 1_000))
CERTAIN = 0.95
"""What rounds to the 1.0 that section 4.1.5 prints."""


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
    """Equivalent: of all levels of RAID-5, five bits is the nearest on the figure's logarithmic axis."""
    diff = _at(table, "ecc", 3)["diff"]
    away = {row["ecc"]: abs(math.log10(row["raid5"] / diff)) for row in table.rows}
    nearest = min(away, key=lambda level: away[level])
    around = ", ".join(f"{row['raid5']:.1e} with {row['ecc']}" for row in table.rows if row["ecc"] in (4, 5, 6))
    words = f"{diff:.1e} with 3 bits; RAID-5 {around}"
    return Found(nearest == 5, words, (Number("RAID-5's bits", nearest, 5),))


FIG09 = Figure(
    "fig09",
    "Figure 9: weaker ECC suffices",
    "Data loss probability by bits corrected in each 512-byte sector: (80, 5, 5, 5, 5) and RAID-5, D-MLC32-1.",
    no_cells,
    {"ecc": "bits", "diff": "Diff-RAID", "raid5": "RAID-5"},
    lambda table: [_chart(table, "ecc", "fig09-loss", "By strength of the ECC")],
    [
        Statement("Diff-RAID on 3-bit ECC flash is equivalent to RAID-5 on 5-bit ECC flash.", "4.1.4", _three_for_five),
    ],
    (ASSUMED_CURVE, "A BCH code over GF(2^13): 13 bits of parity for each bit that is corrected."),
    lambda setting, _cells, _records: _pairs(array_of(setting, "fig09.toml"), "ecc", LEVELS),
    CLOSED,
)


def _thirteen(table: Table) -> Found:
    loss = _at(table, "limit", 13_000)["diff"]
    return Found(loss < 1e-3, f"{loss:.1e}", (Number("at most", loss, 1e-3),))


def _first_certain(table: Table, array: str) -> int:
    """The first limit at which the loss is 1.0 as the paper prints it, with one decimal."""
    return int(next(row["limit"] for row in table.rows if row[array] >= CERTAIN))


def _certain_at(array: str, want: int, shown: Sequence[int]) -> Any:
    def check(table: Table) -> Found:
        words = ", ".join(f"{_at(table, 'limit', limit)[array]:.3f} at {limit:,}" for limit in shown)
        at = _first_certain(table, array)
        return Found(at == want, words, (Number("1.0 at", at, want, "cycles"),))

    return check


def _why_before(table: Table) -> str:
    """By how much the rates would have to be lower: the loss is small parts of the fifth power of the RBER added up."""
    limit = _first_certain(table, "diff")
    lower = 1 - (math.log(1 - CERTAIN) / math.log1p(-_at(table, "limit", limit)["diff"])) ** (1 / 5)
    return (
        f"beyond 10,000 cycles the RBER is extrapolated, from two points below; one that is {lower:.0%} lower at "
        f"{limit:,} would leave the loss there below {CERTAIN}, so that it is 1.0 from 20,000 on"
    )


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
        Statement(
            "RAID-5's data loss probability hits 1.0 immediately beyond 10,000 cycles.",
            "4.1.5",
            _certain_at("raid5", 11_000, (10_000, 11_000)),
        ),
        Statement(
            "Diff-RAID's climbs slowly and hits 1.0 at 20,000 cycles.",
            "4.1.5",
            _certain_at("diff", 20_000, range(14_000, 21_000, 1_000)),
            _why_before,
        ),
    ],
    (ASSUMED_CURVE,),
    lambda setting, _cells, _records: _pairs(array_of(setting, "fig10.toml"), "limit", LIMITS),
    CLOSED,
)
