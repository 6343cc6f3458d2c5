"""What public calculators compute, on the same inputs: each leaves something out that a fleet does."""

from __future__ import annotations

from numpy.typing import ArrayLike

from outlast import models
from outlast.models.columns import Result

YEAR_DAYS = 365.0


def backblaze(afr: float, repair_days: float, data: int = 17, parity: int = 3) -> tuple[float, float]:
    """Loss within one repair, and within a year, as Backblaze's published calculation has them.

    `afr` is the share of drives that fail within a year, from which a drive fails within `repair_days` with `afr ·
    days / 365`. A period is lost if more than `parity` of `data + parity` drives fail in it; periods are independent.
    It leaves out that failures at the end of a period meet those of the next, and whatever fails together. Raises
    `ModelError` for a share beyond 0 to 1.
    """
    drive = afr * repair_days / YEAR_DAYS
    period = float(
        models.data_loss_with_parity([drive] * (data + parity), chunk_bits=1, stripes=1, spare_parities=parity)
    )
    return period, float(models.any_failure(YEAR_DAYS / repair_days, period))


def ceph_chain(fit: float, repair_hours: float, copies: int, years: float = 1.0) -> float:
    """Loss of an object within `years`, as Ceph's reliability model counts it.

    Copies fail one by one, each within the repair of the one before.

    `fit` is failures of a drive in 1e9 hours. `1 − e^−(copies·λ·T)` for the first failure, times `1 − e^−((copies −
    i)·λ·repair)` for each further one. It leaves out that repairs of several copies end apart, placement, latent
    errors in this form, and whatever fails together.
    """
    rate = fit * 1e-9
    hours = years * YEAR_DAYS * 24.0
    # One further failure of `left` drives within a repair: `1 − e^−(left·λ·R)`, as `double_failure` has it.
    loss = float(models.double_failure(hours, 1.0 / rate, copies + 1))
    for left in range(copies - 1, 0, -1):
        loss *= float(models.double_failure(repair_hours, 1.0 / rate, left + 1))
    return loss


def independent_groups(group: ArrayLike, groups: float) -> Result:
    """Loss of any of `groups` groups that are each lost with probability `group`, independently: `1 − (1 − p)^n`."""
    return models.any_failure(groups, group)
