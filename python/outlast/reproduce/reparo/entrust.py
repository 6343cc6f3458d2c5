"""Figure 9 and section 6.2: a neighbouring block knows which addresses a block holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.reproduce.check import near
from outlast.reproduce.model import TEXT, Cell, Figure, Found, Number, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import DIE_BYTES, no_cells

Records = Sequence[Mapping[str, Any]]
PAGES, PAGE, UNIT, ADDRESS = 768, 16 * 1024, 4096, 4
"""Section 6.2's block: pages, bytes of a page, of a mapping unit, of an address."""
DIES, ACTIVE, CORES = 512, 2, 4


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    units = PAGES * PAGE // UNIT
    return [
        {
            "drive": "32 TB",
            "units": units,
            "list_kib": units * ADDRESS / 1024,
            "buffer_mib": DIES * ACTIVE * units * ADDRESS / 2**20,
            "reads_saved": PAGES - 1,
            "space_percent": 100 / PAGES,
        }
    ]


def _units(table: Table) -> Found:
    return near("a block", table.value("units"), 3072, 0, " units")


def _fits(table: Table) -> Found:
    kib = table.value("list_kib")
    return Found(kib < PAGE / 1024, f"{kib:g} KiB in a page of {PAGE // 1024} KiB", (Number("list", kib, 12, "KB"),))


def _buffer(table: Table) -> Found:
    return near("two open blocks for each of 512 dies", table.value("buffer_mib"), 12, 0, " MB")


def _address(_: Table) -> Found:
    units = DIES * DIE_BYTES // UNIT
    whole, own = (units - 1).bit_length(), (units // CORES - 1).bit_length()
    words = f"{units:,} units take {whole} bits, those of one of four cores {own}"
    return Found(own <= 8 * ADDRESS, words)


FIG09 = Figure(
    "fig09",
    "Figure 9 and section 6.2: P2L lists with a neighbour",
    "The last page of each block lists the addresses of the block beside it.",
    no_cells,
    {
        "units": "units of a block",
        "list_kib": "list, KiB",
        "buffer_mib": "buffer, MiB",
        "reads_saved": "page reads saved a block",
        "space_percent": "space, %",
    },
    lambda _: [],
    [
        Statement("A block of 768 pages of 16 KB has 3,072 mapping units of 4 KB.", "6.2", _units),
        Statement("Their addresses take 12 KB and so fit a page.", "6.2", _fits),
        Statement("Lists of 2 active blocks a die take 12 MB of buffer in a 32-TB SSD.", "6.2", _buffer),
        Statement("An address has 32 bits.", "6.2", _address),
    ],
    ("33 bits would be needed for all addresses of a 32-TB SSD; each core has its own, a quarter of them.",),
    _rows,
    TEXT,
)
