"""Intervals by profile likelihood: how far a number can move while the others make up for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from outlast.products.fit.solve import Model, Vector, chi2, least_squares

LEVEL = 0.90
QUANTILE = 2.7055
"""Quantile of the chi-squared distribution with one degree of freedom, at `LEVEL`."""
FAR = math.log(100)
"""A number that can move a hundredfold is not identified."""
NEAR = 1e-5
"""Precision of the logarithm of an end."""


@dataclass(frozen=True)
class Interval:
    """The 90 % interval of a number; an open end is `None`."""

    low: float | None
    high: float | None


def scale_of(least: float, figures: int, numbers: int) -> float:
    """Factor of variances where the model misses more than noise explains: Birge's ratio, at least 1."""
    free = figures - numbers
    return max(1.0, least / free) if free > 0 else 1.0


def profile(residuals: Model, best: Vector, index: int, low: Vector, high: Vector, scale: float) -> Interval:
    """The interval of one number: the others are fitted anew at every value of it."""
    least = chi2(residuals(best))
    limit = QUANTILE * scale
    others = [each for each in range(len(best)) if each != index]

    def beyond(value: float, start: Vector) -> tuple[float, Vector]:
        fixed = best.copy()
        fixed[index] = value

        def rest(part: Vector) -> Vector:
            whole = fixed.copy()
            whole[others] = part
            return residuals(whole)

        if others:
            fixed[others] = least_squares(rest, start[others], low[others], high[others])
        return math.sqrt(max(0.0, chi2(residuals(fixed)) - least) / limit) - 1, fixed

    return Interval(*(_edge(beyond, best, index, sign, bound) for sign, bound in ((-1, low[index]), (1, high[index]))))


def _edge(
    beyond: Callable[[float, Vector], tuple[float, Vector]], best: Vector, index: int, sign: int, bound: float
) -> float | None:
    """Point where the profile crosses the limit: steps that double, then false positions. `None` if beyond the bound.

    `beyond` is the root of the profile over that of the limit, less 1: nearly a straight line, from -1 at the best.
    """
    inside, point, step, below = float(best[index]), best, 1e-3, -1.0
    while True:
        outside = inside + sign * step
        reached = (outside - bound) * sign >= 0 or abs(outside - best[index]) > FAR
        if reached:
            outside = bound if abs(bound - best[index]) < FAR else float(best[index]) + sign * FAR
        above, following = beyond(outside, point)
        if above > 0:
            break
        if reached:
            return None
        inside, point, step, below = outside, following, 2 * step, above
    side = 0
    for _ in range(25):
        slope = (above - below) / (outside - inside)
        middle = inside - below / slope
        found, following = beyond(middle, point)
        if abs(found / slope) < NEAR or abs(outside - inside) < NEAR:
            return middle
        # Illinois: an end that stays counts half, or else it might stay for ever.
        if found > 0:
            outside, above, below, side = middle, found, below / 2 if side > 0 else below, 1
        else:
            inside, below, above, side = middle, found, above / 2 if side < 0 else above, -1
            point = following
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
