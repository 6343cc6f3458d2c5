"""Least squares over a simulator: a cheap surrogate is fitted, the simulator says where it errs, and so on.

The surrogate is a closed form plus a correction, both of logarithms. A run of the simulator sets the correction at the
point that the surrogate found best; two runs say how the correction changes between them (Broyden's update). That is
space mapping: as many rounds of runs as Newton's method takes steps, without runs for derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outlast.errors import ScenarioError

Vector = NDArray[np.float64]
Model = Callable[[Vector], Vector]

MOST_ROUNDS = 6
NEAR_ROUNDS = 3
"""Enough where earlier stages have been: what is left is noise of runs."""
GAIN = 0.05
"""The fit has converged when the surrogate promises no more than this of the sum of squares."""
REACH = 0.7
"""No number doubles, or halves, in one round."""
SCATTER = 6e-3
"""Difference of the logarithms of one figure between two runs."""
APART = 5e-3
"""Points nearer than this say more about the noise of runs than about slopes."""


def scipy_optimize() -> object:
    """SciPy's optimisers, which are an extra."""
    try:
        from scipy import optimize
    except ImportError as error:
        raise ScenarioError("outlast fit needs scipy; install outlast[fit]") from error
    return optimize


@dataclass
class Surrogate:
    """The closed form with its correction, about a point."""

    closed: Model
    offset: Vector
    slopes: Vector
    centre: Vector
    reach: Vector
    """The longest step along each number that slopes were learned from: beyond it the correction does not grow."""

    def __call__(self, x: Vector) -> Vector:
        return self.closed(x) + self.offset + self.slopes @ np.clip(x - self.centre, -self.reach, self.reach)

    def learn(self, x: Vector, simulated: Vector) -> None:
        """Takes what the simulator gave at `x`: the surrogate is right there from now on."""
        gap = simulated - self.closed(x)
        step = x - self.centre
        length = float(step @ step)
        if np.isfinite(self.offset).all() and length > APART**2:
            surprise = gap - self.offset - self.slopes @ np.clip(step, -self.reach, self.reach)
            # What runs scatter by is no slope.
            surprise = np.sign(surprise) * np.maximum(0.0, np.abs(surprise) - SCATTER)
            self.slopes = self.slopes + np.outer(surprise, step) / length
            self.reach = np.maximum(self.reach, np.abs(step))
        self.offset, self.centre = gap, x


@dataclass
class Problem:
    """Logarithms of figures, how sure each is, and what there is to explain them."""

    observed: Vector
    sigma: Vector
    low: Vector
    high: Vector
    closed: Model
    simulate: Model
    near: bool = False
    """True if the start is the outcome of earlier stages, to which the closed form alone has nothing to add."""


@dataclass
class Solution:
    """End point of the fit."""

    x: Vector
    surrogate: Surrogate
    chi2: float
    rounds: int


def chi2(residuals: Vector) -> float:
    """The sum of squares."""
    return float(residuals @ residuals)


def least_squares(residuals: Model, start: Vector, low: Vector, high: Vector) -> Vector:
    """The bounded minimum that SciPy finds from a start."""
    optimize = scipy_optimize()
    inside = np.clip(start, low + 1e-9, high - 1e-9)
    # Logarithms of very different numbers have one scale.
    found = optimize.least_squares(residuals, inside, bounds=(low, high), x_scale=1.0, diff_step=1e-6)  # type: ignore[attr-defined]
    best: Vector = found.x
    return best


def solve(problem: Problem, start: Vector) -> Solution:
    """The numbers that explain the figures best."""

    def against(model: Model) -> Model:
        return lambda x: (model(x) - problem.observed) / problem.sigma

    x = start if problem.near else least_squares(against(problem.closed), start, problem.low, problem.high)
    unknown = np.full(len(problem.observed), np.nan)
    flat = np.zeros((len(problem.observed), len(start)))
    surrogate = Surrogate(problem.closed, unknown, flat, x, np.zeros(len(start)))
    rounds = 0
    for rounds in range(1, (NEAR_ROUNDS if problem.near else MOST_ROUNDS) + 1):  # noqa: B007 - told in the outcome
        surrogate.learn(x, problem.simulate(x))
        # The correction is of here: what is far from here is for the next round.
        low, high = np.maximum(problem.low, x - REACH), np.minimum(problem.high, x + REACH)
        following = least_squares(against(surrogate), x, low, high)
        gained = chi2(against(surrogate)(x)) - chi2(against(surrogate)(following))
        x = following
        if gained < GAIN:
            break
    return Solution(x, surrogate, chi2(against(surrogate)(x)), rounds)
