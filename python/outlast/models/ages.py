"""Ages of the devices of an array with uneven parity (Diff-RAID), for any number of parities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outlast import _core
from outlast.models.columns import Floats, column, count, scalar


@dataclass(frozen=True)
class Replacements:
    """Result of `replacements()`, with a row for each replacement."""

    elapsed: Floats
    """Time since the replacement before: cycles that a device of rate 1 ages."""
    position: NDArray[np.int64]
    """Position of the device that wore out, from 0."""
    ages: Floats
    """Ages just after, in cycles, a column for each position, the oldest first."""


def aging_rates(parity_percent: ArrayLike, parities: int = 1, *, full_stripes: float = 0.0) -> Floats:
    """Chunk writes of each device for each chunk that the host writes.

    `parity_percent` lists the percentage of stripes in which each of n devices holds parity, 100·m in all for m =
    `parities`. With q_i that share: `rate_i = (1 − f)·(q_i + (1 − q_i)/(n − m)) + f/(n − m)`, f being the share of
    the host's chunks that come in full-stripe writes. For m = 1 and f = 0 ratios of rates are Diff-RAID's Equation 1;
    the derivation for more parities is in docs/papers/diff-raid.md. Raises `ModelError` for percentages that do not
    add up.
    """
    return _core.model_aging_rates(
        column("parity_percent", parity_percent), count("parities", parities), scalar("full_stripes", full_stripes)
    )


def steady_ages(rates: ArrayLike, limit: float) -> Floats:
    """Ages by position just after a replacement in the steady state, in the unit of `limit`; the last, new one is 0.

    `A·(t_{j+1} + … + t_n) / (t_1 + … + t_n)` with the limit A and rates t by position, which may be of any aging
    vector, of any workload, as long as they do not rise (Diff-RAID, section 3.3). Only their ratios count.
    """
    return _core.model_steady_ages(column("rates", rates), scalar("limit", limit))


def converges(rates: ArrayLike) -> bool:
    """True if ages approach `steady_ages()` from any start.

    They do if the greatest common divisor of the positions (from 1) after which the rate drops is 1; see
    docs/papers/diff-raid.md.
    """
    return _core.model_converges(column("rates", rates))


def replacements(rates: ArrayLike, limit: float, number: int, *, ages: ArrayLike | None = None) -> Replacements:
    """The process itself: ages and wear-outs of `number` replacements, one after the other.

    Devices start new, or with `ages` in any order; each ages at the rate of its position. The first that reaches the
    limit is replaced by a new one, and positions are by age again. Rates may be in any order too.
    """
    vector = column("rates", rates)
    start = np.zeros_like(vector) if ages is None else column("ages", ages)
    end, rounds = scalar("limit", limit), count("number", number, 1, 10**7)
    elapsed, positions, after = _core.model_replacements(vector, start, end, rounds)
    return Replacements(elapsed, np.asarray(positions, dtype=np.int64), after.reshape(-1, len(vector)))
