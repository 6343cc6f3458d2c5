"""Rows out of what fio wrote with `--output-format=json+`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outlast import fio
from outlast.errors import OutputError
from outlast.products.fit import table
from outlast.products.fit.rows import KEEPS_UP, Figure, Load, MeasuredError, Noise, Row, Skew, latency_sigmas, name_of

PREPARING = ("prepare", "fill", "wear")
"""Jobs whose names begin so bring the drive into its state; nothing is taken from them."""


def from_report(file: Path, capacity: float, noise: Noise, counted: Mapping[str, Any]) -> list[Row]:
    """A row for each job that measures. `counted` has write amplifications by name of job."""
    try:
        report = fio.Measured.load(file).report
    except OutputError as error:
        raise MeasuredError(str(error)) from error
    common = report.get("global options", {})
    beside, entries = _ran_beside(report, common), Counter(map(_name, report["jobs"]))
    rows = []
    for job in report["jobs"]:
        name = _name(job)
        place = f"{file}, job {name}"
        if name.startswith(PREPARING):
            continue
        if job.get("error"):
            raise MeasuredError(f"{place}: error = {job['error']}: the job failed; run it again")
        options = {**common, **job.get("job options", {})}
        if others := beside.get(name):
            names = ", ".join(others)
            raise MeasuredError(
                f"{place}: ran beside {names}; each job that measures needs stonewall, except the first"
            )
        # With group_reporting, which has no value either, one entry stands for all the jobs of a name.
        try:
            load = _load(place, options, capacity, is_sum=entries[name] == 1)
        except (ValueError, OverflowError) as error:
            raise MeasuredError(f"{place}: job options: {error}") from error
        rows.append(Row(place, load, _figures(place, job, load, noise, counted.get(name)), None))
    return rows


def _ran_beside(report: Mapping[str, Any], common: Mapping[str, str]) -> dict[str, list[str]]:
    """The other jobs that ran at the time of each.

    Options without a value, as stonewall mostly is, are not in fio's JSON. A stonewall begins a group of reports,
    though, and so does new_group, which waits for nothing: groups that together took longer than fio did not wait.
    """
    batches: list[list[Mapping[str, Any]]] = []
    group = None
    for job in report["jobs"]:
        options = {**common, **job.get("job options", {})}
        waits = "stonewall" in options or "wait_for" in options
        if not batches or waits or (job.get("groupid") != group and "new_group" not in options):
            batches.append([])
        batches[-1].append(job)
        group = job.get("groupid")
    if sum(max(_ran_s(job) for job in batch) for batch in batches) > max(
        (float(job.get("elapsed", math.inf)) for job in report["jobs"]), default=math.inf
    ):
        batches = [report["jobs"]]
    beside: dict[str, list[str]] = {}
    for batch in batches:
        names = [_name(job) for job in batch]
        if len(names) > 1:
            beside |= {name: [other for other in names if other != name] or [name] for name in names}
    return beside


def _ran_s(job: Mapping[str, Any]) -> float:
    """Seconds for which a job ran; 0 if it is not said."""
    return float(job.get("job_runtime", 0)) / 1000


def _name(job: Mapping[str, Any]) -> str:
    return str(job.get("jobname", "job"))


def _load(place: str, options: Mapping[str, str], capacity: float, *, is_sum: bool) -> Load:
    workload = options.get("rw", options.get("readwrite", "read")).partition(":")[0]
    if workload in ("rw", "readwrite", "randrw"):
        # A mix of one direction alone, as vendors write a whole sweep.
        share = float(options.get("rwmixread", 100 - float(options.get("rwmixwrite", "50"))))
        if share in (0, 100):
            workload = ("rand" if workload == "randrw" else "") + ("read" if share else "write")
    if workload not in ("randread", "randwrite", "randrw", "read", "write"):
        raise MeasuredError(f"{place}: rw = {workload}: not a load that can be fitted to")
    block = table.from_size(f"{place}: bs", options.get("bs", "4k"))
    depth = int(options.get("iodepth", "1")) * (int(options.get("numjobs", "1")) if is_sum else 1)
    size = options.get("size")
    user = None
    if size is not None:
        user = capacity * float(size[:-1]) / 100 if size.endswith("%") else table.from_size(f"{place}: size", size)
    burst = options.get("io_size") if options.get("startdelay") else None
    mix = float(options.get("rwmixread", 100 - float(options.get("rwmixwrite", "50"))))
    rate = [float(each) for each in options.get("rate_iops", "").split(",") if each]
    if workload == "randrw" and len(rate) > 1:
        # Each direction is held to its own rate, and with a mix gets it in full.
        mix = 100 * rate[0] / sum(rate[:2])
    return Load(
        workload=workload,
        block=round(block),
        depth=depth,
        rate=_requested_rate(workload, rate) if rate else None,
        by_fio=bool(rate),
        read_percent=mix if workload == "randrw" else (100.0 if "read" in workload else 0.0),
        user_bytes=user if workload == "randwrite" else None,
        burst=round(table.from_size(f"{place}: io_size", burst)) if burst else None,
        skew=_skew(place, options.get("random_distribution", "random")),
    )


def _requested_rate(workload: str, rate: list[float]) -> float:
    """Requests a second that a job asks for: the rate of its direction, or of both."""
    if workload == "randrw":
        return sum(rate[:2]) if len(rate) > 1 else 2 * rate[0]
    return rate[min(len(rate) - 1, 0 if "read" in workload else 1)]


def _skew(place: str, said: str) -> Skew:
    """`zipf:0.8`, or `zoned:90/10:10/90`: 90 % of the writes to 10 % of the addresses, the rest to the rest."""
    kind, _, rest = said.partition(":")
    if kind == "random":
        return Skew()
    if kind == "zipf" and rest:
        return Skew("zipf", float(rest.partition(":")[0]))
    zones = [tuple(map(float, zone.split("/"))) for zone in rest.split(":")] if kind == "zoned" else []
    if len(zones) == 2 and all(len(zone) == 2 for zone in zones) and abs(zones[0][0] + zones[0][1] - 100) < 1e-6:
        return Skew("two-zone", zones[0][0] / 100)
    raise MeasuredError(f"{place}: random_distribution = {said}: not one that can be fitted to")


def _figures(place: str, job: Mapping[str, Any], load: Load, noise: Noise, waf: Any) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    total = 0.0
    for side in ("read", "write"):
        own = job.get(side) or {}
        if not own.get("total_ios"):
            continue
        total += float(own["iops"])
        latency = own.get("clat_ns") or own.get("lat_ns") or {}
        told = latency.get("percentile")
        if not told and "clat" in own:
            raise MeasuredError(
                f"{place}: {side}: written by fio 2.x, whose times are in us; run it with fio 3 or later"
            )
        if not told:
            raise MeasuredError(
                f"{place}: {side}: no percentiles; run fio with --output-format=json+ and clat_percentiles on"
            )
        found = {float(percent): value * 1e-9 for percent, value in told.items() if value > 0}
        for percent, sigma in latency_sigmas(found, own["total_ios"], noise).items():
            if own["total_ios"] * (1 - percent / 100) >= 10:
                figures[f"{side}_{name_of(percent)}"] = Figure(found[percent], sigma)
        figures[f"{side}_mean"] = Figure(latency["mean"] * 1e-9, noise.latency)
    if not total:
        raise MeasuredError(f"{place}: no requests were completed")
    if load.rate is None or total < KEEPS_UP * load.rate:
        figures["iops"] = Figure(total, noise.iops)
    if waf is not None:
        if isinstance(waf, bool) or not isinstance(waf, (int, float)) or not 1 <= waf <= table.MOST_WAF:
            limit = f"must be a number of at least 1, and at most {table.MOST_WAF}"
            raise MeasuredError(f"{place}: waf = {waf}: {limit}")
        figures["waf"] = Figure(float(waf), noise.waf)
    return figures
