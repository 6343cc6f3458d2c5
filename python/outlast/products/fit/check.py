"""A fitted preset, checked as a run would check it, before anything is written."""

from __future__ import annotations

import math

from outlast import api
from outlast.errors import ScenarioError
from outlast.inputs import Text
from outlast.products.fit.engine import Fit
from outlast.products.fit.rows import MeasuredError
from outlast.products.fit.words import format_figure

SHOWN = 3
"""Figures that a message shows."""


def check_preset(fit: Fit, text: str) -> None:
    """Raises an error if the drive that was fitted cannot be simulated, with what was measured of it."""
    source = fit.measured.source
    try:
        api.validate(Text(f"{source} as fitted", text))
    except ScenarioError as error:
        fitted = f"the drive that was fitted to {_worst(fit)}, cannot be simulated"
        raise MeasuredError(f"{source}: {fitted}: {error}") from error


def _worst(fit: Fit) -> str:
    """The figures that the drive was fitted to and misses most, by file and line."""

    def miss(index: int) -> float:
        found = abs(float(fit.simulated[index]) - math.log(fit.seen[index].figure.value))
        return found if math.isfinite(found) else math.inf  # what it cannot give at all

    used = [index for index, each in enumerate(fit.seen) if each.stage]
    worst = [fit.seen[index] for index in sorted(used, key=miss, reverse=True)[:SHOWN]]
    shown = [f"{each.row.place}: {each.name} = {format_figure(each.name, each.figure.value)}" for each in worst]
    return "; ".join(shown) or "nothing that was measured"
