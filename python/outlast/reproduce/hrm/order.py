"""Figure 4's orders, in which ties are allowed where nothing can be seen."""

from __future__ import annotations

from itertools import pairwise

from outlast.reproduce.check import every, times
from outlast.reproduce.hrm.common import CHIPS, TIE, VISIBLE, kilo
from outlast.reproduce.model import Found, Table


def _slower(name: str, steps: list[tuple[str, float, float]]) -> tuple[Found, int]:
    """Of means in order, with the percent of first checks that fail: slower at each step, and how many steps are ties.

    A tie is allowed where next to nothing fails, as nothing can be seen there; elsewhere each must be slower.
    """
    ties, holds = 0, True
    for (_, before, _), (_, after, fails) in pairwise(steps):
        is_slower = after > before * (1 + TIE)
        is_tie = not is_slower and fails < VISIBLE and after >= before * (1 - TIE)
        ties += is_tie
        holds &= is_slower or is_tie
    return Found(holds, f"{name}: " + ", ".join(f"{label} {times(value)}" for label, value, _ in steps)), ties


def _in_order(series: list[tuple[str, list[tuple[str, float, float]]]]) -> Found:
    judged = [_slower(name, steps) for name, steps in series]
    steps, ties = sum(len(own) - 1 for _, own in series), sum(count for _, count in judged)
    found = every([part for part, _ in judged])
    return Found(found.holds and ties < steps, f"{ties} of {steps} steps are ties; {found.words}")


def _step(table: Table, chip: str, cycles: int, bits: int, label: str) -> tuple[str, float, float]:
    row = table.row(chip=chip, state=kilo(cycles), scheme=f"{bits}-bit ECC")
    return label, row["ratio"], row["first_check_fails_percent"]


def by_wear(table: Table) -> Found:
    """Each chip under each code is slower in each state than in the one before."""
    series = []
    for chip, (_, states, strengths) in CHIPS.items():
        for bits in strengths:
            series.append((f"{chip}, {bits} bit", [_step(table, chip, c, bits, kilo(c)) for c in states]))
    return _in_order(series)


def by_strength(table: Table) -> Found:
    """Each chip in each state is slower under each code than under the stronger one."""
    series = []
    for chip, (_, states, strengths) in CHIPS.items():
        for cycles in states:
            steps = [_step(table, chip, cycles, bits, f"{bits} bit") for bits in strengths]
            series.append((f"{chip} {kilo(cycles)}", [("∞", 1.0, 0.0), *steps]))
    return _in_order(series)
