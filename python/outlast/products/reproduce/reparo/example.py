"""Figures 7 and 8: a small drive of four cores of four dies is asked what it lost, and where it moves addresses."""

from __future__ import annotations

from functools import cache
from typing import Any

from outlast import Drive
from outlast.products.reproduce.model import Found, Table

CORES, UNIT = 4, 4096
DIES, VICTIM = 4, 3
"""Dies of a core, and the core of which the last die fails, as both figures have it."""
ADDRESSES = 60
"""Addresses of Figure 8: one redirection unit of the victim core, 15 of its addresses."""
SCENARIO: dict[str, Any] = {
    "device": {
        "geometry": {
            "channels": CORES,
            "chips_per_channel": 1,
            "dies_per_chip": DIES,
            "planes_per_die": 1,
            "blocks_per_plane": 16,
            "pages_per_block": 4,
            "page_size": "4KiB",
        },
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "1000MB/s"},
        "ftl": {"mapping_unit": "4KiB", "capacity": "2400KiB"},
        "controller": {"flash_cores": CORES, "write_buffer": "64KiB"},
        "repair": {"scheme": "cooperative", "identifier": "l2p-all-cores"},
    },
    "workload": {"synthetic": {"requests": 1}},
    "precondition": {"fill": "none", "overwrite": "none"},
}
"""A page is a unit, and blocks are few: as in the drawings. Nothing was written before: dies are filled from the
first. Ten times Figure 8's addresses, since fewer do not fill blocks."""


def _failed() -> Drive:
    """A drive whose first addresses were written in order before the last die failed."""
    drive = Drive(SCENARIO)
    for lba in range(ADDRESSES):
        drive.write(lba * UNIT, bytes([lba + 1]) * UNIT)
    drive.flush()
    drive.advance("1s")
    drive.fault("die", die=CORES * DIES - 1)
    return drive


@cache
def lost() -> tuple[int, ...]:
    """Addresses below 48 that the drive no longer reads after its die has failed."""
    drive = _failed()
    found = []
    for lba in range(48):
        try:
            drive.read(lba * UNIT, UNIT)
        except OSError:
            found.append(lba)
    return tuple(found)


def failed_addresses(_: Table) -> Found:
    """Figure 7: 15, 31 and 47 have failed, and no others."""
    return Found(lost() == (15, 31, 47), f"of LBAs 0 to 47 the drive no longer reads {', '.join(map(str, lost()))}")


def _busy(state: dict[str, Any]) -> list[int]:
    """Time that the dies of each core have worked."""
    dies = state["dies"]
    return [sum(die["busy_ns"] for die in dies[DIES * core : DIES * (core + 1)]) for core in range(CORES)]


@cache
def redirected() -> dict[int, int]:
    """Addresses of the victim core that other cores hold once the drive has found the failure, with that core.

    Each is written to a copy of the drive: what lay at its former place is dropped, and dies of its new core work.
    """
    drive = _failed()
    for lba in (15, 31, 47):
        try:
            drive.read(lba * UNIT, UNIT)
        except OSError:
            continue
    drive.advance("1s")
    before = drive.state()["drives"][0]
    found = {}
    for lba in range(VICTIM, ADDRESSES, CORES):
        copy = drive.fork()
        copy.write(lba * UNIT, bytes([lba]) * UNIT)
        copy.flush()
        copy.advance("100ms")
        after = copy.state()["drives"][0]
        if after["left_behind_units"] < before["left_behind_units"]:
            worked = [end - start for end, start in zip(_busy(after), _busy(before), strict=True)]
            found[lba] = worked.index(max(worked))
    return found


def moved_addresses(_: Table) -> Found:
    """Figure 8: 3, 7 and 11 go to cores 0, 1 and 2, and no others move."""
    words = ", ".join(f"{lba} to core {core}" for lba, core in redirected().items())
    holds = redirected() == {3: 0, 7: 1, 11: 2}
    return Found(holds, f"of the addresses below {ADDRESSES} the drive moves {words}")
