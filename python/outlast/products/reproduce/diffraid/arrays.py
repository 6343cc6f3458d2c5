"""Rows of Diff-RAID's figures that are real code: lives of arrays, ages of devices, losses from their wear."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlast import api, models
from outlast.models import ArrayLife
from outlast.products.reproduce.diffraid import noise
from outlast.products.reproduce.model import Row, Setting

RAID5 = (20.0, 20.0, 20.0, 20.0, 20.0)
MANY = 100
UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def uneven(first: float) -> tuple[float, ...]:
    """A percentage on the first of five devices, the rest spread evenly."""
    return (float(first), *([(100.0 - first) / 4] * 4))


def array_of(setting: Setting, file: str) -> dict[str, Any]:
    """The arguments of `models.array_life` that a scenario file stands for."""
    scenario = api.resolve([setting.scenarios / file])
    array, device = scenario["array"], scenario["device"]
    reliability = device["reliability"]
    limit = device["defects"]["endurance"] * array["replacement"].get("limit_percent", 100.0) / 100.0
    percent = array.get("parity_percent") or [100.0 / array["members"]] * array["members"]
    return {
        "parity_percent": percent,
        "chip": reliability["chip"],
        "ecc": reliability["ecc"]["strength"],
        "capacity": _bytes(device["ftl"]["capacity"]),
        "limit": limit,
        "shift": array["replacement"]["shift"],
    }


def _bytes(text: str) -> int:
    match = re.fullmatch(r"([\d.]+)\s*([A-Za-z]+)", text)
    if match is None:
        raise ValueError(f"{text}: not a size")
    return int(float(match[1]) * UNITS[match[2]])


def life(array: dict[str, Any], **more: Any) -> ArrayLife:
    """The life of an array, changed as `more` says."""
    given = array | more
    return models.array_life(given.pop("parity_percent"), **given)


def at_the_end(array: dict[str, Any], **more: Any) -> tuple[float, float]:
    """Data loss probability just before a replacement in the steady state, the oldest failing and any failing.

    RAID-5 is taken when the first of its members reaches the limit: then all do.
    """
    percent = more.get("parity_percent", array["parity_percent"])
    alike = len(set(percent)) == 1
    found = life(array, **more, replacements=1 if alike else MANY, samples=1)
    return float(found.loss_oldest[-1]), float(found.loss_any[-1])


def described(setting: Setting, scenario: str, **_: Any) -> list[Row]:
    """Bits that the scenario's ECC corrects."""
    return [{"ecc": array_of(setting, scenario)["ecc"]}]


def steady(setting: Setting, scenario: str, **changed: Any) -> list[Row]:
    """Losses in the steady state and of RAID-5, of an array that is changed.

    `first` is the percentage on the first device; `arithmetic` other than exact computes as the original may have.
    What is text and no argument of an array labels the row.
    """
    array, exact = array_of(setting, scenario), changed.pop("arithmetic", "exact")
    more = {name: value for name, value in changed.items() if name in array}
    if "first" in changed:
        more["parity_percent"] = uneven(changed["first"])
    if exact == "exact":
        (oldest, any_), (raid5, _) = at_the_end(array, **more), at_the_end(array, **more | {"parity_percent": RAID5})
    else:
        oldest, any_, raid5 = noise.losses(array, more["chip"], exact)
    return [{"loss": oldest, "loss_any": any_, "raid5": raid5}]


def by_drive(setting: Setting, scenario: str) -> list[Row]:
    """Ages of the drives when the first and the second is replaced."""
    found = life(array_of(setting, scenario), replacements=2, samples=1)
    return [
        {"when": f"replacement {index + 1}"} | {f"drive_{place}": float(age) for place, age in enumerate(ages)}
        for index, ages in enumerate(found.ages)
    ]


def by_rank(setting: Setting, scenario: str, first: float | None = None, at: Sequence[int] = ()) -> list[Row]:
    """Ages at replacements, the oldest first, and in the steady state, `exact`.

    `off` is how far they are from those, and `left` what may be left of that at the first replacement, as `started_off`
    says it. `first` is the percentage on the first device, else the scenario's; without `at` all of a hundred.
    """
    array = array_of(setting, scenario)
    percent = array["parity_percent"] if first is None else uneven(first)
    found = life(array, parity_percent=percent, replacements=MANY, samples=0)
    # Just before a replacement the oldest is at its limit; what the others have is what position 1 and so on then have.
    exact = [array["limit"], *models.steady_ages(models.aging_rates(percent), array["limit"])[:4]]
    ranked = [sorted((float(age) for age in ages), reverse=True) for ages in found.ages]
    factor, started = _factor(percent), _off(ranked[0], exact)
    return [
        {"replacement": index, "host_capacities": float(found.at[index - 1]), "factor": factor, "started_off": started}
        | {f"age_{rank}": age for rank, age in enumerate(ranked[index - 1])}
        | {f"exact_{rank}": float(age) for rank, age in enumerate(exact)}
        | {"off": _off(ranked[index - 1], exact)}
        # Of n - 1 modes each; what rounding leaves is more after a while.
        | {"left": max((len(percent) - 1) * factor ** (index - 1) * started, 1e-9)}
        for index in at or range(1, MANY + 1)
    ]


def _factor(percent: Sequence[float]) -> float:
    """Factor of the slowest deviation from the steady state from one replacement to the next."""
    rates = np.sort(np.asarray(models.aging_rates(percent)))[::-1]
    # z^(n-1) + t_2 z^(n-2) + ... + t_n with t_1 = 1: see docs/papers/diff-raid.md.
    return float(np.abs(np.roots(rates / rates[0])).max())


def _off(ages: Sequence[float], steady: Sequence[float]) -> float:
    return max(abs(age / want - 1) for age, want in zip(ages[1:], steady[1:], strict=True))


def over_life(setting: Setting, scenario: str, scheme: str, replacements: int, samples: int) -> list[Row]:
    """Losses over an array's life, the oldest failing, and the greatest until each replacement."""
    array, found = _life(setting, scenario, scheme, replacements=replacements, samples=samples)
    written = found.host_capacities * array["capacity"] / 1e12
    rows: list[Row] = [
        {"written_tb": float(at), "replaced": int(count), "loss": float(oldest)}
        for at, count, oldest in zip(written, found.replaced, found.loss_oldest, strict=True)
    ]
    peaks: dict[int, float] = {}
    for row in rows:
        peaks[row["replaced"]] = max(row["loss"], peaks.get(row["replaced"], 0.0))
    return [row | {"peak": peaks[row["replaced"]]} for row in rows]


def _life(setting: Setting, scenario: str, scheme: str, **more: int) -> tuple[Mapping[str, Any], ArrayLife]:
    array = array_of(setting, scenario)
    return array, life(array, **({"parity_percent": RAID5} if scheme == "RAID-5" else {}), **more)


def straight(setting: Setting, scenario: str, scheme: str, replacements: int, samples: int, after: int) -> list[Row]:
    """Losses about each replacement with straight lines through the chip's two points instead of an exponential."""
    array, found = _life(setting, scenario, scheme, replacements=replacements, samples=samples)
    low, high = (float(np.asarray(models.rber(array["chip"], cycles))) for cycles in (5000.0, 10_000.0))
    rows: list[Row] = []
    for index in range(after, len(found.ages)):
        renewed = found.ages[index].copy()
        renewed[found.member[index]] = 0.0
        for when, ages in (("before", found.ages[index]), ("after", renewed)):
            # The oldest has failed, whatever its rate.
            survivors = np.delete(ages, int(np.argmax(ages)))
            loss = _lost(array, np.interp(survivors, [0.0, 5000.0, 10_000.0], [0.0, low, high]))
            rows.append({"when": when, "replaced": index, "loss": loss, "written_tb": 0.0})
    return rows


def _lost(array: Mapping[str, Any], rber: Any) -> float:
    """The chance that devices with these error rates cannot all be read."""
    uber = models.uber(rber, 4096 + 13 * array["ecc"], array["ecc"])
    return float(np.asarray(models.data_loss(uber, array["capacity"] * 8.0)))


def loss_by_wear(setting: Setting, figures: Mapping[str, Any]) -> float:
    """Loss of drives of 80 GB that age in proportion to what members were asked to write, by position.

    Drives are small for the run's sake; what is at stake is a drive as large as the paper's.
    """
    written = (value for name, value in figures.items() if re.fullmatch(r"array\.wear\[\d+\]\.bytes_written", name))
    return loss_of(array_of(setting, "fig10.toml"), sorted(written, reverse=True))


def loss_of(array: Mapping[str, Any], rates: Sequence[float]) -> float:
    """The greatest loss of the last five of a hundred replacements, the oldest having failed.

    Devices begin new and age at these rates by position; rates that are alike leave them as old as each other.
    """
    after = models.replacements(rates, array["limit"], MANY).ages[-5:]
    survivors = (np.delete(ages, int(np.argmin(ages))) for ages in after)
    return max(_lost(array, np.asarray(models.rber(array["chip"], ages))) for ages in survivors)
