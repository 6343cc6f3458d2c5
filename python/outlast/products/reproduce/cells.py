"""Cells of figures as jobs, at a scale; each is run once, see `outlast.points`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from outlast import api, points
from outlast.errors import OutputError
from outlast.points import Job, Record, stored_record
from outlast.points.job import key_of
from outlast.points.workers import local
from outlast.products.reproduce.model import Cell

__all__ = ["Job", "Record", "key_of", "prepare", "run_all", "scaled", "stored_record"]


def prepare(cell: Cell, scale: int) -> Job:
    """Resolves the cell's scenario at a scale."""
    overrides = dict(cell.overrides)
    scenario = api.resolve(list(cell.layers), overrides)
    if scale > 1:
        scenario = api.resolve(list(cell.layers), overrides | scaled(scenario, scale))
    return Job(scenario, key_of(scenario))


def scaled(scenario: Mapping[str, Any], scale: int) -> dict[str, Any]:
    """Overrides that make the drive and the time smaller by `scale`.

    Dies, latencies and arrivals stay, so that queues are as long. Blocks are read and rewritten as often on average;
    there are fewer of them, and a single hot address is read less often. Preconditioning's rounds then hold few blocks
    each, so that it is found steady within 10 %.
    """
    device, workload = scenario["device"], scenario["workload"]
    blocks = device["geometry"]["blocks_per_plane"]
    if blocks % scale:
        raise OutputError(f"{blocks} blocks of a plane cannot be divided by {scale}")
    changes: dict[str, Any] = {
        "device.geometry.blocks_per_plane": blocks // scale,
        "device.ftl.capacity": _divided(device["ftl"]["capacity"], scale),
        "precondition.tolerance": 0.1,
        "precondition.max_drive_writes": 3.0,
    }
    if spare := device["ftl"].get("spare_blocks"):
        changes["device.ftl.spare_blocks"] = spare // scale
    if classes := (device.get("protection") or {}).get("classes"):
        changes["device.protection.classes"] = [_smaller(own, scale) for own in classes]
    if "synthetic" in workload:
        for limit in ("duration", "requests"):
            if limit in workload["synthetic"]:
                whole = workload["synthetic"][limit]
                part = whole // scale if isinstance(whole, int) else _divided(whole, scale)
                changes[f"workload.synthetic.{limit}"] = part
    elif "fio" in workload:
        shorter = lambda match: f"runtime={_divided(match[1], scale)}"  # noqa: E731
        changes["workload.fio.job"] = re.sub(r"runtime=(\S+)", shorter, workload["fio"]["job"])
    return changes


def _smaller(own: Mapping[str, Any], scale: int) -> dict[str, Any]:
    """A class of protection with its ranges of addresses divided by `scale`."""
    ranges = [{edge: _divided(place, scale) for edge, place in part.items()} for part in own.get("ranges", ())]
    return dict(own) | ({"ranges": ranges} if ranges else {})


def _divided(quantity: str, scale: int) -> str:
    """A quantity of a whole number and a unit by `scale`; hours become seconds, GiB may become MiB."""
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]+)", quantity)
    if match is None:
        raise OutputError(f"{quantity}: not a whole number with a unit, so it cannot be divided by {scale}")
    number, unit = int(match[1]), match[2]
    if number % scale and unit == "h":
        number, unit = number * 3600, "s"
    if number % scale and unit == "GiB":
        number, unit = number * 1024, "MiB"
    if number % scale:
        raise OutputError(f"{quantity} cannot be divided by {scale}")
    return f"{number // scale}{unit}"


def run_all(
    jobs: Sequence[Job], folder: Path, processes: int, progress: Callable[[int, int], None] | None = None
) -> dict[str, Record]:
    """Results of cells, by key. Those kept in the folder are not run again; the rest run in so many processes."""
    return points.run_all(jobs, folder, lambda missing: local(min(processes, missing)), progress=progress).records
