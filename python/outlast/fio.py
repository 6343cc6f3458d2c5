"""fio: what its job files ask, results in the layout of its JSON, and that JSON as figures to compare with."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from outlast import _core, foreign
from outlast.errors import OutputError
from outlast.fio_report import OPS

if TYPE_CHECKING:
    pass


class Request(NamedTuple):
    """One request of a job."""

    at: float
    """Seconds since the first job began."""
    job: str
    op: str
    offset: int
    bytes: int


def is_job_file(name: str) -> bool:
    """True if a name has an ending of fio job files."""
    return name.lower().endswith((".fio", ".job"))


def layer(file: str) -> dict[str, Any]:
    """The layer of a scenario that runs a job file, its `${NAME}` taken from the environment, where they are there.

    What is not measured at the beginning is for the job's `ramp_time` to say: a preset's warm-up does not hold.
    """
    spec: dict[str, Any] = {"file": file}
    try:
        names = _core.fio_variables(Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        names = []  # the simulator says what is wrong with the file
    variables = {name: os.environ[name] for name in names if name in os.environ}
    fio = spec | ({"vars": variables} if variables else {})
    return {"workload": {"fio": fio}, "run": {"warm_up": "0s"}}


def requests(
    file: str | Path,
    capacity: int,
    *,
    latency_s: float = 1e-4,
    most: int = 100_000,
    seed: int = 1,
    variables: Mapping[str, str] | None = None,
) -> list[Request]:
    """The first `most` requests of a job file on a device of `capacity` bytes that takes `latency_s` for each."""
    settings = json.dumps({"file": str(file), "vars": dict(variables or {})})
    rows, lanes = _core.fio_log(settings, capacity, seed, round(latency_s * 1e9), most)
    return [Request(at * 1e-9, lanes[lane][0], op, offset, length) for at, lane, op, offset, length in rows]


class Measured:
    """A drive measured with fio: what its JSON says, to be laid beside results."""

    def __init__(self, name: str, report: dict[str, Any]) -> None:
        self.name = name
        self.report = report

    @classmethod
    def load(cls, path: str | Path) -> Measured:
        """Reads a file that `fio --output-format=json` or `json+` wrote."""
        file = Path(path)
        try:
            text = foreign.text_of(file)
        except OSError as error:
            raise OutputError(f"{file}: cannot read fio's JSON: {error.strerror}") from error
        except ValueError as error:
            raise OutputError(f"{file}: {error}") from error
        # fio puts its warnings before the JSON when both go to standard output.
        start = text.find("{")
        try:
            report = foreign.json_of(text[start:]) if start >= 0 else None
        except ValueError as error:
            raise OutputError(f"{file}: {error}") from error
        if not isinstance(report, dict) or not is_report(report):
            raise OutputError(f'{file}: not a result of fio: it has no "fio version" and jobs')
        return cls(file.stem, report)


def is_report(value: Any) -> bool:
    """True if parsed JSON has the layout of fio's output."""
    return (
        isinstance(value, dict)
        and "fio version" in value
        and isinstance(value.get("jobs"), list)
        and all(isinstance(job, dict) for job in value["jobs"])
    )


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """Figures of a report in fio's layout by job and direction, in the units of `result.json`."""
    jobs = report["jobs"]
    names = [str(job.get("jobname", "job")) for job in jobs]
    flat: dict[str, Any] = {}
    for index, (name, job) in enumerate(zip(names, jobs, strict=True)):
        job_label = name if names.count(name) == 1 else f"{name}[{names[:index].count(name)}]"
        for op in OPS:
            found = job.get(op)
            if not isinstance(found, dict) or not found.get("total_ios"):
                continue
            prefix = f"jobs.{job_label}.{op}"
            flat[f"{prefix}.ios"] = found["total_ios"]
            flat[f"{prefix}.iops"] = found.get("iops")
            # fio 2.x has KiB a second, and latencies in microseconds.
            flat[f"{prefix}.mib_s"] = _scaled(found.get("bw_bytes"), 1 << 20) or _scaled(found.get("bw"), 1 << 10)
            latency, to_us = found.get("clat_ns") or found.get("lat_ns") or {}, 1000
            if not latency:
                latency, to_us = found.get("clat") or found.get("lat") or {}, 1
            if latency.get("N") == 0:
                latency = {}  # all of them failed
            for key in ("mean", "min", "max", "stddev"):
                flat[f"{prefix}.latency_us.{key}"] = _scaled(latency.get(key), to_us)
            for percent, value in (latency.get("percentile") or {}).items():
                label = f"p{float(percent):g}".replace(".", "_")
                flat[f"{prefix}.latency_us.{label}"] = _scaled(value, to_us)
    return flat


def _scaled(value: Any, unit: float) -> float | None:
    return value / unit if isinstance(value, (int, float)) else None
