"""Points of a sweep: grids, lists, random draws, Latin hypercubes.

Draws come from Python's `random.random`, whose sequence is promised to stay; each axis has a generator of its own,
seeded by the sweep's seed and its setting, so that another axis changes nothing on this one.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

from outlast.sweeps.keys import MOST_RUNS
from outlast.sweeps.spec import Axis, Spec, SweepError


def points(spec: Spec) -> list[tuple[Any, ...]]:
    """The points in order, each with a value for every axis."""
    if spec.method in ("random", "latin-hypercube"):
        count = spec.points or 0
        draw = latin if spec.method == "latin-hypercube" else independent
        check_count(spec, count)
        return list(zip(*(drawn(axis, draw(count, spec.seed, axis.name)) for axis in spec.axes), strict=True))
    columns = [stepped(axis) for axis in spec.axes]
    if spec.method == "list":
        for index, (axis, column) in enumerate(zip(spec.axes, columns, strict=True)):
            if len(column) != len(columns[0]):
                raise SweepError(
                    f"{spec.source}: vary[{index}] = {axis.name}: has {len(column)} values, "
                    f"and a list needs as many on every axis: {len(columns[0])}"
                )
        check_count(spec, len(columns[0]))
        return list(zip(*columns, strict=True))
    check_count(spec, math.prod(len(column) for column in columns))
    return list(itertools.product(*columns))


def check_count(spec: Spec, count: int) -> None:
    """Refuses more runs than a sweep may have."""
    if count * spec.repeats > MOST_RUNS:
        raise SweepError(
            f"{spec.source}: {count} points of repeats = {spec.repeats} are {count * spec.repeats} runs: "
            f"must be at most {MOST_RUNS}"
        )


def generator(seed: int, name: str) -> random.Random:
    """The generator of an axis."""
    digest = hashlib.sha256(f"outlast sweep {seed} {name}".encode()).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - reproducible, not secret


def independent(count: int, seed: int, name: str) -> list[float]:
    """Numbers in 0..1, each by itself."""
    source = generator(seed, name)
    return [source.random() for _ in range(count)]


def latin(count: int, seed: int, name: str) -> list[float]:
    """Numbers in 0..1, one in each of `count` strata of equal width, in random order (McKay, Beckman, Conover 1979)."""
    source = generator(seed, name)
    strata = list(range(count))
    # Fisher-Yates by our own hand: what `random.shuffle` draws is not promised to stay.
    for last in range(count - 1, 0, -1):
        swapped = int(source.random() * (last + 1))
        strata[last], strata[swapped] = strata[swapped], strata[last]
    # Rounding must not carry a number into the next stratum.
    return [min((stratum + source.random()) / count, math.nextafter((stratum + 1) / count, 0)) for stratum in strata]


def stepped(axis: Axis) -> list[Any]:
    """The values of an axis of a grid or a list."""
    if axis.values is not None:
        return list(axis.values)
    last = (axis.steps or 2) - 1
    values = [_with_unit(axis, _rounded(axis, _between(axis, index / last))) for index in range(last + 1)]
    return list(dict.fromkeys(values))


def drawn(axis: Axis, shares: Sequence[float]) -> list[Any]:
    """The values of an axis at these shares of it, each in 0..1 without 1."""
    if axis.values is not None:
        return [axis.values[int(share * len(axis.values))] for share in shares]
    if not axis.whole:
        return [_with_unit(axis, _between(axis, share)) for share in shares]
    assert axis.start is not None
    assert axis.stop is not None
    # Every whole number has the same room, the two at the ends as well.
    wider = Axis(axis.setting, start=axis.start - 0.5, stop=axis.stop + 0.5, scale=axis.scale)
    inside = (min(max(round(_between(wider, share)), int(axis.start)), int(axis.stop)) for share in shares)
    return [_with_unit(axis, value) for value in inside]


def _between(axis: Axis, share: float) -> float:
    assert axis.start is not None
    assert axis.stop is not None
    if share in (0.0, 1.0):
        return axis.stop if share else axis.start
    if axis.scale == "log":
        # Digits beyond the twelfth are those of the logarithm's rounding.
        return float(f"{math.exp((1 - share) * math.log(axis.start) + share * math.log(axis.stop)):.12g}")
    return float(f"{(1 - share) * axis.start + share * axis.stop:.12g}")


def _rounded(axis: Axis, value: float) -> float:
    return round(value) if axis.whole else value


def _with_unit(axis: Axis, value: float) -> Any:
    return f"{value:.12g}{axis.unit}" if axis.unit else value
