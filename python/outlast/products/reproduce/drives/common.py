"""The drives that are held against measurements: how each is made smaller, and runs of random writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast import api
from outlast.products.reproduce.drives import measured
from outlast.products.reproduce.model import Cell, Setting
from outlast.why.quantity import bytes_of, nanos

FITTED, PREDICTED = "fitted", "predicted"
PAGES, SPARE, ERASE = "device.geometry.pages_per_block", "device.ftl.over_provisioning", "device.timing.erase"


@dataclass(frozen=True)
class Drive:
    """A drive whose latency was measured: an entry of drives.toml."""

    key: str
    """Figure and scenario file of a reproduction."""
    name: str
    """Name in the tables of measurements."""
    quick_share: int
    """The part of the drive that the quick mode simulates."""
    open: str
    """Unexplained part of its latency."""
    fitted: Mapping[str, Sequence[str]]
    """Percentiles that a number of the preset was fitted to, by requests a second that are asked for."""
    fitted_shapes: Sequence[str] = ()
    """Shapes that follow from these percentiles, and are not predicted either."""


DRIVES = tuple(
    Drive(key, **own)
    for key, own in tomllib.loads((Path(__file__).parent / "drives.toml").read_text(encoding="utf-8")).items()
)


def smaller(whole: Mapping[str, Any], share: int) -> dict[str, Any]:
    """Overrides that leave a part of each block: superblocks are as many as in the drive, the spare share is as large.

    An erasure takes as much less time as a block is smaller, so that dies erase for the same share of the time.
    """
    pages, erase = whole["device"]["geometry"]["pages_per_block"], whole["device"]["timing"]["erase"]
    return {PAGES: pages // share, ERASE: f"{nanos(erase) // share}ns"} if share > 1 else {}


def spare_for(whole: Mapping[str, Any], gib: float) -> float:
    """Over-provisioning that leaves the host so many GiB of the drive at full size."""
    geometry = whole["device"]["geometry"]
    raw = bytes_of(geometry["page_size"])
    for name in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane"):
        raw *= geometry[name]
    return float(raw * geometry["pages_per_block"] / 2**10) / (gib * 2**20) - 1


def random_writes(
    setting: Setting,
    *,
    figure: str,
    how: Sequence[str],
    drives: Sequence[Mapping[str, Any]],
    shape: str,
    takes: Sequence[str],
    parts: Mapping[str, int],
    settings: Mapping[str, Any] | None = None,
    drive_writes: float | None = None,
) -> list[Cell]:
    """A run for each measurement of these drives that has the figure, on a part of the drive.

    `how` are the kinds of measurements that are taken, `takes` the sections of the scenario `shape` that make the run.
    A drive has its scenario file and the fills under uniform writes that a number of its preset was fitted to; what
    else stands there its rows are given. `settings` are by workload; `drive_writes`, if given, are what is written.
    """
    resolved, share = api.resolve(str(setting.scenarios / shape)), parts[setting.mode.name]
    over = {section: resolved[section] for section in takes}
    found = []
    for drive in drives:
        more = {name: value for name, value in drive.items() if name not in ("scenario", "fitted")}
        file = setting.scenarios / drive["scenario"]
        whole = api.resolve(str(file))
        for own in measured.writes(drive["drive"]):
            workload, fill = own["workload"], f"{own['gib']:g} GiB"
            if own[figure] is None or own["how"] not in how or workload.startswith("sequential"):
                continue
            fitted = FITTED if workload == "uniform" and fill in drive["fitted"] else PREDICTED
            labels = {"fill": fill, "workload": workload, "measured as": own["how"], "kind": fitted}
            changes = smaller(whole, share) | {SPARE: spare_for(whole, own["gib"])}
            if drive_writes is not None:
                changes["workload.synthetic.bytes"] = f"{round(drive_writes * own['gib'] * 2**30) // share}B"
            layers = [file, over, (settings or {}).get(workload, {})]
            found.append(Cell(more | labels | {"measured": own[figure]}, layers, changes))
    return found
