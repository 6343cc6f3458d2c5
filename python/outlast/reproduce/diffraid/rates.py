"""Figure 1: bit error rates of a chip by erasures, before and after ECC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlast import models
from outlast.reproduce.check import every, rising
from outlast.reproduce.diffraid.chips import PRINTED
from outlast.reproduce.diffraid.common import ASSUMED_CURVE, array_of, lines, log_axis, no_cells
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Row, Setting, Statement, Table

Records = Sequence[Mapping[str, Any]]
CHIP = "d-mlc32-1"
CYCLES = tuple(range(1_000, 10_001, 1_000))


def _rows(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig01.toml")
    rows: list[Row] = []
    for cycles in CYCLES:
        rber = float(np.asarray(models.rber(CHIP, cycles)))
        uber = float(np.asarray(models.uber(rber, 4096 + 13 * array["ecc"], array["ecc"])))
        rows.append({"erasures": f"{cycles:,}", "cycles": cycles, "rber": rber, "uber": uber})
    return rows


def _rise(table: Table) -> Found:
    parts = []
    for name in ("rber", "uber"):
        values = [(row["erasures"], row[name]) for row in table.rows]
        words = f"{name.upper()} from {values[0][1]:.1e} to {values[-1][1]:.1e}"
        parts.append(Found(rising("", values, slack=0.0).holds, words))
    return every(parts)


def _highest(table: Table) -> Found:
    own = table.value("uber", erasures="10,000")
    others = {chip: high for chip, (_, high) in PRINTED.items() if chip != CHIP}
    next_chip = max(others, key=lambda chip: others[chip])
    return Found(own > others[next_chip], f"{own:.2e} at 10K, next {next_chip} with {others[next_chip]:.2e}")


FIG01 = Figure(
    "fig01",
    "Figure 1: error rates rise with erasures",
    "D-MLC32-1: raw bit error rate, and what 4-bit ECC over 512 bytes leaves of it.",
    no_cells,
    {"cycles": "cycles", "rber": "RBER", "uber": "UBER"},
    lambda table: [
        lines(
            "fig01-rates",
            "By erasures of a block",
            {name.upper(): (table.values("cycles"), table.values(name)) for name in ("rber", "uber")},
            "cycles",
            log_axis("errors a bit"),
        )
    ],
    [
        Statement("RBER and UBER rise with the number of erasures.", "2.1, Figure 1", _rise),
        Statement("This chip has the highest UBER of the twelve.", "4.1.1", _highest),
    ],
    (ASSUMED_CURVE, "An exponential rises, and Table 1's highest RBER has the highest UBER: neither could fail here."),
    _rows,
    TEXT,
)
