"""Schemes of mSAPL's figures as settings: classes and freed space follow from what a workload touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.reproduce.model import Setting

CAPACITY_MIB = 94_512
"""User space of the preset: what leaves eSAP with two parities in eight 4 % of spare space."""
SUPERBLOCKS, SUPERBLOCK_MIB, PARITY_PAGES = 16_384, 8, (8 / 8, 8 / 7, 8 / 6)
"""Superblocks, flash in each, and flash that a page of user data takes under no parity, one and two."""
RAID_CAPACITY = {"RAID0": "126016MiB", "RAID5": "110256MiB", "RAID6": "94512MiB"}
"""4 % of spare space, whatever parity takes."""
ESAP, BLOCKS, CLASSES, MSAPL = "eSAP", "PP blocks alone", "classes alone", "mSAPL"
ESAP_MORE = "eSAP, spare as mSAPL's"
PLACE, BLOCKS_OF_PLANE = "device.protection.partial.place", "device.geometry.blocks_per_plane"
TRACE_FILE = "spc-financial1-first10k.ascii.zst"


def classes(span: int, capacity: int = CAPACITY_MIB) -> list[dict[str, Any]]:
    """Three classes of 0, 1 and 2 parities: a third each of what `span` percent are; the rest is in class 2.

    Edges are multiples of 16 MiB, so that a drive of a sixteenth has them at whole MiB.
    """
    touched = CAPACITY_MIB * span // 100
    edges = [0, touched // 3 // 16 * 16, touched * 2 // 3 // 16 * 16, capacity]
    return [
        {"data": 8 - m, "parity": m, "ranges": [{"from": f"{edges[m]}MiB", "to": f"{edges[m + 1]}MiB"}]}
        for m in range(3)
    ]


def freed(span: int) -> int:
    """Superblocks that classes save in parity: what eSAP gets on top where both are to have the same spare space."""
    saved = CAPACITY_MIB * span / 100 * (PARITY_PAGES[2] - sum(PARITY_PAGES) / 3)
    return round(saved / SUPERBLOCK_MIB / 16) * 16


def schemes(span: int, capacity: int = CAPACITY_MIB, only: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The schemes as settings, eSAP being the preset; all, or those that are named.

    `span` is in percent of the preset's user space, also on a drive with less.
    """
    own = {"device.protection.classes": classes(span, capacity), "device.protection.default_class": 2}
    blocks = {PLACE: "blocks"}
    found: dict[str, dict[str, Any]] = {
        ESAP: {},
        BLOCKS: blocks,
        CLASSES: own,
        MSAPL: own | blocks,
        ESAP_MORE: {BLOCKS_OF_PLANE: SUPERBLOCKS + freed(span)},
    }
    return {name: found[name] for name in only or found}


def raids() -> dict[str, dict[str, Any]]:
    """RAID-0, 5 and 6 inside the drive, each with as much spare space."""
    found: dict[str, dict[str, Any]] = {}
    for parity, (raid, capacity) in enumerate(RAID_CAPACITY.items()):
        changes = {"device.protection.data": 8 - parity, "device.protection.parity": parity}
        found[raid] = {"device.ftl.capacity": capacity} | (changes if parity else {"device.protection": "null"})
    return found


def skipped(setting: Setting) -> list[str]:
    """What is missing: the beginning of the published Financial1 trace, if it is not there."""
    if setting.traces is not None and (setting.traces / TRACE_FILE).is_file():
        return []
    return [
        f"The rows of the real Financial1 trace: there is no {TRACE_FILE} in "
        f"{setting.traces or 'any folder of traces'} (see --traces)."
    ]
