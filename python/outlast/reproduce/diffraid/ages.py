"""Rows of Figures 3, 4 and 5: how uneven parity spreads the ages of devices, and to what they converge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outlast import models
from outlast.reproduce.diffraid.common import DIFF, array_of, life, name, uneven
from outlast.reproduce.model import Found, Number, Row, Setting, Table

CONVERGED = (5750.0, 4312.5, 2875.0, 1437.5)
MANY = 100


def by_drive(setting: Setting, scenario: str) -> list[Row]:
    """Ages of the drives when the first and the second is replaced."""
    found = life(array_of(setting, scenario), replacements=2, samples=1)
    return [
        {"when": f"replacement {index + 1}"} | {f"drive_{place}": float(age) for place, age in enumerate(ages)}
        for index, ages in enumerate(found.ages)
    ]


def _factor(percent: Sequence[float]) -> float:
    """What the slowest deviation from the steady state is multiplied by from one replacement to the next."""
    rates = np.sort(np.asarray(models.aging_rates(percent)))[::-1]
    # z^(n-1) + t_2 z^(n-2) + ... + t_n with t_1 = 1: see docs/papers/diff-raid.md.
    return float(np.abs(np.roots(rates / rates[0])).max())


def _left(percent: Sequence[float], first: float, replacements: int) -> float:
    """The deviation that may be left of that at the first replacement, or else what rounding leaves."""
    return max((len(percent) - 1) * _factor(percent) ** (replacements - 1) * first, 1e-9)


def _off(ages: Sequence[float], steady: Sequence[float]) -> float:
    return max(abs(age / want - 1) for age, want in zip(ages, steady, strict=True))


def by_rank(setting: Setting, scenario: str) -> list[Row]:
    """Ages at each of a hundred replacements, the oldest first, and those of the steady state."""
    array = array_of(setting, scenario)
    found = life(array, replacements=MANY, samples=0)
    exact = models.steady_ages(models.aging_rates(array["parity_percent"]), array["limit"])
    rows: list[Row] = [
        {"source": "engine", "replacement": index + 1}
        | {f"age_{rank}": float(age) for rank, age in enumerate(sorted(ages, reverse=True))}
        for index, ages in enumerate(found.ages)
    ]
    # Just before a replacement the oldest is at its limit; what the others have is what position 1 and so on then have.
    closed = {f"age_{rank + 1}": float(age) for rank, age in enumerate(exact[:4])} | {"age_0": array["limit"]}
    return [*rows, {"source": "closed form", "replacement": 0} | closed]


def in_the_engine(table: Table) -> Found:
    """After forty replacements no more of the first deviation is left than its slowest mode can leave."""
    row = table.where(source="engine")[39]
    ages = [row[f"age_{rank}"] for rank in range(1, 5)]
    first = table.where(source="engine")[0]
    exact = table.row(source="closed form")
    off = _off(ages, CONVERGED)
    left = _left(DIFF, _off([first[f"age_{rank}"] for rank in range(1, 5)], CONVERGED), 40)
    shown = ", ".join(f"{age:.1f}" for age in ages)
    words = f"after 40 replacements {shown}: {off:.1e} off, at most {left:.1e} may be left"
    numbers = tuple(
        Number(f"rank {rank + 2}", age, CONVERGED[rank], "cycles", closed=exact[f"age_{rank + 1}"])
        for rank, age in enumerate(ages)
    )
    return Found(off <= left, words, numbers)


def convergent(setting: Setting, scenario: str, first: float) -> list[Row]:
    """Ages after a hundred replacements, those of the steady state, and how far off they are and may be."""
    array, percent = array_of(setting, scenario), uneven(first)
    found = life(array, parity_percent=percent, replacements=MANY, samples=0)
    ages, start = (sorted(each, reverse=True) for each in (found.ages[-1], found.ages[0]))
    exact = [array["limit"], *models.steady_ages(models.aging_rates(percent), array["limit"])[:4]]
    started = _off(start[1:], exact[1:])
    return [
        {"assignment": name(percent), "host_capacities": float(found.at[-1])}
        | {f"age_{rank}": float(age) for rank, age in enumerate(ages)}
        | {f"exact_{rank}": float(age) for rank, age in enumerate(exact)}
        | {"factor": _factor(percent), "started_off": started, "off": _off(ages[1:], exact[1:])}
        | {"left": _left(percent, started, MANY)}
    ]
