"""Failures of drives by age: as given, by Weibull, or from the physics that a result of `outlast run` has measured."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from outlast import models
from outlast.errors import ScenarioError
from outlast.fleet.reading import Settings

YEAR_HOURS = 8760.0
WEIBULL_STEPS = 240
SELDOM = 50.0
"""Cumulative hazard that a drive outlives with e^−50: no rate beyond is looked at."""
MOST_RATE = 1.0
"""Failures of a drive per hour at the most."""
MOST_UBER, LEAST_UBER = 1e-3, 1e-300
CYCLES = "device.reliability.initial.pe_cycles"
AGES = 201
"""Ages over which an UBER is averaged."""
LEAST_SHAPE, LEAST_SCALE = 0.05, 1e-3
"""Least shape, and scale in years, of a Weibull distribution of lives."""


def hazard_of(settings: Settings) -> tuple[list[float], list[float]]:
    """Ages in hours, and failures per hour of a drive from each age on."""
    said = settings["drive"]
    if said["weibull_shape"]:
        if said["weibull_shape"] < LEAST_SHAPE:
            raise settings.refused(
                "drive.weibull_shape", said["weibull_shape"], f"must be 0, or {LEAST_SHAPE} and more"
            )
        if said["weibull_scale"] < LEAST_SCALE:
            limit = f"must be at least {LEAST_SCALE} with a shape"
            raise settings.refused("drive.weibull_scale", said["weibull_scale"], limit)
        found = _weibull(said["weibull_shape"], said["weibull_scale"], _oldest(settings))
    elif said["afr_by_age"] or said["ages"]:
        ages, shares = said["ages"], said["afr_by_age"]
        if len(ages) != len(shares) or not ages or ages[0] != 0.0 or any(a >= b for a, b in pairwise(ages)):
            raise settings.refused("drive.ages", ages, "must begin with 0, rise, and be as many as afr_by_age")
        if any(share >= 1.0 for share in shares):
            raise settings.refused("drive.afr_by_age", shares, "must be below 1")
        found = [age * YEAR_HOURS for age in ages], [float(models.failure_rate(share)) for share in shares]
    else:
        found = [0.0], [float(models.failure_rate(said["afr"]))]
    if max(found[1]) > MOST_RATE:
        key = "weibull_scale" if said["weibull_shape"] else "afr"
        raise settings.refused(f"drive.{key}", said[key], "drives would live less than an hour")
    return found


def _oldest(settings: Settings) -> float:
    """Age in years that no drive exceeds within the years looked at."""
    return float(settings["drive"]["age"] + settings["drive"]["age_spread"] + settings["years"])


def _weibull(shape: float, scale: float, oldest: float) -> tuple[list[float], list[float]]:
    """Steps of equal length, each with the mean rate of its time: `((b/η)^β − (a/η)^β) / (b − a)`.

    They end at the age that drives do not exceed, or that next to none reach. The last step holds for drives that are
    older at the start.
    """
    last = min(scale * math.exp(math.log(SELDOM) / shape), oldest)
    step = last / WEIBULL_STEPS
    edges = [index * step for index in range(WEIBULL_STEPS + 1)]
    mean = [((end / scale) ** shape - (begin / scale) ** shape) / (step * YEAR_HOURS) for begin, end in pairwise(edges)]
    return [edge * YEAR_HOURS for edge in edges[:-1]], mean


def with_results(settings: Settings) -> Settings:
    """Settings in which results of `outlast run` have become numbers: wear-out, unreadable bits, rebuild times."""
    if settings["drive"]["result"]:
        settings = _worn(settings)
    if settings["drive"]["sweep"]:
        settings = _aged(settings)
    for key in ("result", "sweep"):
        if settings["repair"][key]:
            settings = _rebuilt(settings, key)
    if settings["drive"]["retire_wear"] and not settings["drive"]["retire_years"]:
        value = settings["drive"]["retire_wear"]
        raise settings.refused("drive.retire_wear", value, "needs drive.result and drive.endurance")
    # They have become numbers, which may be changed from here on.
    files = {"result": "", "sweep": ""}
    return settings.changed(drive=files | {"endurance": 0.0, "retire_wear": 0.0}, repair=files)


def _rebuilt(settings: Settings, key: str) -> Settings:
    """The bandwidth of a drive from rebuilds under load: of a run; or of a sweep, whose loads last equally long."""
    place = settings["repair"][key]
    for other in ("hours", "drive_mb_s"):
        if f"repair.{other}" in settings.given:
            raise settings.refused(
                f"repair.{other}", settings["repair"][other], f"stands beside repair.{key}: give one"
            )
    if key == "sweep" and settings["repair"]["result"]:
        raise settings.refused("repair.sweep", place, "stands beside repair.result: give one")
    if key == "result":
        rates = [_found(_summary(settings, "repair"), "array", "rebuild", "rate_mib_s")]
    else:
        rates = _column(settings, "repair", "array.rebuild.rate_mib_s")
    if not rates or not all(_is_above_0(rate) for rate in rates):
        raise settings.refused(f"repair.{key}", place, "has no rebuild that was completed")
    # Of an array of any size: a member was rebuilt at this rate under the load of the run. Mean hours, not rates.
    rate = len(rates) / sum(1.0 / rate for rate in rates)
    return settings.changed(repair={"drive_mb_s": rate * 1.048576})


def _aged(settings: Settings) -> Settings:
    """The mean UBER over the ages of the years looked at: a sweep over P/E cycles, and the cycles that a run takes."""
    said = settings["drive"]
    place = said["sweep"]
    if "drive.uber" in settings.given:
        raise settings.refused("drive.uber", said["uber"], "stands beside drive.sweep: give one")
    per_year = cycles_per_year(_summary(settings, "drive"), said["dwpd"]) if said["result"] else None
    if per_year is None:
        raise settings.refused("drive.sweep", place, "needs drive.result, a run with writes: it says the cycles a year")
    cycles = _column(settings, "drive", f"scenario.{CYCLES}")
    ubers = _column(settings, "drive", "reliability.uber_exact")
    rows = sorted(zip(cycles, ubers, strict=True)) if cycles and len(cycles) == len(ubers) else []
    points = sorted({cycle for cycle, _ in rows})
    if len(points) < 2:
        raise settings.refused("drive.sweep", place, f"must vary {CYCLES} of a drive that errs, at two points or more")
    at = [sum(uber for cycle, uber in rows if cycle == point) / cycles.count(point) for point in points]
    ages = np.linspace(said["age"], _oldest(settings), AGES)
    # Between points as ln, since an UBER rises by orders of magnitude; 0 is below any that counts.
    logs = np.interp(ages * per_year, points, np.log(np.maximum(at, LEAST_UBER)))
    mean = float(np.exp(logs).mean())
    if ages[-1] * per_year > points[-1]:
        limit = f"ends at {points[-1]:g} cycles: drives have {ages[-1] * per_year:.4g} at the end of the years"
        raise settings.refused("drive.sweep", place, limit)
    if not 0.0 <= mean <= MOST_UBER:
        raise settings.refused("drive.sweep", place, f"has an UBER of {mean:g}: at most {MOST_UBER:g}")
    return settings.changed(drive={"uber": mean})


def _is_above_0(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < math.inf


def _column(settings: Settings, table: str, name: str) -> list[float]:
    """Numbers of a column of a sweep, one for each run that has one."""
    from outlast.errors import OutlastError
    from outlast.sweeps import load_sweep

    try:
        columns = load_sweep(settings.path(table, "sweep")).columns
    except OutlastError as error:
        raise ScenarioError(f"{settings.source}: {table}.sweep: {error}") from error
    found = [] if name not in columns else [float(each) for each in columns[name] if each is not None]
    return [each for each in found if math.isfinite(each)]


def _worn(settings: Settings) -> Settings:
    """The age at which cells reach their endurance, from then on `wear_afr`; and the exact UBER of the run."""
    said, summary = settings["drive"], _summary(settings, "drive")
    place = said["result"]
    per_year = cycles_per_year(summary, said["dwpd"])
    changes: dict[str, Any] = {}
    if said["endurance"]:
        if per_year is None or per_year <= 0:
            raise settings.refused("drive.result", place, "has no erasures in its measured time")
        years = said["endurance"] / per_year
        if said["retire_wear"]:
            if "drive.retire_years" in settings.given:
                raise settings.refused(
                    "drive.retire_years", said["retire_years"], "stands beside retire_wear: give one"
                )
            changes["retire_years"] = said["retire_wear"] * years
            years = _worn_at(settings, years)
        if said["afr_by_age"] or said["weibull_shape"]:
            raise settings.refused("drive.endurance", said["endurance"], "stands beside afr, not beside rates by age")
        changes |= {"ages": [0.0, min(years, 9999.0)], "afr_by_age": [said["afr"], said["wear_afr"]]}
    uber = _found(summary, "reliability", "uber_exact")
    if isinstance(uber, (int, float)) and "drive.uber" not in settings.given:
        if not 0 <= uber <= MOST_UBER:
            limit = f"has an UBER of {uber:g}: at most {MOST_UBER:g}, or set drive.uber"
            raise settings.refused("drive.result", place, limit)
        changes["uber"] = float(uber)
    if not changes and not said["sweep"]:
        raise settings.refused(
            "drive.result", place, "gives nothing: set drive.endurance, or measure a drive that errs"
        )
    return settings.changed(drive=changes)


def _worn_at(settings: Settings, years: float) -> float:
    """Years until a drive has had its endurance, of which it would have a like part in each of `years`.

    With `parity_percent` members wear by the parity that they hold, and change places when one is replaced: in the
    steady state each is the youngest for a part of its life, then the second youngest, up to the oldest (Balakrishnan
    et al., "Differential RAID", EuroSys 2010, section 3.3).
    """
    said = settings["drive"]
    if not said["parity_percent"]:
        return years
    try:
        rates = models.aging_rates(said["parity_percent"], max(round(sum(said["parity_percent"]) / 100.0), 1))
    except models.ModelError as error:
        raise settings.refused("drive.parity_percent", said["parity_percent"], str(error)) from error
    # From the youngest, which is the last, to the oldest.
    pace = np.sort(np.asarray(rates)) / np.mean(rates)
    life = said["retire_wear"] * years
    moments = np.linspace(0.0, life, pace.size + 1)
    wear = np.concatenate(([0.0], np.cumsum(pace))) * life / pace.size / years
    return float(np.interp(1.0, wear, moments)) if wear[-1] >= 1.0 else years + life


def cycles_per_year(summary: dict[str, Any], dwpd: float = 0.0) -> float | None:
    """P/E cycles of a block a year, by the write amplification of a run; None if it wrote nothing.

    The host writes `dwpd` capacities a day; 0: as much as in the run, whose drive may be a small part of a real one.
    """
    amplification = _found(summary, "write_amplification", "total")
    capacity, raw = _found(summary, "device", "capacity_bytes"), _found(summary, "device", "raw_bytes")
    rate = _found(summary, "throughput", "write_mib_s")
    if not all(isinstance(each, (int, float)) and each > 0 for each in (amplification, capacity, raw)):
        return None
    if dwpd:
        return float(dwpd * 365.0 * amplification * capacity / raw)
    return float(rate * 2**20 * 3600.0 * YEAR_HOURS * amplification / raw) if rate else None


def _found(table: Any, *path: str) -> Any:
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _summary(settings: Settings, table: str) -> dict[str, Any]:
    from outlast.errors import OutlastError
    from outlast.result import load

    path = settings.path(table, "result")
    try:
        return dict(load(path).summary)
    except OutlastError as error:
        raise ScenarioError(f"{settings.source}: {table}.result: {error}") from error


def mean_life_years(shape: float, scale: float) -> float:
    """Mean of a Weibull distribution of lives, in the unit of `scale`."""
    return scale * math.gamma(1.0 + 1.0 / shape)
