"""The probability that a loss of power at a random instant leaves a bad state.

A drive-like model says of each instant which state it leaves; a *class* is all the instants that leave one state.
Where every class was checked the probability is exact. Otherwise instants are drawn uniformly by the seed: classes are
checked in the order in which the draws meet them, and the draws before the first class not checked are a sample. Where
a machine has so many instants that only those were looked at which had been drawn before, these are the draws. Where
some instants leave no state there is no sample: those that do would be no fair one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import NormalDist

Span = tuple[int, int]
"""Nanoseconds of the drive's time: from the first, up to the second, which is not in it."""

CONFIDENCE = 0.95
MOST_DRAWS = 100_000
"""More instants make the interval no narrower than anybody would notice: 0.3 % of the window."""


@dataclass(frozen=True)
class Class:
    """The instants that leave one state."""

    spans: Sequence[Span]
    bad: bool | None
    """`None`: not checked."""


@dataclass(frozen=True)
class Risk:
    """Probability of a loss at a random instant of the window."""

    window_ns: int
    known_ns: int
    """Instants whose state was checked."""
    bad_ns: int
    """Instants whose state was checked and is bad."""
    draws: int
    """Random instants before the first whose state was not checked; 0 where the probability is exact."""
    bad_draws: int
    low: float
    high: float
    """The probability if it is exact; otherwise what is within both the Wilson interval and the bounds."""

    @property
    def exact(self) -> bool:
        """True if the state of every instant is known."""
        return self.known_ns == self.window_ns

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds that hold for any verdicts of the states not checked."""
        return self.bad_ns / self.window_ns, (self.bad_ns + self.window_ns - self.known_ns) / self.window_ns

    @property
    def value(self) -> float | None:
        """The probability, or the share of the draws that were bad; `None` without any."""
        if self.exact:
            return self.bad_ns / self.window_ns
        if not self.draws:
            return None
        return min(max(self.bad_draws / self.draws, self.low), self.high)

    def json(self) -> dict[str, object]:
        """The risk as `result.json` has it."""
        return {
            "probability": self.value,
            "low": self.low,
            "high": self.high,
            "exact": self.exact,
            "confidence": 1.0 if self.exact else CONFIDENCE,
            "bounds": list(self.bounds),
            "draws": self.draws,
            "bad_draws": self.bad_draws,
            "window_ns": self.window_ns,
            "known_ns": self.known_ns,
            "bad_ns": self.bad_ns,
        }


def wilson(bad: int, draws: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a share; 0 to 1 without draws."""
    if draws == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    middle = (bad + z2 / 2) / (draws + z2)
    half = (z2 * (bad * (draws - bad) / draws + z2 / 4)) ** 0.5 / (draws + z2)
    # Exactly 0 and 1 at the ends, which the formula gives only up to rounding.
    return 0.0 if bad == 0 else middle - half, 1.0 if bad == draws else middle + half


class _Map:
    """Class of an instant."""

    def __init__(self, classes: Sequence[Sequence[Span]], window: Span) -> None:
        first, last = window
        cut = ((max(start, first), min(end, last), number) for number, own in enumerate(classes) for start, end in own)
        self.pieces = sorted(piece for piece in cut if piece[0] < piece[1])
        self._starts = [start for start, _, _ in self.pieces]

    def at(self, instant: int) -> int | None:
        """`None`: in none of them."""
        index = bisect_right(self._starts, instant) - 1
        if index < 0 or instant >= self.pieces[index][1]:
            return None
        return self.pieces[index][2]


def _sample(where: _Map, length: int, drawn: Sequence[int] | None, more: Iterator[int]) -> Iterable[int]:
    """Random instants, if all of them leave a state."""
    if drawn is not None:
        return drawn if all(where.at(instant) is not None for instant in drawn) else ()
    return islice(more, MOST_DRAWS) if sum(end - start for start, end, _ in where.pieces) == length else ()


def _draws(window: Span, seed: int, group: str) -> Iterator[int]:
    random = Random(f"{seed} {group}")  # noqa: S311 - a sample that can be drawn again
    while True:
        yield random.randrange(*window)


def order(
    classes: Sequence[Sequence[Span]], window: Span, seed: int, group: str, drawn: Sequence[int] | None = None
) -> list[int]:
    """The classes as random instants meet them; those that none of them meets come last, the longest first."""
    if window[0] >= window[1]:
        return list(range(len(classes)))
    where = _Map(classes, window)
    met: dict[int, None] = {}
    for instant in drawn or islice(_draws(window, seed, group), MOST_DRAWS):
        if (number := where.at(instant)) is not None:
            met[number] = None
        if len(met) == len(classes):
            break
    left = (number for number in range(len(classes)) if number not in met)
    return [*met, *sorted(left, key=lambda number: sum(start - end for start, end in classes[number]))]


def risk(
    classes: Sequence[Class], window: Span, seed: int, group: str, drawn: Sequence[int] | None = None
) -> Risk | None:
    """Estimates the probability; `None` where the window has no length.

    `drawn`: the instants that were looked at, drawn uniformly, in the order of drawing, where not all were.
    """
    length = window[1] - window[0]
    if length <= 0:
        return None
    where = _Map([each.spans for each in classes], window)
    known = bad = 0
    for start, end, number in where.pieces:
        verdict = classes[number].bad
        known += end - start if verdict is not None else 0
        bad += end - start if verdict else 0
    if known == length:
        return Risk(length, known, bad, 0, 0, bad / length, bad / length)
    draws = bad_draws = 0
    for instant in _sample(where, length, drawn, _draws(window, seed, group)):
        number_at = where.at(instant)
        verdict = None if number_at is None else classes[number_at].bad
        if verdict is None:
            break
        draws += 1
        bad_draws += verdict
    low, high = wilson(bad_draws, draws)
    return Risk(
        length, known, bad, draws, bad_draws, max(low, bad / length), min(high, (bad + length - known) / length)
    )
