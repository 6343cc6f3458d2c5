"""What the figures of mSAPL share: workloads, classes, schemes as settings, and cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.reproduce.model import Cell, Labels, Setting, Table

CAPACITY_MIB = 94_512
"""User space of the preset: what leaves eSAP with two parities in eight 4 % of spare space."""
SUPERBLOCKS, SUPERBLOCK_MIB, PARITY_PAGES = 16_384, 8, (8 / 8, 8 / 7, 8 / 6)
"""Superblocks, flash in each, and flash that a page of user data takes under no parity, one and two."""


@dataclass(frozen=True)
class Workload:
    """One of Table 2, and what the paper says of it."""

    file: str
    span: int
    """Part of the user space that it touches, in percent; as in its scenario file."""
    waf: float
    """Write amplification that mSAPL saves, in percent (section 5.1)."""
    response: float
    """Mean response time that it saves, in percent (section 5.2)."""


WORKLOADS = {
    "Financial": Workload("fig05.toml", 10, 13.3, 18.6),
    "Exchange": Workload("exchange.toml", 12, 14.8, 20.2),
    "MSN": Workload("msn.toml", 25, 19.1, 26.2),
}
POINTS = 2.0
"""Percentage points within which a saving agrees with the paper's. Over seeds the savings of a sixteenth of the drive
scatter with a standard deviation of up to 0.4 points (tests/test_msapl.py): three of those, in whole points."""
ESAP, BLOCKS, CLASSES, MSAPL = "eSAP", "PP blocks alone", "classes alone", "mSAPL"
ESAP_MORE = "eSAP, spare as mSAPL's"
PLACE, BLOCKS_OF_PLANE = "device.protection.partial.place", "device.geometry.blocks_per_plane"
TRACE, TRACE_FILE = "trace: Financial1", "spc-financial1-first10k.ascii.zst"


def classes(span: int) -> list[dict[str, Any]]:
    """Three classes of 0, 1 and 2 parities: a third each of the first `span` percent; the rest is in class 2.

    Edges are multiples of 16 MiB, so that a drive of a sixteenth has them at whole MiB.
    """
    touched = CAPACITY_MIB * span // 100
    edges = [0, touched // 3 // 16 * 16, touched * 2 // 3 // 16 * 16, CAPACITY_MIB]
    return [
        {"data": 8 - m, "parity": m, "ranges": [{"from": f"{edges[m]}MiB", "to": f"{edges[m + 1]}MiB"}]}
        for m in range(3)
    ]


def freed(span: int) -> int:
    """Superblocks that classes save in parity: what eSAP gets on top where both are to have the same spare space."""
    saved = CAPACITY_MIB * span / 100 * (PARITY_PAGES[2] - sum(PARITY_PAGES) / 3)
    return round(saved / SUPERBLOCK_MIB / 16) * 16


def schemes(span: int) -> dict[str, dict[str, Any]]:
    """The schemes as settings, eSAP being the preset."""
    own = {"device.protection.classes": classes(span), "device.protection.default_class": 2}
    blocks = {PLACE: "blocks"}
    return {
        ESAP: {},
        BLOCKS: blocks,
        CLASSES: own,
        MSAPL: own | blocks,
        ESAP_MORE: {BLOCKS_OF_PLANE: SUPERBLOCKS + freed(span)},
    }


def cells_of(setting: Setting, more: Mapping[str, Any], labels: Labels | None = None) -> list[Cell]:
    """Each scheme under each workload, with more settings."""
    found = []
    for name, workload in WORKLOADS.items():
        for scheme, changes in schemes(workload.span).items():
            own = {"workload": name, "scheme": scheme} | dict(labels or {})
            found.append(Cell(own, [setting.scenarios / workload.file], {**changes, **more}))
    return found


def saved(table: Table, figure: str, workload: str, scheme: str, base_scheme: str = ESAP, **labels: str) -> float:
    """By how many percent a figure is below eSAP's."""
    base = table.value(figure, workload=workload, scheme=base_scheme, **labels)
    return 100 * (1 - table.value(figure, workload=workload, scheme=scheme, **labels) / base)


def trace_file(setting: Setting) -> Path | None:
    """The beginning of the published Financial1 trace, if it is there."""
    file = setting.traces / TRACE_FILE if setting.traces is not None else None
    return file if file is not None and file.is_file() else None


def trace_layers(setting: Setting, file: Path) -> list[Path | Mapping[str, Any]]:
    """The drive under that trace: its devices side by side."""
    trace = {"file": str(file), "format": "ascii", "time_unit": "ns", "address_unit": "sector"}
    spread = {"devices": "concat", "addresses": "fit", "align": "4KiB"}
    workload = {"workload": {"trace": trace | spread}}
    return [setting.scenarios / "fig05.toml", workload]


def skipped(setting: Setting) -> list[str]:
    """What is missing."""
    if trace_file(setting) is not None:
        return []
    return [
        f"The rows of the real Financial1 trace: there is no {TRACE_FILE} in "
        f"{setting.traces or 'any folder of traces'} (see --traces)."
    ]
