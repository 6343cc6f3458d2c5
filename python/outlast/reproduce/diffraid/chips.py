"""Rows of Table 1 and Figure 8: twelve chips."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from outlast import models
from outlast.reproduce.diffraid import noise
from outlast.reproduce.diffraid.common import RAID5, array_of, at_the_end
from outlast.reproduce.model import Row, Setting


def beside_printed(setting: Setting, scenario: str, chip: str, cycles: float, paper: float) -> list[Row]:
    """A chip's UBER beside the one that is printed, and whether the digits allow it."""
    ecc = array_of(setting, scenario)["ecc"]
    rber = float(np.asarray(models.rber(chip, cycles)))
    uber = _uber(rber, ecc)
    allowed = _allowed(rber, lambda each: _uber(each, ecc), paper)
    other = _allowed(rber, lambda each: _uber(each, ecc, 4096 + 13 * ecc), paper)
    ratio = uber / paper if paper else None
    judged = {"allowed": float(allowed), "allowed_by_codeword": float(other)}
    return [{"rber": rber, "uber": uber, "ratio": ratio} | judged]


def _uber(rber: float, ecc: int, bits: int = 4096) -> float:
    """Of each bit of data, or of so many bits that a codeword counts for."""
    return float(np.asarray(models.uber(rber, 4096 + 13 * ecc, ecc, user_bits=bits)))


def _half_a_digit(value: float) -> float:
    """How far a value that is printed with three digits may be from what was meant."""
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) - 2)


def _allowed(rber: float, uber: Callable[[float], float], paper: float) -> bool:
    """Whether some RBER that is printed like this one has an UBER that is printed like the paper's."""
    if paper == 0.0:
        return False
    off, least = _half_a_digit(rber), _half_a_digit(paper)
    return uber(rber - off) <= paper + least and paper - least <= uber(rber + off)


def gains(setting: Setting, scenario: str, arithmetic: str, chip: str) -> list[Row]:
    """Losses of Diff-RAID in the steady state and of RAID-5, exact or as doubles leave them, and what is gained."""
    array = array_of(setting, scenario)
    if arithmetic == "exact":
        (oldest, any_), (raid5, _) = at_the_end(array, chip=chip), at_the_end(array, chip=chip, parity_percent=RAID5)
    else:
        oldest, any_, raid5 = noise.losses(array, chip, arithmetic)
    # Rounding may leave a loss of 0, by which nothing can be divided.
    gained = {f"gain_{name}": raid5 / each if each > 0 else None for name, each in (("oldest", oldest), ("any", any_))}
    return [{"oldest": oldest, "any": any_, "raid5": raid5} | gained]
