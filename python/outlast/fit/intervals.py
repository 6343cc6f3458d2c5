"""Intervals by profile likelihood: how far a number can move while the others make up for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outlast.fit.solve import Model, Vector, chi2, least_squares

LEVEL = 0.90
QUANTILE = 2.7055
"""Of the chi-squared distribution with one degree of freedom, at `LEVEL`."""
FAR = math.log(100)
"""A number that can move a hundredfold is not identified."""


@dataclass(frozen=True)
class Interval:
    """The 90 % interval of a number; an open end is `None`."""

    low: float | None
    high: float | None


def scale_of(least: float, figures: int, numbers: int) -> float:
    """What variances are multiplied by where the model misses more than noise explains: Birge's ratio, at least 1."""
    free = figures - numbers
    return max(1.0, least / free) if free > 0 else 1.0


def profile(residuals: Model, best: Vector, index: int, low: Vector, high: Vector, scale: float) -> Interval:
    """The interval of one number: the others are fitted anew at every value of it."""
    least = chi2(residuals(best))
    limit = QUANTILE * scale
    others = [each for each in range(len(best)) if each != index]

    def excess(value: float, start: Vector) -> tuple[float, Vector]:
        fixed = best.copy()
        fixed[index] = value

        def rest(part: Vector) -> Vector:
            whole = fixed.copy()
            whole[others] = part
            return residuals(whole)

        if others:
            fixed[others] = least_squares(rest, start[others], low[others], high[others])
        return chi2(residuals(fixed)) - least - limit, fixed

    return Interval(*(_edge(excess, best, index, sign, bound) for sign, bound in ((-1, low[index]), (1, high[index]))))


def _edge(excess: object, best: Vector, index: int, sign: int, bound: float) -> float | None:
    """Where the profile crosses the limit: steps that double, then halving. `None` if it does not before the bound."""
    assert callable(excess)
    inside, point, step = float(best[index]), best, 1e-3
    while True:
        outside = inside + sign * step
        reached = (outside - bound) * sign >= 0 or abs(outside - best[index]) > FAR
        if reached:
            outside = bound if abs(bound - best[index]) < FAR else float(best[index]) + sign * FAR
        above, following = excess(outside, point)
        if above > 0:
            break
        if reached:
            return None
        inside, point, step = outside, following, 2 * step
    for _ in range(25):
        middle = (inside + outside) / 2
        above, following = excess(middle, point)
        if above > 0:
            outside = middle
        else:
            inside, point = middle, following
        if abs(outside - inside) < 1e-5:
            break
    return (inside + outside) / 2


def leave_out(
    residuals: Model, best: Vector, groups: Sequence[Sequence[int]], low: Vector, high: Vector
) -> list[Vector]:
    """The numbers that are found without each group of figures."""
    found = []
    for group in groups:
        kept = np.setdiff1d(np.arange(len(residuals(best))), np.asarray(group, dtype=int))
        found.append(least_squares(lambda x, kept=kept: residuals(x)[kept], best, low, high))  # type: ignore[misc]
    return found
