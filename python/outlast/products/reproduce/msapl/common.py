"""Schemes of mSAPL's figures as settings: classes and freed space follow from what a workload touches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CAPACITY_MIB = 94_512
"""User space of the preset: what leaves eSAP with two parities in eight 4 % of spare space."""
SUPERBLOCKS, SUPERBLOCK_MIB, PARITY_PAGES = 16_384, 8, (8 / 8, 8 / 7, 8 / 6)
"""Superblocks, flash in each, and flash that a page of user data takes under no parity, one and two."""
ESAP, BLOCKS, CLASSES, MSAPL = "eSAP", "PP blocks alone", "classes alone", "mSAPL"
ESAP_MORE = "eSAP, spare as mSAPL's"
PLACE, BLOCKS_OF_PLANE = "device.protection.partial.place", "device.geometry.blocks_per_plane"


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
