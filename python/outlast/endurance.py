"""Endurance of a drive as TBW and DWPD, by a closed form from the figures of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

YEARS = 5
"""Warranty, in years, over which drive writes a day are counted: the usual one of data sheets of server drives."""
DAYS = 365 * YEARS
WORN = 0.01
"""Mean wear, as a share of the rating, above which what is left of a life is told beside the whole of it."""


@dataclass(frozen=True)
class Endurance:
    """The endurance of a drive, or of an array, at the write amplification of a run."""

    rated_cycles: float
    """P/E cycles that a block is rated for."""
    source: str
    """Source of the rating, in words."""
    tbw_bytes: float
    """Bytes that the host can write until the average block reaches its rating."""
    dwpd: float
    """The same in capacities a day, over `YEARS` years."""
    left_bytes: float | None = None
    """Remainder of `tbw_bytes` at the wear of the end of the run; `None` where hardly anything is worn."""

    def figures(self) -> dict[str, float]:
        """Values by the names that they have below `endurance` in the reference of figures."""
        return {"rated_cycles": self.rated_cycles, "tbw_bytes": self.tbw_bytes, "dwpd": self.dwpd}


def rating(summary: Mapping[str, Any]) -> tuple[float, str] | None:
    """P/E cycles that the flash of a result is rated for, and where that stands; `None` where nothing says it."""
    device = (summary.get("scenario") or {}).get("device") or {}
    if cycles := (device.get("defects") or {}).get("endurance"):
        return float(cycles), "device.defects.endurance of the scenario"
    name = (device.get("reliability") or {}).get("chip")
    if not isinstance(name, str):  # a table of measured error rates
        return None
    from outlast.models import chips

    # A file of measurements says nothing of the end of a life.
    chip = chips().get(name)
    return None if chip is None else (float(chip.end_of_life_cycles), f"chip {chip.name}: {chip.source}")


def endurance_of(summary: Mapping[str, Any]) -> Endurance | None:
    """The endurance of a result; `None` where no rating is known, or where the host wrote nothing."""
    total = (summary.get("write_amplification") or {}).get("total")
    device = summary.get("device") or {}
    rated = rating(summary) if total and device.get("capacity_bytes") else None
    if rated is None:
        return None
    cycles, source = rated
    # Each byte of flash is programmed once in a cycle; of what is programmed, 1 / total is the host's.
    written = device["raw_bytes"] * cycles / total
    worn = ((summary.get("wear") or {}).get("mean_pe") or 0.0) / cycles
    left = written * max(1.0 - worn, 0.0) if worn > WORN else None
    return Endurance(cycles, source, written, written / device["capacity_bytes"] / DAYS, left)
