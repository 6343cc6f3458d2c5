"""Lifetime: what a host can write until the error rate of its data reaches what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.chips import ModelLike, model_json
from outlast.models.columns import Floats, Result, columns, count, shaped

MOST_SPARE = 1e6
"""Spare factor at most: beyond it the life of a drive is no number."""


@dataclass(frozen=True)
class Worn:
    """A drive after some wear; each field has the shape that was asked for."""

    cycles: Result
    """P/E cycles of each block."""
    drive_writes: Result
    """Data that the host has written, in units of the user space."""
    write_amplification: Result
    """Write amplification by then; infinite if no spare space is left."""
    rber: Result
    """Raw bit error rate, errors per bit."""
    ln_uper: Result
    """Natural logarithm of the uncorrectable page error rate."""


@dataclass(frozen=True)
class Life(Worn):
    """A drive at its end."""

    end: Any
    """`error_rate`: the target is reached; `spare_space`: retired blocks have used it up before."""

    def drive_writes_per_day(self, years: float) -> Result:
        """Drive writes per day that use up the life in so many years of 365 days."""
        return self.drive_writes / (365.0 * years)


@dataclass(frozen=True)
class Drive:
    """A drive that wears evenly until it no longer keeps its promise.

    Host writes times write amplification are wear; wear raises the error rate, and may retire blocks, which takes spare
    space and raises write amplification. ECC and parity are as in `uper()`, amplification as in `waf_with_parity()`.
    """

    model: ModelLike = "msapl"
    spare: float = 0.28
    """Spare factor, physical over user space − 1, before parity."""
    n: int = 8192
    k: int = 8
    codewords: int = 1
    stripe: int = 8
    parities: int = 0
    overhead: float | None = None
    """Pages of flash for each page of data; N/(N − m) if not given."""
    days: float = 0.0
    """Age of the data when they are read."""
    reads: float = 0.0
    """Reads of the block since its erasure."""
    retired_per_cycle: float = 0.0
    """Share of the blocks that each P/E cycle retires."""
    write_amplification: float | None = None
    """A measured one, parity included, in place of the closed form."""

    def lifetime(self, target: ArrayLike = 1e-15) -> Life:
        """The life until the uncorrectable page error rate reaches `target`, to 1e-12 of itself.

        Raises `ModelError` for a target that is not between 0 and 1 or not reached within 1e9 cycles, and for numbers
        that make no drive, such as parity that leaves no spare space.
        """
        (column,), shape = columns(target=target)
        values, ends = _core.model_lifetime(self._settings(), column)
        end = ends[0] if not shape else np.asarray(ends).reshape(shape)
        return Life(**_shaped(values, shape), end=end)

    def worn(self, cycles: ArrayLike) -> Worn:
        """The drive after so many P/E cycles: for curves."""
        (column,), shape = columns(cycles=cycles)
        return Worn(**_shaped(_core.model_worn(self._settings(), column), shape))

    def _settings(self) -> dict[str, object]:
        # The core refuses what is not above 0.
        if float(self.spare) > MOST_SPARE:
            raise ModelError(f"spare = {float(self.spare):g}: must be a number above 0, and at most {MOST_SPARE:g}")
        pages = count("stripe", self.stripe, 1, 65_536)
        parities = count("parities", self.parities, 0, pages - 1)
        overhead = pages / (pages - parities) if self.overhead is None else float(self.overhead)
        return {
            "model": model_json(self.model),
            "days": float(self.days),
            "reads": float(self.reads),
            "n": count("n", self.n, 1, 2**20),
            "k": count("k", self.k, 0, 2**20),
            "codewords": count("codewords", self.codewords, 1, 65_536),
            "pages": pages,
            "parities": parities,
            "spare": float(self.spare),
            "overhead": overhead,
            "retired_per_cycle": float(self.retired_per_cycle),
            "write_amplification": self.write_amplification,
        }


_FIELDS = ("cycles", "drive_writes", "write_amplification", "rber", "ln_uper")


def _shaped(values: list[Floats], shape: tuple[int, ...]) -> dict[str, Result]:
    return {name: shaped(each, shape) for name, each in zip(_FIELDS, values, strict=True)}
