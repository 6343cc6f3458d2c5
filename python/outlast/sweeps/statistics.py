"""Means with confidence intervals, and which points no other beats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Mean:
    """Mean over the repeats of a point."""

    count: int
    """Repeats that have the figure."""
    mean: float | None
    sd: float | None
    """Standard deviation of a repeat, from the sample; `None` for fewer than two."""
    half: float | None
    """Half-width of the confidence interval of the mean; `None` for fewer than two."""


def student_probability(t: float, freedom: int) -> float:
    """P(-t < T < t) of Student's distribution with so many degrees of freedom, a whole number.

    Exact finite sums: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2:
        term, total = cosine, cosine if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * total)
    term, total = 1.0, 1.0
    for k in range(2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return sine * total


@lru_cache(maxsize=256)
def student_quantile(confidence: float, freedom: int) -> float:
    """The t within which Student's T lies, on both sides of zero, with probability `confidence` in 0..1."""
    low, high = 0.0, 1.0
    while student_probability(high, freedom) < confidence:
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if student_probability(middle, freedom) < confidence else (low, middle)
    return high


def mean_of(values: Sequence[float], confidence: float) -> Mean:
    """The mean of repeats that are independent of each other, with Student's interval."""
    count = len(values)
    if count == 0:
        return Mean(0, None, None, None)
    # What does not vary has no rounding either.
    mean = math.fsum(values) / count if min(values) < max(values) else values[0]
    if count == 1:
        return Mean(1, mean, None, None)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return Mean(count, mean, sd, student_quantile(confidence, count - 1) * sd / math.sqrt(count))


def front(costs: NDArray[np.float64]) -> list[int]:
    """Rows that no other row dominates, lower being better in every column; equal rows do not dominate each other."""
    # In this order whatever dominates a row stands before it, and is itself on the front or behind a row that is.
    different, place = np.unique(costs, axis=0, return_inverse=True)
    known, best = np.empty_like(different), list[int]()
    for index, row in enumerate(different):
        if not (known[: len(best)] <= row).all(axis=1).any():
            known[len(best)] = row
            best.append(index)
    return np.flatnonzero(np.isin(place.reshape(-1), best)).tolist()
