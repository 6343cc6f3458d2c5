"""Results in the layout of fio's JSON output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlast.result import Result

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Percentiles that fio prints by default."""
OPS = ("read", "write", "trim")
_COUNTED = {"read": "reads", "write": "writes", "trim": "trims", "sync": "flushes"}
_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_KIB = 1024
_EIO = 5

Bins = dict[int, int]


def to_fio(result: Result) -> dict[str, Any]:
    """The result in the layout of fio's `--output-format=json+`, as of fio 3.33.

    A result without jobs is one job with everything in it. What a simulation has none of is zero: submission latency,
    processor time, context switches, the time of day. Errors are told as with `continue_on_error=all`, and are EIO.
    """
    summary = result.summary
    jobs = summary["host"].get("jobs")
    bins = _bins_by_job(result)
    if not jobs:
        jobs, bins = [_all_in_one(summary)], {0: _bins_of_all(result)}
    return {
        "fio version": f"outlast-{summary['version']} (layout of fio-3.33)",
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": {},
        "jobs": [_job(job, bins.get(index, {})) for index, job in enumerate(jobs)],
    }


def _bins_by_job(result: Result) -> dict[int, dict[str, Bins]]:
    table = result.tables.get("jobs")
    bins: dict[int, dict[str, Bins]] = {}
    if table:
        rows = zip(table["job"], table["op"], table["latency_ns"], table["count"], strict=True)
        for job, op, value, count in rows:
            bins.setdefault(int(job), {}).setdefault(str(op), {})[int(value)] = int(count)
    return bins


def _bins_of_all(result: Result) -> dict[str, Bins]:
    table = result.tables.get("latency")
    bins: dict[str, Bins] = {}
    if table:
        rows = zip(table["op"], table["stream"], table["latency_us"], table["count"], strict=True)
        for op, stream, value, count in rows:
            if stream == "all":
                bins_of_op = bins.setdefault("sync" if op == "flush" else str(op), {})
                bucket = _bucket(round(float(value) * 1000))
                bins_of_op[bucket] = bins_of_op.get(bucket, 0) + int(count)
    return bins


def _bucket(nanoseconds: int) -> int:
    """The middle of fio's bucket of a latency."""
    width = nanoseconds.bit_length() - 7
    return nanoseconds if width <= 0 else (nanoseconds >> width << width) + (1 << width) // 2


def _all_in_one(summary: dict[str, Any]) -> dict[str, Any]:
    host, span = summary["host"], summary["time"]["simulated_s"]
    sums = (
        ("read", "read", host["reads"], host["bytes_read"]),
        ("write", "write", host["writes"], host["bytes_written"]),
        ("trim", "trim", host["trims"], host["bytes_trimmed"]),
        ("sync", "flush", host["flushes"], 0),
    )
    failed = host.get("failed") or {}
    job: dict[str, Any] = {
        "name": summary["name"],
        "group": 0,
        "begin_s": summary["time"]["warm_up_s"],
        "runtime_s": span,
        "iodepth_level": [0.0] * 7,
        "options": {},
    }
    for name, op, ios, length in sums:
        errors = failed.get(_COUNTED[name], 0)
        latency = summary["latency_us"].get(op)
        job[name] = (
            {"ios": ios, "bytes": length, "errors": errors, "latency_us": latency}
            if errors or (ios and latency)
            else None
        )
    return job


def _job(job: dict[str, Any], bins: dict[str, Bins]) -> dict[str, Any]:
    runtime = math.ceil(job["runtime_s"] * 1000 - 1e-6)
    errors = sum(_errors(job.get(op)) for op in _COUNTED)
    done: dict[str, Any] = {
        "jobname": job["name"],
        "groupid": job["group"],
        "error": _EIO if errors else 0,
        "eta": 0,
        "elapsed": math.ceil(job["begin_s"] + job["runtime_s"]),
        "job options": dict(job["options"]),
    }
    for op in OPS:
        done[op] = _direction(job.get(op), bins.get(op, {}), runtime)
    sync = job.get("sync")
    done["sync"] = {
        "total_ios": sync["ios"] + _errors(sync) if sync else 0,
        "lat_ns": _latency(sync, bins.get("sync", {}), percentiles=True),
    }
    names = ["1", "2", "4", "8", "16", "32", ">=64"]
    batches = dict.fromkeys(("0", "4", "8", "16", "32", "64", ">=64"), 0.0) | {"4": 100.0}
    done |= {
        "job_runtime": runtime,
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": dict(zip(names, job["iodepth_level"], strict=True)),
        "iodepth_submit": batches,
        "iodepth_complete": dict(batches),
    }
    done |= _shares([bins.get(op, {}) for op in OPS])
    done |= {
        "latency_depth": _whole(job["options"].get("iodepth", "1")),
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }
    if errors:
        done |= {"total_err": errors, "first_error": _EIO}
    if job.get("description"):
        done["desc"] = job["description"]
    return done


def _whole(digits: str) -> int:
    return int(digits) if digits.isdigit() else 1


def _errors(figures: dict[str, Any] | None) -> int:
    return int(figures.get("errors") or 0) if figures else 0


def _direction(figures: dict[str, Any] | None, bins: Bins, runtime: int) -> dict[str, Any]:
    length = figures["bytes"] if figures else 0
    # As fio counts: requests and their rate are of all that were issued, bytes and latencies of those that were served.
    # A direction that moved nothing has no time of its own.
    ios = figures["ios"] + _errors(figures) if figures else 0
    span = runtime if length else 0
    rate = length * 1000 // span if span else 0
    bandwidth = _samples(figures, "mib_s_samples", _KIB)
    iops = _samples(figures, "iops_samples", 1)
    return {
        "io_bytes": length,
        "io_kbytes": length >> 10,
        "bw_bytes": rate,
        "bw": rate // _KIB,
        "iops": ios * 1000 / span if span else 0.0,
        "runtime": span,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _latency(None, {}),
        "clat_ns": _latency(figures, bins, percentiles=True),
        "lat_ns": _latency(figures, bins),
        "bw_min": round(bandwidth["min"]),
        "bw_max": round(bandwidth["max"]),
        "bw_agg": 100.0 if bandwidth["count"] else 0.0,
        "bw_mean": bandwidth["mean"],
        "bw_dev": bandwidth["stddev"],
        "bw_samples": bandwidth["count"],
        "iops_min": round(iops["min"]),
        "iops_max": round(iops["max"]),
        "iops_mean": iops["mean"],
        "iops_stddev": iops["stddev"],
        "iops_samples": iops["count"],
    }


def _samples(figures: dict[str, Any] | None, key: str, scale: float) -> dict[str, Any]:
    found = (figures or {}).get(key)
    if not found:
        return {"count": 0, "min": 0.0, "max": 0.0, "mean": 0.0, "stddev": 0.0}
    return {name: value if name == "count" else value * scale for name, value in found.items()}


def _latency(figures: dict[str, Any] | None, bins: Bins, *, percentiles: bool = False) -> dict[str, Any]:
    if not figures or not figures["latency_us"]:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    found = figures["latency_us"]
    latency: dict[str, Any] = {
        "min": round(found["min"] * 1000),
        "max": round(found["max"] * 1000),
        "mean": found["mean"] * 1000,
        "stddev": found["stddev"] * 1000 if "stddev" in found else _deviation(bins),
        "N": found["count"],
    }
    if percentiles and bins:
        latency["percentile"] = _percentiles(bins)
        latency["bins"] = {str(value): bins[value] for value in sorted(bins)}
    return latency


def _deviation(bins: Bins) -> float:
    count = sum(bins.values())
    if count < 2:
        return 0.0
    mean = sum(value * n for value, n in bins.items()) / count
    return math.sqrt(sum(n * (value - mean) ** 2 for value, n in bins.items()) / (count - 1))


def _percentiles(bins: Bins) -> dict[str, int]:
    """Percentiles by fio's rule: the bucket in which the cumulative count reaches the share."""
    count, below, found = sum(bins.values()), 0, {}
    wanted = iter(PERCENTILES)
    percent: float | None = next(wanted)
    for value in sorted(bins):
        below += bins[value]
        while percent is not None and below >= percent / 100 * count:
            found[f"{percent:f}"] = value
            percent = next(wanted, None)
    return found


def _shares(bins: Iterable[Bins]) -> dict[str, dict[str, float]]:
    """Percent of the requests by ranges of latency."""
    every = [item for bins_of_job in bins for item in bins_of_job.items()]
    count = max(1, sum(n for _, n in every))
    found: dict[str, dict[str, float]] = {}
    for unit, scale in (("ns", 1), ("us", 1000), ("ms", 1_000_000)):
        steps = [*map(str, _STEPS), *(("2000", ">=2000") if unit == "ms" else ())]
        row = dict.fromkeys(steps, 0.0)
        for value, n in every:
            whole = value // scale
            if (whole >= 1000 and unit != "ms") or (scale > 1 and value < scale):
                continue
            limits = [*_STEPS, 2000] if unit == "ms" else _STEPS
            name = next((str(step) for step in limits if whole < step), ">=2000")
            row[name] += 100 * n / count
        found[f"latency_{unit}"] = row
    return found
