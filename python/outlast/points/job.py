"""A run to be made, what it gave, and the file that keeps it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from outlast import _core, api, foreign, shapes
from outlast.errors import OutlastError, OutputError
from outlast.output import write_file
from outlast.points.content import content_hash

NOT_KEPT = ("time", "memory", "scenario", "throughput.requests_per_cpu_s")
"""Figures of a result that a record has not: they differ from run to run, or stand elsewhere."""
SCHEMA_NAME = "outlast-cell/1"
UNSHARED = ("name", "description")
"""Settings that do not change what happens."""
THREADS = ("run", "threads")
"""Setting left out of a job's key, too: the number of threads changes no figure."""

Inputs = list[tuple[str, str]]
"""Setting and path of each file that a scenario reads."""
Record = dict[str, Any]
"""Kept output of a run: `scenario`, `summary` without the run's own cost, and the table `errors`."""


@dataclass(frozen=True)
class Job:
    """A run ready to be made."""

    scenario: dict[str, Any]
    """Resolved: nothing is inherited any more."""
    key: str
    inputs: Inputs | None = None
    """Files that the scenario reads; `None` where they were not asked for."""

    @property
    def file_name(self) -> str:
        """Name of the job's record in the folder of records."""
        return f"{self.key[:24]}.json"


@cache
def simulator_hash() -> str:
    """Identifies the simulator: a record of another build is not taken for one of this."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()


def key_of(scenario: Mapping[str, Any], inputs: Inputs | None = None) -> str:
    """The hash of what decides the outcome: every setting, the bytes of every file it reads, and the simulator.

    `inputs` are the files of the scenario, where they are known.
    """
    return _key(scenario, _contents(scenario, _inputs(scenario) if inputs is None else inputs))


def _inputs(scenario: Mapping[str, Any]) -> Inputs:
    """The setting and path of each file that a resolved scenario reads."""
    return _core.input_files([("json", json.dumps(scenario, allow_nan=False))])


def _contents(scenario: Mapping[str, Any], inputs: Inputs) -> dict[str, list[str]]:
    """Hashes of the bytes of input files by setting."""
    files: dict[str, list[str]] = {}
    for setting, path in inputs:
        files.setdefault(setting, []).append(content_hash(path))
        if setting.startswith("policies."):
            # Of a file of policies one is meant, by its name there.
            files[setting].append(scenario["policies"][setting.removeprefix("policies.")].rpartition(":")[2])
    return files


def _key(scenario: Mapping[str, Any], files: Mapping[str, list[str]]) -> str:
    known = _without({name: value for name, value in scenario.items() if name not in UNSHARED}, THREADS)
    for setting in files:
        # What a file is called does not matter, and its bytes are in the key already.
        known = _without(known, setting.split("."))
    text = orjson.dumps([SCHEMA_NAME, simulator_hash(), known, files], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def _without(settings: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The settings without one of them, nor the tables that then have none."""
    first, *below = path
    kept = {name: value for name, value in settings.items() if name != first}
    inner = _without(settings[first], below) if below and first in settings else {}
    return kept | {first: inner} if inner else kept


def measure(job: Job) -> Record:
    """Runs the scenario. Nothing is given of a run that was stopped: that raises `KeyboardInterrupt`."""
    inputs = _inputs(job.scenario) if job.inputs is None else job.inputs
    files = _contents(job.scenario, inputs)
    if _key(job.scenario, files) != job.key:
        raise _refused(
            inputs, "is not the one that was asked for: it changed, or a worker has another one of that name"
        )
    # Several runs are made at once: unless asked for more, each has one processor.
    threads = job.scenario.get("run", {}).get("threads", 1)
    result = api.run(job.scenario, {"run.threads": threads})
    # The settings are what they were; what may have changed is the bytes of files.
    if _contents(job.scenario, inputs) != files:
        raise _refused(inputs, "changed while it was being read")
    if result.summary["partial"]:
        raise KeyboardInterrupt
    summary = {name: value for name, value in result.summary.items() if name not in NOT_KEPT}
    summary["throughput"].pop("requests_per_cpu_s")
    record: Record = {"schema": SCHEMA_NAME, "key": job.key, "scenario": job.scenario, "summary": summary}
    errors = result.tables.get("errors", {})
    record["errors"] = {name: [int(value) for value in values] for name, values in errors.items()}
    return record


def _refused(inputs: Inputs, purpose: str) -> OutputError:
    """Refusal to give a result of files that are not, or are no longer, those that the job's key was made of."""
    files = ", ".join(path for _, path in inputs) or "the simulator"
    return OutputError(f"{files}: {purpose}; this run was not kept")


def measure_elsewhere(scenario: dict[str, Any], key: str, simulator: str, inputs: Inputs | None = None) -> Record:
    """The same in another process, perhaps of another machine, whose simulator must be that of the caller."""
    if simulator_hash() != simulator:
        raise OutputError("a worker has another build of Outlast than the program that asks")
    return measure(Job(scenario, key, inputs))


def store_record(record: Record, folder: Path) -> None:
    """Writes a record whole or not at all."""
    write_file(folder / Job({}, record["key"]).file_name, foreign.sealed(record))


def stored_record(job: Job, folder: Path) -> Record | None:
    """Record kept from an earlier run of the job; `None` without one, or if the file has another form."""
    # A text: one path for each run of a large sweep costs more than a look at its file.
    file = f"{folder}/{job.file_name}"
    try:
        record = _read(file)
    except (OSError, ValueError, OutlastError):
        return None
    foreign.rely_on(file)
    return record if record.get("schema") == SCHEMA_NAME and record.get("key") == job.key else None


def _read(file: str) -> Record:
    """The record in a file. One that is as it was written has the form that it was given, and is not checked anew."""
    content = foreign.bytes_of(file)
    record: Record | None = foreign.unsealed(content)
    if record is not None:
        return record
    record = foreign.json_of(content)
    shapes.check(Path(file), record, "record")
    shapes.check(Path(file), record["summary"], "result", without=NOT_KEPT)
    return record
