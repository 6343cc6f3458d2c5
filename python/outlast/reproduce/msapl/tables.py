"""Tables 1 to 3: whether the drive, the workloads and the code of the text fit each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.reproduce.check import near
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Number, Row, Setting, Statement, Table
from outlast.reproduce.msapl.fig07 import CODE

Records = Sequence[Mapping[str, Any]]
CHIPS, PLANES, BLOCKS, PAGES, PAGE_KIB = 8, 8, 2048, 128, 8
"""Table 1."""
A, B = 1.09e-7, 3.01e-4
"""Table 3."""


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    rows: list[Row] = []
    for cycles in (1_000, 10_000, 16_000, 19_000):
        rate = float(models.rber("msapl", cycles))
        short = float(models.uper(rate, n=8192, k=8, stripe=8, parities=2, log=True)) / math.log(10)
        long = float(models.uper(rate, log=True, **CODE)) / math.log(10)
        rows.append({"cycles": f"{cycles}", "rber": rate, "log10_uper_1k": short, "log10_uper_64k": long})
    return rows


def _capacity(_: Table) -> Found:
    return near("8 × 8 × 2048 × 128 × 8 KB =", CHIPS * PLANES * BLOCKS * PAGES * PAGE_KIB / 2**20, 128, 0, " GB")


def _stripe(_: Table) -> Found:
    return near("8 pages of a chip each:", CHIPS * PAGE_KIB, CHIPS * 4, 0, " KB")


def _equation(table: Table) -> Found:
    own = table.value("rber", cycles="10000")
    want = A * math.exp(B * 10_000)
    return Found(math.isclose(own, want, rel_tol=1e-12), f"{own:.3e}", (Number("at 10 000 cycles", own, want),))


def _code(_: Table) -> Found:
    return near("codeword of section 3:", 8192 / 1024, CODE["n"] / 1024, 0, " Kb")


FIGURE = Figure(
    "tables",
    "Tables 1 to 3, Equation 1: drive and code",
    "Whether what the text says of its drive and code fits together.",
    lambda _: [],
    {"rber": "RBER", "log10_uper_1k": "log10 UPER, 8 of 8192 bits", "log10_uper_64k": "log10 UPER, 8 of 65 536 bits"},
    lambda _: [],
    [
        Statement("The drive has 128 GB.", "Table 1", _capacity),
        Statement(
            "A stripe has 8 × 4 KB.",
            "Table 1",
            _stripe,
            "the table contradicts itself: only pages of 8 KB make 128 GB, and by section 5 a stripe has a page of "
            "each chip",
        ),
        Statement("RBER is A·e^(B·x) with Table 3's constants.", "6, Equation 1", _equation),
        Statement(
            "A codeword has 64 Kb and 8 bits of it can be corrected.",
            "Table 3 (section 3: eight bits per 1 KB)",
            _code,
            "section 3 says eight bits per 1-KB codeword, Table 3 eight of 64 Kb; Figure 1 is computed with the "
            "former, Figure 7 with the latter, and the columns show both",
        ),
    ],
    ("Two parities in eight pages, as Figure 7.",),
    _rows,
    TEXT,
)
