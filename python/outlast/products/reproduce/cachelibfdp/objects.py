"""Runs of small and large objects: as many drive writes as in the published runs, from an empty drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import api
from outlast.products.reproduce.model import Cell, Setting
from outlast.why.quantity import bytes_of

RATE = 10_000
"""Requests a second of both kinds together: only their ratio counts without time."""
PAGE = 4096
USER_TB = 7.68
"""Size of the drive."""


def runs(
    setting: Setting, *, scenario: str, caches: Sequence[Mapping[str, Any]], pages: Mapping[str, int]
) -> list[Cell]:
    """Four cells for each of `caches`: with and without handles, all that was written and its first four fifths.

    `small` is the percentage of the drive that small objects have, `written` their share of the bytes, `terabytes` what
    the host wrote with and without handles; `pages` are those of a block by mode.
    """
    file, by_mode = setting.scenarios / scenario, pages[setting.mode.name]
    whole = api.resolve(str(file))
    capacity = bytes_of(whole["device"]["ftl"]["capacity"]) * by_mode // whole["device"]["geometry"]["pages_per_block"]
    found = []
    for cache in caches:
        for placement, terabytes in cache["terabytes"].items():
            for span, part in (("four fifths", 0.8), ("all", 1.0)):
                written = part * terabytes / USER_TB * capacity
                shares = (1 - cache["written"], cache["written"])
                names = {f"RATE{at}": str(round(RATE * share)) for at, share in enumerate(shares)}
                names |= {f"BYTES{at}": f"{round(written * share / PAGE) * 4}k" for at, share in enumerate(shares)}
                names |= {"SMALL": str(cache["small"]), "LARGE": str(100 - cache["small"])}
                names |= {"FDP": "0" if placement == "none" else "1"}
                labels = {"small": f"{cache['small']} %", "placement": placement, "span": span}
                measured = {"measured": cache["measured"][placement], "written": cache["written"]}
                changes = {"device.geometry.pages_per_block": by_mode, "device.ftl.capacity": f"{capacity}B"}
                changes |= {f"workload.fio.vars.{name}": value for name, value in names.items()}
                found.append(Cell(labels | measured, [file], changes))
    return found
