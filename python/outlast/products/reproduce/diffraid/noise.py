"""Error rates as `1.0 - sum` in doubles leaves them: what the original seems to have computed. Never used elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from outlast import models

DATA = 4096


def _powers(p: float, n: int, wrong: int) -> float:
    return math.comb(n, wrong) * p**wrong * (1.0 - p) ** (n - wrong)


def _logarithm(p: float, n: int, wrong: int) -> float:
    return math.comb(n, wrong) * p**wrong * math.exp((n - wrong) * math.log1p(-p))


def _factorials(p: float, n: int, wrong: int) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(wrong + 1) - math.lgamma(n - wrong + 1)
    return math.exp(ways + wrong * math.log(p) + (n - wrong) * math.log1p(-p))


WAYS: Mapping[str, Callable[[float, int, int], float]] = {
    "doubles, powers": _powers,
    "doubles, powers of 1 - p by log1p": _logarithm,
    "doubles, factorials by lgamma": _factorials,
}
"""Ways to compute a term of the binomial sum. All are right to a dozen digits; the difference from 1 has four."""


def uber(p: float, ecc: int, way: str) -> float:
    """One less the chance of at most `ecc` wrong bits, for each bit of data; what rounding makes negative is 0."""
    bits = DATA + 13 * ecc
    return max(0.0, 1.0 - sum(WAYS[way](p, bits, wrong) for wrong in range(ecc + 1))) / DATA


def losses(array: Mapping[str, Any], chip: str, way: str) -> tuple[float, float, float]:
    """Losses at the end: the oldest failing, any failing, and RAID-5."""
    steady = models.steady_ages(models.aging_rates(array["parity_percent"]), array["limit"])
    ages = [array["limit"], *(float(age) for age in steady[:4])]
    rates = [uber(float(np.asarray(models.rber(chip, age))), array["ecc"], way) for age in ages]
    # The text has losses of 1e-7, which take rates of 1e-19: this part of the original is no difference from 1.
    bits = 8.0 * array["capacity"]
    each = [_lost(bits, [rate for other, rate in enumerate(rates) if other != failed]) for failed in range(len(rates))]
    return each[0], sum(each) / len(each), _lost(bits, [rates[0]] * (len(rates) - 1))


def _lost(bits: float, rates: list[float]) -> float:
    return float(np.asarray(models.data_loss(rates, bits)))
