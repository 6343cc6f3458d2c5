"""Size of an SLC cache and the phases after it, from a curve of bandwidth over bytes written."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import ScenarioError

MOST_PHASES = 3
"""A cache, direct writes, and writes beside folding."""
STEP = 1.25
"""Least ratio of the bandwidths of two phases: reviews are rounded to a tenth."""
GAIN = 0.5
"""Part of the squared errors that another phase may leave at most, to be worth it."""
EXACT = 1e-6
"""Mean squared error of a logarithm below which phases are exact."""


@dataclass(frozen=True)
class Phase:
    """A part of the curve with one bandwidth."""

    start_gb: float
    end_gb: float
    gb_s: float


def read(file: Path) -> list[tuple[float, float]]:
    """The points of a CSV file with columns `gb` (written in all, at the end of the point) and `gb_s`.

    Raises:
        ScenarioError: the file cannot be read, lacks a column, or has a number that cannot be.

    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{file}: cannot be read: {error}") from error
    rows = csv.DictReader(io.StringIO(text))
    if not {"gb", "gb_s"} <= set(rows.fieldnames or ()):
        raise ScenarioError(f"{file}: must have the columns gb and gb_s")
    points: list[tuple[float, float]] = []
    for number, row in enumerate(rows, 2):
        try:
            gb, rate = float(row["gb"]), float(row["gb_s"])
        except (TypeError, ValueError) as error:
            raise ScenarioError(f"{file}:{number}: gb and gb_s must be numbers") from error
        if not (math.isfinite(gb) and math.isfinite(rate) and rate > 0 and gb > (points[-1][0] if points else 0.0)):
            raise ScenarioError(f"{file}:{number}: gb must rise from above 0, and gb_s must be above 0")
        points.append((gb, rate))
    if len(points) < MOST_PHASES:
        raise ScenarioError(f"{file}: has {len(points)} points, and takes at least {MOST_PHASES}")
    return points


def phases(points: Sequence[tuple[float, float]]) -> list[Phase]:
    """The phases that leave the least squared error of the logarithm of bandwidth, weighted by bytes.

    There are as many as pay: each further one must leave at most half of the error, and differ from its neighbours by
    a quarter.
    """
    widths = [gb - before for before, (gb, _) in zip([0.0, *(gb for gb, _ in points)], points, strict=False)]
    logs = [math.log(rate) for _, rate in points]
    sums = [
        list(itertools.accumulate((w * log**power for w, log in zip(widths, logs, strict=True)), initial=0.0))
        for power in (0, 1, 2)
    ]

    def error(first: int, last: int) -> float:
        weight, one, two = (own[last] - own[first] for own in sums)
        return max(two - one * one / weight, 0.0)

    count = len(points)
    best = [(error(0, last) if last else math.inf, [0]) for last in range(count + 1)]
    found = _made(points, [0, count])
    left = best[count][0]
    for _ in range(1, MOST_PHASES):
        best = [
            min(
                ((best[cut][0] + error(cut, last), [*best[cut][1], cut]) for cut in range(1, last)),
                default=(math.inf, [0]),
            )
            for last in range(count + 1)
        ]
        after, cuts = best[count]
        wanted = _made(points, [*cuts, count])
        steps = [max(a.gb_s, b.gb_s) / min(a.gb_s, b.gb_s) for a, b in itertools.pairwise(wanted)]
        if left <= EXACT * sums[0][count] or after > GAIN * left or min(steps) < STEP:
            break
        found, left = wanted, after
    return found


def _made(points: Sequence[tuple[float, float]], cuts: Sequence[int]) -> list[Phase]:
    """Phases between points; the bandwidth of one is its bytes over its time."""
    made = []
    for first, last in itertools.pairwise(cuts):
        start = points[first - 1][0] if first else 0.0
        ends = [start, *(gb for gb, _ in points[first:last])]
        took = sum(
            (b - a) / rate for (a, b), (_, rate) in zip(itertools.pairwise(ends), points[first:last], strict=True)
        )
        made.append(Phase(start, ends[-1], (ends[-1] - start) / took))
    return made


def text(found: Sequence[Phase]) -> str:
    """The phases in words, and the settings that follow from them."""
    lines = [f"{own.start_gb:7.4g} to {own.end_gb:.4g} GB: {own.gb_s:.3g} GB/s" for own in found]
    if len(found) == 1:
        return "\n".join([*lines, "No cliff: one bandwidth fits as well as several.", ""])
    kinds = ("cache", "direct writes", "writes beside folding") if len(found) == MOST_PHASES else ("cache", "after it")
    lines = [f"{line}, {kind}" for line, kind in zip(lines, kinds, strict=True)]
    when = "direct" if len(found) == MOST_PHASES else 'direct" or "fold'
    return "\n".join(
        [*lines, "", "[device.slc_cache]", f'dynamic_size = "{found[0].end_gb:.4g}GB"', f'when_full = "{when}"', ""]
    )
