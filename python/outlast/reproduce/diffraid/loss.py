"""Rows of Figures 2, 6, 7, 9 and 10, data loss probabilities of `models.array_life`, and checks that are algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from outlast import models
from outlast.models import ArrayLife
from outlast.reproduce.diffraid.common import RAID5, array_of, at_the_end, life, name, uneven
from outlast.reproduce.model import Found, Row, Setting, Table

STEADY_AFTER = 15
"""Replacements after which section 4.1.1 calls the curve steady: 10 to 15."""
STEADY = 1.5
"""Peaks that differ by less are steady: it is a sixth of a decade, on an axis that has more than ten."""


def _life(setting: Setting, scenario: str, scheme: str, **more: int) -> tuple[Mapping[str, Any], ArrayLife]:
    array = array_of(setting, scenario)
    return array, life(array, **({"parity_percent": RAID5} if scheme == "RAID-5" else {}), **more)


def over_life(setting: Setting, scenario: str, scheme: str, replacements: int, samples: int) -> list[Row]:
    """Losses over an array's life, the oldest failing."""
    array, found = _life(setting, scenario, scheme, replacements=replacements, samples=samples)
    written = found.host_capacities * array["capacity"] / 1e12
    return [
        {"written_tb": float(at), "replaced": int(count), "loss": float(oldest)}
        for at, count, oldest in zip(written, found.replaced, found.loss_oldest, strict=True)
    ]


def straight(setting: Setting, scenario: str, scheme: str, replacements: int, samples: int, after: int) -> list[Row]:
    """Losses about each replacement with straight lines through the chip's two points instead of an exponential."""
    array, found = _life(setting, scenario, scheme, replacements=replacements, samples=samples)
    low, high = (float(np.asarray(models.rber(array["chip"], cycles))) for cycles in (5000.0, 10_000.0))
    rows: list[Row] = []
    for index in range(after, len(found.ages)):
        for when, ages in (("before", found.ages[index]), ("after", _renewed(found, index))):
            rber = np.interp(ages, [0.0, 5000.0, 10_000.0], [0.0, low, high])
            uber = models.uber(rber, 4096 + 13 * array["ecc"], array["ecc"])
            # The oldest has failed, whatever its rate.
            survivors = np.delete(np.asarray(uber), int(np.argmax(ages)))
            loss = float(np.asarray(models.data_loss(survivors, array["capacity"] * 8.0)))
            rows.append({"when": when, "replaced": index, "loss": loss, "written_tb": 0.0})
    return rows


def _renewed(found: ArrayLife, index: int) -> Any:
    ages = found.ages[index].copy()
    ages[found.member[index]] = 0.0
    return ages


def by_assignment(setting: Setting, scenario: str, first: float) -> list[Row]:
    """Losses in the steady state with so many percent on the first device."""
    oldest, any_ = at_the_end(array_of(setting, scenario), parity_percent=uneven(first))
    return [{"assignment": name(uneven(first)), "loss": oldest, "loss_any": any_}]


def beside_raid5(setting: Setting, scenario: str, **changed: float) -> list[Row]:
    """The loss in the steady state with another limit or ECC, and that of RAID-5."""
    array = array_of(setting, scenario)
    raid5, _ = at_the_end(array, **changed, parity_percent=RAID5)
    return [{"diff": at_the_end(array, **changed)[0], "raid5": raid5}]


def peaks(table: Table) -> Found:
    """The loss rises until all are replaced together, and begins again where it began."""
    rows = table.where(scheme="RAID-5")
    starts = [row["loss"] for row in rows[::125]]
    highest = [max(row["loss"] for row in rows if row["replaced"] // 5 == cycle) for cycle in range(4)]
    alike = max(highest) / min(highest) - 1 < 1e-6
    rises = all(peak > 1e3 * start for peak, start in zip(highest, starts, strict=True))
    found = f"peaks {', '.join(f'{peak:.3f}' for peak in highest)}, new arrays {starts[0]:.1e}"
    return Found(alike and rises, found)


def together(table: Table) -> Found:
    """Each fifth is replaced with the four before it."""
    rows = table.where(scheme="RAID-5")
    at = sorted({round(row["written_tb"], 6) for row in rows if row["replaced"] in (4, 9, 14, 19)})
    return Found(len(at) == 4, f"all five are replaced after {', '.join(f'{each:.0f}' for each in at)} TB each")


def converges(table: Table) -> Found:
    """From replacement to replacement the peak changes less and less."""
    rows = table.where(scheme="Diff-RAID")
    peaks = [max(row["loss"] for row in rows if row["replaced"] == count) for count in range(40)]
    early = max(peaks[:10]) / min(peaks[:10])
    late = max(peaks[STEADY_AFTER:]) / min(peaks[STEADY_AFTER:])
    return Found(
        late < STEADY < early, f"peaks differ {early:.0f} times in the first ten, {late:.2f} times after fifteen"
    )
