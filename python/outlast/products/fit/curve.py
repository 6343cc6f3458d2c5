"""Size of an SLC cache and the phases after it, from a curve of bandwidth over bytes written."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from outlast.errors import ScenarioError
from outlast.foreign import cells_of, text_of

MOST_PHASES = 3
"""A cache, direct writes, and writes beside folding."""
MOST_POINTS = 1000
"""Points that are looked at: neighbours in a longer curve are taken together."""
STEP = 1.25
"""Least ratio of the bandwidths of two phases: reviews are rounded to a tenth."""
GAIN = 0.5
"""Part of the squared errors that another phase may leave at most, to be worth it."""
EXACT = 1e-6
"""Mean squared error of a logarithm below which phases are exact."""
MOST_GB = 1e9
RATES_GB_S = (1e-6, 1e6)
"""Limits of what a curve may say: more than any drive holds, and a kilobyte to a petabyte a second."""

Point: TypeAlias = tuple[float, float]
Span: TypeAlias = tuple[int, int]


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
        numbered = enumerate(text_of(file).splitlines(), 1)
        rows = [(number, cells_of(line)) for number, line in numbered if line.strip()]
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{file}: cannot be read: {error}") from error
    header = rows[0][1] if rows else []
    if not {"gb", "gb_s"} <= set(header):
        raise ScenarioError(f"{file}: must have the columns gb and gb_s")
    points: list[Point] = []
    for number, cells in rows[1:]:
        try:
            gb, rate = (float(cells[header.index(column)]) for column in ("gb", "gb_s"))
        except (IndexError, ValueError) as error:
            raise ScenarioError(f"{file}:{number}: gb and gb_s must be numbers") from error
        if not (points[-1][0] if points else 0.0) < gb <= MOST_GB:
            raise ScenarioError(f"{file}:{number}: gb = {gb:g}: must rise from above 0, to {MOST_GB:g} at most")
        if not RATES_GB_S[0] <= rate <= RATES_GB_S[1]:
            raise ScenarioError(
                f"{file}:{number}: gb_s = {rate:g}: must be from {RATES_GB_S[0]:g} to {RATES_GB_S[1]:g}"
            )
        points.append((gb, rate))
    if len(points) < MOST_PHASES:
        raise ScenarioError(f"{file}: has {len(points)} points, and takes at least {MOST_PHASES}")
    return points


def phases(points: Sequence[Point]) -> list[Phase]:
    """The phases that leave the least squared error of the logarithm of bandwidth, weighted by bytes.

    There are as many as pay: each further one must leave at most half of the error, and differ from its neighbours by
    a quarter. A cliff may lie within a point: its bandwidth is between those of two phases, a quarter off both, and
    says how much of it belongs to each.
    """
    points = _merged(points)
    spread = _Spread(points)
    best: list[_Division | None] = [None, *(_Division(spread.error(0, last), (0, last)) for last in spread.ends)]
    found = _made(points, [(0, len(points))])
    left = spread.error(0, len(points))
    for _ in range(1, MOST_PHASES):
        best = [None, *(spread.divided(best, last) for last in spread.ends)]
        after = best[-1]
        if after is None:
            break
        wanted = _made(points, list(after.spans())[::-1])
        steps = [max(a.gb_s, b.gb_s) / min(a.gb_s, b.gb_s) for a, b in itertools.pairwise(wanted)]
        if left <= EXACT * spread.weight(0, len(points)) or after.error > GAIN * left or min(steps) < STEP:
            break
        found, left = wanted, after.error
    return found


@dataclass(frozen=True)
class _Division:
    """Points up to the end of `span`, in spans of one bandwidth, and the squared error that they leave."""

    error: float
    span: Span
    before: _Division | None = None

    def spans(self) -> Iterator[Span]:
        """The spans, the last one first."""
        own: _Division | None = self
        while own is not None:
            yield own.span
            own = own.before


class _Spread:
    """Sums over the points of a curve: bytes, and the logarithm of bandwidth and its square weighted by bytes."""

    def __init__(self, points: Sequence[Point]) -> None:
        widths = [gb - before for before, (gb, _) in zip([0.0, *(gb for gb, _ in points)], points, strict=False)]
        self.logs = [math.log(rate) for _, rate in points]
        self.ends = range(1, len(points) + 1)
        self.sums = [
            list(itertools.accumulate((w * log**power for w, log in zip(widths, self.logs, strict=True)), initial=0.0))
            for power in (0, 1, 2)
        ]

    def weight(self, first: int, last: int) -> float:
        return self.sums[0][last] - self.sums[0][first]

    def mean(self, first: int, last: int) -> float:
        return (self.sums[1][last] - self.sums[1][first]) / self.weight(first, last)

    def error(self, first: int, last: int) -> float:
        weight, one, two = (own[last] - own[first] for own in self.sums)
        return max(two - one * one / weight, 0.0)

    def divided(self, best: Sequence[_Division | None], last: int) -> _Division | None:
        """The best division of the points up to `last` with one span more than those in `best`."""
        least, chosen, step = math.inf, None, math.log(STEP)
        for cut in range(1, last):
            before = best[cut]
            if before is None or before.error >= least:
                continue
            error = before.error + self.error(cut, last)
            if error < least:
                least, chosen = error, (cut, before)
            if cut + 1 < last and (error := before.error + self.error(cut + 1, last)) < least:
                lower, upper = sorted((self.mean(*before.span), self.mean(cut + 1, last)))
                if lower + step <= self.logs[cut] <= upper - step:
                    least, chosen = error, (cut + 1, before)
        return None if chosen is None else _Division(least, (chosen[0], last), chosen[1])


def _merged(points: Sequence[Point]) -> list[Point]:
    """The points of a curve, so many neighbours at a time that at most `MOST_POINTS` are left."""
    each = -(-len(points) // MOST_POINTS)
    if each == 1:
        return list(points)
    ends = [*range(each, len(points), each), len(points)]
    spans = itertools.pairwise([0, *ends])
    return [(points[last - 1][0], _rate(points, (first, last))) for first, last in spans]


def _rate(points: Sequence[Point], span: Span) -> float:
    """Bandwidth over a span: its bytes over its time."""
    first, last = span
    starts = [points[first - 1][0] if first else 0.0, *(gb for gb, _ in points[first : last - 1])]
    took = sum((gb - start) / rate for start, (gb, rate) in zip(starts, points[first:last], strict=True))
    return (points[last - 1][0] - starts[0]) / took


def _made(points: Sequence[Point], spans: Sequence[Span]) -> list[Phase]:
    """Phases of spans of points, between which there may be one point."""
    rates, start, made = [_rate(points, span) for span in spans], 0.0, []
    for index, (_, last) in enumerate(spans):
        end = points[last - 1][0]
        if last < len(points) and spans[index + 1][0] != last:
            between, (fast, slow) = points[last], (1 / rates[index], 1 / rates[index + 1])
            end += (between[0] - end) * (1 / between[1] - slow) / (fast - slow)
        made.append(Phase(start, end, rates[index]))
        start = end
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
