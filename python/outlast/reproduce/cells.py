"""Running cells, several at a time, each once: what one gave is kept under a hash of its scenario and the simulator."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from outlast import _core, api
from outlast.errors import InternalError, OutputError
from outlast.reproduce.model import Cell

SCHEMA_NAME = "outlast-cell/1"
UNSHARED = ("name", "description")
"""Settings that do not change what happens."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A cell ready to run."""

    scenario: dict[str, Any]
    key: str

    def file(self, folder: Path) -> Path:
        """Where its record is kept."""
        return folder / f"{self.key[:24]}.json"


@cache
def simulator_hash() -> str:
    """Identifies the simulator: a record of another build is not taken for one of this."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()


@cache
def _file_hash(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def prepare(cell: Cell, scale: int) -> Job:
    """Resolves the cell's scenario at a scale."""
    overrides = dict(cell.overrides)
    scenario = api.resolve(list(cell.layers), overrides)
    if scale > 1:
        scenario = api.resolve(list(cell.layers), overrides | scaled(scenario, scale))
    return Job(scenario, key_of(scenario))


def key_of(scenario: Mapping[str, Any]) -> str:
    """The hash of what decides the outcome: every setting, the bytes of a trace, and the simulator."""
    known = {name: value for name, value in scenario.items() if name not in UNSHARED}
    trace = known.get("workload", {}).get("trace")
    if trace:
        known["workload"] = {"trace": trace | {"file": _file_hash(trace["file"])}}
    text = json.dumps([SCHEMA_NAME, simulator_hash(), known], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


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


def run(job: Job, folder: Path) -> None:
    """Runs a cell and keeps what it gave, unless another process has done so by now.

    Nothing is kept of a run that was stopped.
    """
    if kept(job, folder) is not None:
        return
    result = api.run(job.scenario)
    if result.summary["partial"]:
        raise KeyboardInterrupt
    summary = {name: value for name, value in result.summary.items() if name not in ("time", "memory", "scenario")}
    summary["throughput"].pop("requests_per_cpu_s")
    record: Record = {"schema": SCHEMA_NAME, "key": job.key, "scenario": job.scenario, "summary": summary}
    errors = result.tables.get("errors", {})
    record["errors"] = {name: [int(value) for value in values] for name, values in errors.items()}
    target = job.file(folder)
    handle, staging = tempfile.mkstemp(prefix=f".{target.name}.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1, allow_nan=False)
        Path(staging).replace(target)
    except BaseException:
        Path(staging).unlink(missing_ok=True)
        raise


def kept(job: Job, folder: Path) -> Record | None:
    """What the cell gave when it ran before, if it did."""
    try:
        record: Record = json.loads(job.file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if record.get("schema") == SCHEMA_NAME and record.get("key") == job.key else None


def run_all(
    jobs: Sequence[Job], folder: Path, processes: int, progress: Callable[[int, int], None] | None = None
) -> dict[str, Record]:
    """What each cell gave, by key. Those kept in the folder are not run again; the rest run in so many processes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error
    wanted = {job.key: job for job in jobs}
    missing = [job for job in wanted.values() if kept(job, folder) is None]
    done = len(wanted) - len(missing)
    tell = progress or (lambda *_: None)
    tell(done, len(wanted))
    if processes <= 1 or len(missing) <= 1:
        for job in missing:
            run(job, folder)
            done += 1
            tell(done, len(wanted))
    else:
        with ProcessPoolExecutor(min(processes, len(missing)), get_context("spawn")) as pool:
            futures = [pool.submit(run, job, folder) for job in missing]
            try:
                for future in as_completed(futures):
                    future.result()
                    done += 1
                    tell(done, len(wanted))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    records = {}
    for key, job in wanted.items():
        record = kept(job, folder)
        if record is None:
            raise InternalError(f"{job.file(folder)}: the cell has run and its record cannot be read back")
        records[key] = record
    return records
