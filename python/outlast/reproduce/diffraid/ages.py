"""Figures 3, 4 and 5: how uneven parity spreads the ages of devices, and to what they converge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlast import models
from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every
from outlast.reproduce.diffraid.common import DIFF, FIRST_SHARES, array_of, bars, life, lines, name, no_cells, uneven
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Number, Row, Setting, Statement, Table

Records = Sequence[Mapping[str, Any]]
CONVERGED = (5750.0, 4312.5, 2875.0, 1437.5)
MANY = 100
DECAY = (
    "A deviation from the steady state is a sum of n - 1 modes, of which the slowest is multiplied by a known factor "
    "from replacement to replacement; what may be left of the first deviation is n - 1 times that factor's power."
)


def _fig03(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    found = life(array_of(setting, "fig03.toml"), replacements=2, samples=1)
    return [
        {"when": f"replacement {index + 1}"} | {f"drive_{place}": float(age) for place, age in enumerate(ages)}
        for index, ages in enumerate(found.ages)
    ]


def _halves(table: Table) -> Found:
    row = table.row(when="replacement 1")
    ages = [row[f"drive_{place}"] for place in range(4)]
    numbers = tuple(
        Number(f"drive {place + 1}", age, 5000 if place else 10_000, "cycles") for place, age in enumerate(ages)
    )
    return Found(ages[0] == 10_000 and all(abs(age - 5000) < 1 for age in ages[1:]), f"ages {ages}", numbers)


def _second(table: Table) -> Found:
    """Which drive wears out next: the one that then holds 70 %."""
    row = table.row(when="replacement 2")
    ages = [row[f"drive_{place}"] for place in range(4)]
    return Found(max(ages) == ages[1] and abs(ages[1] - 10_000) < 1, f"ages {[round(age, 1) for age in ages]}")


def _by_place(table: Table) -> Chart:
    x = [row["when"] for row in table.rows]
    series = {f"drive {place + 1}": [row[f"drive_{place}"] for row in table.rows] for place in range(4)}
    return bars("fig03-ages", "Ages when a drive is replaced", x, series, axis("cycles"))


FIG03 = Figure(
    "fig03",
    "Figure 3: parity-shifting drive replacement",
    "Four devices, (70, 10, 10, 10): ages when the first and the second drive are replaced.",
    no_cells,
    {f"drive_{place}": f"drive {place + 1}, cycles" for place in range(4)},
    lambda table: [_by_place(table)],
    [
        Statement(
            "When Drive 1 reaches 10,000 erase cycles, the other three SSDs are at 5,000 cycles.", "3.2", _halves
        ),
        Statement("Drive 2 receives 70 % of the parity after Drive 1 is replaced, and wears out next.", "3.2", _second),
    ],
    (
        "Random writes of one chunk; one write is one erasure of a page's share, as in section 4.1.",
        "Rates are added up from replacement to replacement; the paper's simulator issues the writes one by one.",
    ),
    _fig03,
    CLOSED,
)


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


def _fig04(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig04.toml")
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


def _exactly(table: Table) -> Found:
    row = table.row(source="closed form")
    ages = [row[f"age_{rank}"] for rank in range(1, 5)]
    holds = all(abs(age - want) < 1e-9 for age, want in zip(ages, CONVERGED, strict=True))
    numbers = tuple(Number(f"rank {rank + 2}", age, CONVERGED[rank], "cycles") for rank, age in enumerate(ages))
    return Found(holds, f"Equation 1: {', '.join(f'{age:g}' for age in ages)}", numbers)


def _in_the_engine(table: Table) -> Found:
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


def _curves(table: Table) -> Chart:
    rows = table.where(source="engine")[:40]
    x = [row["replacement"] for row in rows]
    series = {f"rank {rank + 1}": (x, [row[f"age_{rank}"] for row in rows]) for rank in range(1, 5)}
    return lines("fig04-ages", "Ages at replacement", series, "replacement", axis("cycles", rangemode="tozero"))


FIG04 = Figure(
    "fig04",
    "Figure 4: ages converge",
    "Five devices, (80, 5, 5, 5, 5): ages of those that remain at each replacement.",
    no_cells,
    {"replacement": "replacement"} | {f"age_{rank}": f"rank {rank + 1}, cycles" for rank in range(5)},
    lambda table: [_curves(table)],
    [
        Statement("The ages converge to 5,750, 4,312.5, 2,875 and 1,437.5 cycles.", "3.3", _exactly),
        Statement("So do the ages from replacement to replacement.", "3.3", _in_the_engine),
    ],
    ("As Figure 3.", DECAY),
    _fig04,
    CLOSED,
)


def _fig05(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig05.toml")
    rows: list[Row] = []
    for first in FIRST_SHARES:
        percent = uneven(first)
        found = life(array, parity_percent=percent, replacements=MANY, samples=0)
        ages, start = (sorted(each, reverse=True) for each in (found.ages[-1], found.ages[0]))
        exact = [array["limit"], *models.steady_ages(models.aging_rates(percent), array["limit"])[:4]]
        rows.append(
            {"assignment": name(percent), "first": first, "host_capacities": float(found.at[-1])}
            | {f"age_{rank}": float(age) for rank, age in enumerate(ages)}
            | {f"exact_{rank}": float(age) for rank, age in enumerate(exact)}
            | {"factor": _factor(percent), "started_off": _off(start[1:], exact[1:]), "off": _off(ages[1:], exact[1:])}
        )
    return rows


def _stationary(table: Table) -> Found:
    parts = []
    for row in table.rows:
        left = _left(uneven(row["first"]), row["started_off"], MANY)
        holds = row["factor"] < 1 - 1e-9 and row["off"] <= left
        parts.append(Found(holds, f"{row['first']} %: times {row['factor']:.3f} each, {row['off']:.1e} off"))
    return every(parts)


WHY_RAID5 = (
    "RAID-5's devices age alike and so never spread: its slowest deviation is multiplied by exactly 1. All other "
    "assignments converge (docs/papers/diff-raid.md: which do)"
)


def _as_many(table: Table) -> Found:
    """Cycles that were used up by what the host wrote: as many for every assignment, whichever devices they are in."""
    used = {
        row["first"]: (MANY * row["age_0"] + sum(row[f"age_{rank}"] for rank in range(1, 5))) / row["host_capacities"]
        for row in table.rows
    }
    totals = np.asarray([row["host_capacities"] for row in table.rows])
    words = (
        f"{min(used.values()):.6f} to {max(used.values()):.6f} cycles for each capacity written; replacement "
        f"{MANY} comes within {totals.max() / totals.min() - 1:.1%} of the same data, by what is left in the others"
    )
    return Found(max(used.values()) / min(used.values()) - 1 < 1e-9, words)


def _stacks(table: Table) -> Chart:
    x = [f"{row['first']}" for row in table.rows]
    series = {f"rank {rank + 1}": [row[f"exact_{rank}"] for row in table.rows] for rank in range(1, 5)}
    return bars("fig05-ages", "Convergent ages by percentage on the first device", x, series, axis("cycles"))


FIG05 = Figure(
    "fig05",
    "Figure 5: convergent ages by assignment",
    "Ages of those that remain when the oldest is replaced, after a hundred replacements and in closed form.",
    no_cells,
    {"first": "% on the first", "host_capacities": "device capacities written"}
    | {f"age_{rank}": f"rank {rank + 1}" for rank in range(5)}
    | {f"exact_{rank}": f"rank {rank + 1}, exact" for rank in range(5)}
    | {"factor": "deviations times", "started_off": "off at first", "off": "off at the end"},
    lambda table: [_stacks(table)],
    [
        Statement("Any parity assignment converges to a stationary distribution.", "3.3", _stationary, WHY_RAID5),
        Statement("Diff-RAID uses exactly as many replacements as conventional RAID-5.", "3.3", _as_many),
    ],
    ("As Figure 3.", DECAY),
    _fig05,
    CLOSED,
)
