"""Raw bit error rates, and the chips whose rates are published."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from outlast import _core
from outlast._core import ModelError
from outlast.models.columns import Result, columns, shaped


@dataclass(frozen=True)
class Chip:
    """A published chip."""

    name: str
    model: Mapping[str, Any]
    """Its form and coefficients, as `device.errors.model` has them in a scenario."""
    end_of_life_cycles: int
    """P/E cycles that the source treats as the end of its life."""
    source: str
    trust: str
    """`paper`: the numbers stand in the text; `code`: two public programs have them; `recalled`: plausible."""


ModelLike: TypeAlias = str | Chip | Mapping[str, Any]
"""The name of a chip, a chip, or a form with its coefficients."""


def chips() -> dict[str, Chip]:
    """The published chips by name: three of HRM, one of mSAPL, twelve of Diff-RAID."""
    return {
        name: Chip(name, json.loads(model), end, source, trust)
        for name, model, end, source, trust in _core.model_chips()
    }


def model_json(model: ModelLike) -> str:
    """The model as the core reads it."""
    if isinstance(model, Chip):
        return json.dumps(dict(model.model))
    if isinstance(model, Mapping):
        return json.dumps(dict(model))
    known = {name: text for name, text, *_ in _core.model_chips()}
    if model not in known:
        import difflib

        near = difflib.get_close_matches(str(model), known, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise ModelError(f'chip = "{model}": no such chip; {hint}')
    return known[model]


def rber(model: ModelLike, cycles: ArrayLike, days: ArrayLike = 0.0, reads: ArrayLike = 0.0) -> Result:
    """Raw bit error rate, in errors per bit read, at most 0.5.

    - `power-law`: `ε + α·c^k + β·c^m·t^n + γ·c^p·r^q` (HRM, Equation 1);
    - `exponential`: `a·e^(b·c)` (mSAPL, Equation 1);
    - `two-point`: `a·e^(b·c)` through two measured points (Diff-RAID, Table 1; what lies between is assumed).

    `cycles` are P/E cycles c of the block, `days` t since the data were written, `reads` r since the erasure: at
    least 0, broadcast. Raises `ModelError` for other values, an unknown chip, or coefficients with which the rate
    would fall.
    """
    table, shape = columns(cycles=cycles, days=days, reads=reads)
    return shaped(_core.model_rber(model_json(model), *table), shape)


def cycles_to_reach(model: ModelLike, rber: ArrayLike, days: ArrayLike = 0.0, reads: ArrayLike = 0.0) -> Result:
    """P/E cycles at which the raw bit error rate reaches `rber` (errors per bit), the inverse of `rber()`.

    0 if it starts there, infinity if 1e12 cycles do not suffice. Relative accuracy 1e-12; shapes and errors as
    `rber()`.
    """
    table, shape = columns(rber=rber, days=days, reads=reads)
    return shaped(_core.model_cycles_to_reach(model_json(model), *table), shape)
