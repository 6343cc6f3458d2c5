"""Figures of a layout: measured ones of its two runs, and closed forms from them and the data sheet."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from outlast import models
from outlast.endurance import rating
from outlast.planning.fields import PlanError
from outlast.planning.spec import REDUNDANCY, LayoutChoice, PlanSpec
from outlast.planning.trials import LayoutTrials, data_members

DAYS, HOURS = 365.0, 8760.0
"""Days and hours of a year, as in `array.data_loss`."""
MIB = 2**20


@dataclass(frozen=True)
class LayoutFigures:
    """A layout of the plan's drives."""

    name: str
    level: str
    members: int
    spares: int
    usable_bytes: float
    """Capacity for the host."""
    loss_per_year: float
    """Probability of losing data within a year of 8760 hours."""
    loss_in_period: float
    """The same within the years of the plan."""
    mttdl_hours: float
    """Mean time to data loss in hours."""
    rebuild_hours: float
    """Hours in which a member of full size is rebuilt beside the load, at `rebuild_mib_s`."""
    rebuild_mib_s: float
    """Rate of the simulated rebuild beside the load, in MiB of the member a second."""
    rebuild_done: float
    """Share of the simulated rebuild that was done when the run ended; its rate is that of this share."""
    rebuild_min_mib_s: float
    """Rate below which the rebuild does not yield to the host, `array.background.min_rate`."""
    rebuild_max_mib_s: float
    """Rate above which it does not go, `array.background.max_rate`."""
    failures: float
    """Drives that are expected to fail within the period: drives × hours / MTTF."""
    written_per_day: float
    """Bytes that the host writes to the array a day."""
    member_written_per_day: float
    """Bytes that the array writes a day to the member that it writes most, parity and copies included."""
    dwpd_used: float
    """The same in capacities of a drive."""
    dwpd_left: float | None
    """Drive writes a day that the data sheet allows over the years of the plan, less those used; `None` without one."""
    tbw_left_bytes: float | None
    """Bytes that the data sheet still allows each drive after the period; negative where it is exceeded."""
    tbw_years: float | None
    """Years until each drive has taken what the data sheet allows."""
    flash_years: float | None
    """Years until the average block has reached the rated cycles of its flash; `None` where no rating is known."""
    write_amplification: float
    """Bytes programmed for each of the host, array and collection together, once it is steady."""
    overload: bool
    """True if the healthy array does not serve the load."""
    latency_us: dict[str, dict[str, float | None]]
    """Milestones of latency in µs: 99th percentile of reads and writes, healthy and beside the rebuild."""
    drives_bought: int
    """Drives that are paid for: all of them once more for each time that the data sheet's writes are used up."""
    price: float | None
    energy_kwh: float | None
    energy_cost: float | None
    price_per_tb_year: float | None
    """Price of drives and energy for a terabyte (10¹² bytes) of usable capacity and a year."""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def figures_of(spec: PlanSpec, layout: LayoutChoice, trials: LayoutTrials) -> LayoutFigures:
    """All figures of a layout."""
    drives, years = spec.drives, spec.years
    members = drives.count - layout.spares
    rebuild = trials.rebuilding.summary["array"]["rebuild"]
    if rebuild is None or not rebuild["rate_mib_s"]:
        raise PlanError(f"{layout.name}: nothing was rebuilt in {spec.simulated_s:g} s; set a longer `simulated`")
    hours = drives.capacity / (rebuild["rate_mib_s"] * MIB) / 3600.0
    mttdl = mean_time(spec, layout, hours)
    usable = data_members(spec, layout) * drives.capacity
    healthy = trials.healthy.summary
    host = written_per_day(spec, trials)
    mean_share = _mean_share(spec, layout, healthy)
    member = host * mean_share * _unevenness(healthy)
    rated = drives.rated_bytes
    life = rated / (member * DAYS) if rated is not None else None
    sets = 1 if life is None else max(1, math.ceil(years / life - 1e-9))
    bought = drives.count * sets
    kwh = None if drives.watts is None else drives.watts * drives.count * HOURS * years / 1e3
    cost = None if kwh is None or spec.energy_price is None else kwh * spec.energy_price
    price = None if drives.price is None else drives.price * bought
    paid = None if price is None else price + (cost or 0.0)
    limits = trials.rebuilding.summary["scenario"]["array"]["background"]
    amplification = _amplification(healthy)
    worn = _flash_writes(healthy, amplification * _unevenness(healthy))
    return LayoutFigures(
        name=layout.name,
        level=layout.level,
        members=members,
        spares=layout.spares,
        usable_bytes=usable,
        loss_per_year=-math.expm1(-HOURS / mttdl),
        loss_in_period=-math.expm1(-HOURS * years / mttdl),
        mttdl_hours=mttdl,
        rebuild_hours=hours,
        rebuild_mib_s=rebuild["rate_mib_s"],
        rebuild_done=rebuild["done"],
        rebuild_min_mib_s=_rate(limits.get("min_rate"), 1000 * 1024),
        rebuild_max_mib_s=_rate(limits.get("max_rate"), 200_000 * 1024),
        failures=drives.count * HOURS * years / drives.mttf_hours,
        written_per_day=host,
        member_written_per_day=member,
        dwpd_used=member / drives.capacity,
        dwpd_left=None if rated is None else (rated / (years * DAYS) - member) / drives.capacity,
        tbw_left_bytes=None if rated is None else rated - member * years * DAYS,
        tbw_years=life,
        flash_years=None if worn is None else worn * usable / (host * DAYS),
        write_amplification=amplification,
        overload=bool(healthy["queue"].get("overload")),
        latency_us={
            "healthy": _tails(healthy),
            "rebuilding": _tails(trials.rebuilding.summary),
        },
        drives_bought=bought,
        price=price,
        energy_kwh=kwh,
        energy_cost=cost,
        price_per_tb_year=None if paid is None else paid / (usable / 1e12) / years,
    )


def mean_time(spec: PlanSpec, layout: LayoutChoice, rebuild_hours: float) -> float:
    """Mean time to data loss in hours, by the same chains as `array.data_loss` of a result."""
    members, drives = spec.drives.count - layout.spares, spec.drives
    parities = REDUNDANCY[layout.level]
    # What the last rebuild reads whole: the one copy that is left, or all others of a stripe.
    read = 1.0 if parities is None else float(members - parities)
    failure = models.read_failure(drives.uber, 8.0 * drives.capacity * read)
    mttf = drives.mttf_hours
    try:
        if layout.level == "raid10":
            mean = float(models.mttdl_mirrors(members, layout.copies or 2, mttf, rebuild_hours, read_failure=failure))
        else:
            spare = members - 1 if parities is None else parities
            found = models.mttdl(members, spare, mttf, rebuild_hours, parallel_repair=True, read_failure=failure)
            mean = float(found)
    except models.ModelError as error:
        raise _no_number(spec, layout, str(error)) from error
    if not 0.0 < mean < math.inf:
        raise _no_number(spec, layout, f"mean time to data loss: {mean:g}")
    return mean


def _no_number(spec: PlanSpec, layout: LayoutChoice, reason: str) -> PlanError:
    """The error of many copies on drives that live long: no number is as large as their mean time to data loss."""
    said, members = spec.drives.mttf_hours, spec.drives.count - layout.spares
    limit = f"{layout.name} of {members} members has no mean time to data loss up to 1.8e308 hours ({reason})"
    return PlanError(f"drives.mttf_hours = {said:g}: {limit}: must be lower, or the members fewer")


def written_per_day(spec: PlanSpec, trials: LayoutTrials) -> float:
    """Bytes that the host writes a day: those of the plan, or what the workload of its scenario wrote, all day long."""
    if spec.load.written_per_day is not None:
        return spec.load.written_per_day
    rate = trials.healthy.summary["throughput"]["write_mib_s"]
    if not rate:
        raise PlanError(f"workload.scenario = {spec.load.scenario}: writes nothing")
    return float(rate * MIB * 3600.0 * spec.load.active_hours)


def _mean_share(spec: PlanSpec, layout: LayoutChoice, summary: dict[str, Any]) -> float:
    """Bytes written to a member for each byte of the host; the mean of all."""
    added = summary["write_amplification"]["array"]
    if added is None:
        raise PlanError(
            f"{layout.name}: the load writes nothing within {spec.simulated_s:g} s; set a longer `simulated`, or more "
            "to write"
        )
    return float(1.0 + added) / int(summary["array"]["members"])


def _unevenness(summary: dict[str, Any]) -> float:
    """Bytes written to the member that is written most, over the mean of all: above 1 where parity stays on a drive."""
    members = [member for member in summary["array"]["wear"] if member["present"]]
    # Members that hold as much parity are written alike; what they differ by in seconds is chance.
    if len({member["parity_percent"] for member in members}) == 1:
        return 1.0
    written = [member["bytes_written"] for member in members]
    return float(max(written) * len(written) / sum(written)) if sum(written) else 1.0


def _amplification(summary: dict[str, Any]) -> float:
    """Write amplification of the rounds that prepared the array: a run of seconds collects too few superblocks."""
    prepared = summary["steady_state"]["precondition"]
    return float(prepared["write_amplification"] or summary["write_amplification"]["total"])


def _flash_writes(summary: dict[str, Any], amplification: float) -> float | None:
    """Capacities of the array that the host can write until blocks reach their rated cycles; `None` without one."""
    known = rating(summary)
    device = summary["device"]
    return None if known is None else known[0] * device["raw_bytes"] / device["capacity_bytes"] / amplification


def _tails(summary: dict[str, Any]) -> dict[str, float | None]:
    latency = summary["latency_us"]
    return {op: latency[op]["p99"] if latency[op] else None for op in ("read", "write")}


def _rate(value: Any, default: int) -> float:
    from outlast.why.quantity import bytes_per_s

    return float(default if value is None else bytes_per_s(value)) / MIB
