"""The life of an array: members age and are replaced, parity moves to the oldest (Diff-RAID, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outlast import _core
from outlast._core import ModelError
from outlast.models.chips import ModelLike, model_json
from outlast.models.columns import Floats, column, count, flag, scalar
from outlast.plain_values import name_of


@dataclass(frozen=True)
class ArrayLife:
    """Result of `array_life()`: samples over the life, and replacements.

    Host data is counted in capacities of one member.
    """

    host_capacities: Floats
    """Data that the host had written, at each sample."""
    replaced: NDArray[np.int64]
    """Members replaced so far, at each sample."""
    age_differential: Floats
    """Cycles of the oldest member less those of the youngest, at each sample."""
    loss_oldest: Floats
    """Probability that a rebuild loses data if the oldest members fail, at each sample."""
    loss_any: Floats
    """Probability that a rebuild loses data if any members fail, at each sample."""
    member: NDArray[np.int64]
    """Index of the worn member, for each replacement."""
    at: Floats
    """Data that the host had written, for each replacement."""
    parity_moved_percent: Floats
    """Share of all parity that moved, in per cent, for each replacement."""
    ages: Floats
    """Cycles of the members just before, a row for each replacement and a column for each member."""


def array_life(
    parity_percent: ArrayLike,
    *,
    chip: ModelLike = "d-mlc32-1",
    ecc: int = 4,
    parities: int = 1,
    capacity: int = 80_000_000_000,
    limit: float = 10_000.0,
    amplification: float = 1.0,
    full_stripes: float = 0.0,
    shift: Literal["naive", "minimal", "lazy"] = "minimal",
    count_moves: bool = False,
    ages: ArrayLike | None = None,
    replacements: int = 20,
    samples: int = 50,
) -> ArrayLife:
    """Runs an array over so many replacements, with so many samples before each; no command is simulated.

    `parity_percent` are the shares of the parity, the first for the oldest member. Members of `capacity` bytes are
    replaced at `limit` cycles, and spend `amplification` cycles for each capacity written to them. Of the host's data
    the share `full_stripes` comes as whole stripes, the rest as random chunks. `ages` are cycles at the beginning,
    else all are new. `count_moves` counts what rebuilding and moving parity write, which the paper's figures leave
    out. Error rates are those of `chip` under a BCH code that corrects `ecc` bits of each 512-byte sector. Raises
    `ModelError` for percentages that do not add up, and for numbers that no array can have.
    """
    percent = column("parity_percent", parity_percent)
    start = np.zeros_like(percent) if ages is None else column("ages", ages)
    strength = count("ecc", ecc, 0, 1000)
    taken, members, done = _core.model_array_life(
        model_json(chip),
        (4096 + 13 * strength, strength, 4096),
        percent,
        count("parities", parities, 1, 63),
        count("capacity", capacity, 1, 2**62),
        (scalar("limit", limit), scalar("amplification", amplification), scalar("full_stripes", full_stripes)),
        name_of(shift, "shift", ModelError),
        flag("count_moves", count_moves),
        start,
        count("replacements", replacements, 1, 10**6),
        count("samples", samples, 0, 10**6),
    )
    host, replaced, differential, oldest, any_ = taken
    at, moved, before = done
    whole = np.asarray(replaced, dtype=np.int64)
    who = np.asarray(members, dtype=np.int64)
    return ArrayLife(host, whole, differential, oldest, any_, who, at, moved, before.reshape(-1, len(percent)))
