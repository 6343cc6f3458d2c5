"""Formulas of public calculators, on the same inputs: each leaves something out that a fleet does."""

from __future__ import annotations

from numpy.typing import ArrayLike

from outlast import models
from outlast.models.columns import Result, count, scalar

YEAR_DAYS = 365.0


def backblaze(afr: float, repair_days: float, data: int = 17, parity: int = 3) -> tuple[float, float]:
    """Loss within one repair, and within a year, as Backblaze's published calculation has them.

    `afr` is the share of drives that fail within a year, from which a drive fails within `repair_days` with `afr ·
    days / 365`. A period is lost if more than `parity` of `data + parity` drives fail in it; periods are independent.
    It leaves out that failures at the end of a period meet those of the next, and whatever fails together. Raises
    `ModelError` for a share beyond 0 to 1.
    """
    days = scalar("repair_days", repair_days)
    data, parity = count("data", data, 1), count("parity", parity)
    drive = scalar("afr", afr) * days / YEAR_DAYS
    period = float(
        models.data_loss_with_parity([drive] * (data + parity), chunk_bits=1, stripes=1, spare_parities=parity)
    )
    return period, float(models.any_failure(YEAR_DAYS / days, period))


def ceph_rados(
    fit: float,
    copies: int = 3,
    *,
    size: float = 2e12,
    groups: int = 200,
    speed: float = 50e6,
    delay_hours: float = 1.0 / 6.0,
    full: float = 0.75,
    years: float = 1.0,
) -> float:
    """Loss of data of one drive within `years` (of 365.25 days), as Ceph's reliability model has it.

    After `RadosRely.py` in ceph/ceph-tools (models/reliability, LGPL 2.1), whose defaults these are. `fit` is failures
    of a drive in 1e9 hours, `size` bytes of a drive, `groups` placement groups on it, `speed` bytes a second of the
    recovery of each, `delay_hours` until a drive is marked out. The drive fails within the time; and `copies − 1` times
    any of `groups` others within a recovery. It leaves out that the third drive has to hold a copy of the same group as
    the first two, that recoveries end apart, and whatever fails together. Raises `ModelError` for rates below 0.
    """
    mean_time = 1e9 / scalar("fit", fit)
    copies, groups = count("copies", copies, 1), count("groups", groups, 1)
    stored, rate = scalar("size", size) * scalar("full", full), scalar("speed", speed) * groups
    recovery = scalar("delay_hours", delay_hours) + stored / rate / 3600.0
    # `double_failure` is 1 − e^−x for n − 1 drives.
    first = float(models.double_failure(scalar("years", years) * 365.25 * 24.0, mean_time, 2))
    further = float(models.double_failure(recovery, mean_time, groups + 1))
    return first * further ** (copies - 1)


def independent_groups(group: ArrayLike, groups: float) -> Result:
    """Loss of any of `groups` groups that are each lost with probability `group`, independently: `1 − (1 − p)^n`."""
    return models.any_failure(groups, group)
