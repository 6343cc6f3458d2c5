"""Simulations behind a plan: each layout of small drives of the same kind, healthy and beside a rebuild."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast import api
from outlast.planning.fields import PlanError
from outlast.planning.spec import LayoutChoice, PlanSpec
from outlast.result import Result
from outlast.why.quantity import bytes_of, nanos

PROGRAMS = 16
"""Programs of each die to a superblock of the small drive: with fewer than twelve, dies idle at its end."""
SUPERBLOCKS = 256
"""Superblocks of the small drive. Those that are open or being erased take a larger share of its spare space than of a
large one's: its write amplification is 2 to 3 % above that of a drive of 512."""
WARM_UP_S = 0.5
"""Simulated time before a healthy array is measured: it fills buffers and queues."""
FAILED = 1
"""The member that fails."""

Settings = dict[str, Any]


@dataclass(frozen=True)
class LayoutTrials:
    """Two runs of one layout."""

    healthy: Result
    rebuilding: Result
    member_bytes: float
    """Capacity of a simulated member for the array, in bytes."""


def source_of(spec: PlanSpec, name: str) -> str:
    """A preset or scenario that a plan names: a file beside the plan, or else what it is to `outlast run`."""
    beside = spec.folder / name
    return str(beside) if beside.is_file() else name


def scaled_down(spec: PlanSpec) -> Settings:
    """Settings that make of the plan's drive a small one with the same dies, timing, and share of spare space.

    Blocks are shorter and fewer, never longer or more; an erase takes less in proportion, so that erasing costs each
    byte the same time.
    """
    device = _drive_of(spec)
    geometry, ftl = device["geometry"], device["ftl"]
    shot = int(ftl.get("one_shot") or 1)
    pages = min(int(geometry["pages_per_block"]), PROGRAMS * shot)
    blocks = min(int(geometry["blocks_per_plane"]), SUPERBLOCKS)
    share = pages * blocks / (geometry["pages_per_block"] * geometry["blocks_per_plane"])
    changed: Settings = {
        "device.geometry.pages_per_block": pages,
        "device.geometry.blocks_per_plane": blocks,
        "device.timing.erase": f"{round(nanos(device['timing']['erase']) * pages / geometry['pages_per_block'])}ns",
    }
    if "capacity" in ftl:
        unit = bytes_of(ftl["mapping_unit"])
        changed["device.ftl.capacity"] = f"{int(bytes_of(ftl['capacity']) * share // unit * unit)}B"
    return changed


def _drive_of(spec: PlanSpec) -> dict[str, Any]:
    name = spec.drives.preset
    resolved = api.resolve(source_of(spec, name))
    if resolved.get("array"):
        raise PlanError(f"drives.preset = {name}: is an array; name a single drive, of which the layouts make arrays")
    device: dict[str, Any] = resolved["device"]
    return device


def check_layout(spec: PlanSpec, layout: LayoutChoice, small: Settings) -> None:
    """Refuses settings of a layout that no array can have, before anything is simulated."""
    api.validate(source_of(spec, spec.drives.preset), _settings_of(spec, layout, small))


def _settings_of(spec: PlanSpec, layout: LayoutChoice, small: Settings) -> Settings:
    # A spare that the plan does not buy stands for the drive that takes the failed one's place.
    spares = max(layout.spares, 1)
    settings = {f"array.{key}": value for key, value in layout.settings.items()} | small
    settings |= {"array.level": layout.level, "array.members": spec.drives.count - layout.spares}
    settings |= {"array.spares": spares, "run.finish_rebuild": False, "faults": []}
    return settings | _load_settings(spec)


def try_layout(spec: PlanSpec, layout: LayoutChoice, small: Settings) -> LayoutTrials:
    """Prepares an array once, and runs the load on it twice: healthy, and with a member that is rebuilt on a spare."""
    base = source_of(spec, spec.drives.preset)
    settings = _settings_of(spec, layout, small)
    with tempfile.TemporaryDirectory(prefix="outlast-plan-") as folder:
        prepared = Path(folder) / "prepared"
        if api.snapshot(base, prepared, settings) is None:
            raise KeyboardInterrupt
        settings["precondition.from"] = str(prepared)
        warmed = {"run.warm_up": _time(WARM_UP_S)} if "synthetic" in settings["workload"] else {}
        healthy = api.run(base, settings | warmed)
        fault = {"at": "0s", "kind": "device", "device": FAILED}
        rebuilding = api.run(base, settings | {"run.warm_up": "0s", "faults": [fault]})
    if healthy.stopped or rebuilding.stopped:
        raise KeyboardInterrupt
    data = data_members(spec, layout)
    return LayoutTrials(healthy, rebuilding, healthy.summary["device"]["capacity_bytes"] / data)


def data_members(spec: PlanSpec, layout: LayoutChoice) -> float:
    """Members whose capacity is for data, as a number that may have a fraction where copies do not divide them."""
    from outlast.planning.spec import REDUNDANCY

    members = spec.drives.count - layout.spares
    parities = REDUNDANCY[layout.level]
    if parities is not None:
        return members - parities
    return 1.0 if layout.level == "raid1" else members / (layout.copies or 2)


def _load_settings(spec: PlanSpec) -> Settings:
    load = spec.load
    if load.scenario is not None:
        resolved = api.resolve(source_of(spec, load.scenario))
        return {"workload": resolved["workload"]}
    assert load.written_per_day is not None
    writes = load.written_per_day / (load.active_hours * 3600.0) / load.size
    synthetic = {
        "pattern": load.pattern,
        "read_percent": load.read_percent,
        "size": f"{load.size}B",
        "rate_iops": writes / (1.0 - load.read_percent / 100.0),
        "duration": _time(WARM_UP_S + spec.simulated_s),
    }
    # Uniform writes need no other preparation than a drive's own; others wear and fill in their own pattern.
    prepared = {} if load.pattern == "uniform" else {"precondition.overwrite": "workload"}
    return {"workload": {"synthetic": synthetic}} | prepared


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"
