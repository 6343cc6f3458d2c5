"""Delta debugging: the fewest lost writes that still make a state bad.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Shrunk(Generic[T]):
    """Pieces that are left."""

    kept: list[T]
    checks: int
    """States that were checked on the way."""
    minimal: bool
    """True if every single piece of `kept` is needed; false if the checks ran out."""


class _SpentError(Exception):
    """There are no checks left."""


def ddmin(pieces: Sequence[T], is_bad: Callable[[list[T]], bool | None]) -> Shrunk[T]:
    """A smallest part of `pieces` that is still bad: without any one of its pieces it is not.

    `pieces` as a whole are bad. `is_bad` says whether some of them, in their order, are; `None` ends the search. What
    was asked once is not asked again.
    """
    answers: dict[tuple[int, ...], bool] = {}
    best = list(range(len(pieces)))

    def bad(chosen: list[int]) -> bool:
        key = tuple(chosen)
        if key not in answers:
            answer = is_bad([pieces[index] for index in chosen])
            if answer is None:
                raise _SpentError
            answers[key] = answer
        return answers[key]

    minimal = True
    try:
        if best and bad([]):
            best = []
        parts = 2
        while len(best) >= 2:
            smaller, parts = _step(best, parts, bad)
            if smaller is None:
                break
            best = smaller
    except _SpentError:
        minimal = False
    return Shrunk([pieces[index] for index in best], len(answers), minimal)


def _step(best: list[int], parts: int, bad: Callable[[list[int]], bool]) -> tuple[list[int] | None, int]:
    """A smaller bad part and in how many parts to look at it, or `None` if no single piece can go."""
    parts = min(parts, len(best))
    while True:
        chunks = [best[len(best) * i // parts : len(best) * (i + 1) // parts] for i in range(parts)]
        for chunk in chunks:
            if bad(chunk):
                return chunk, 2
        for chunk in chunks if parts > 2 else []:
            rest = [index for index in best if index not in chunk]
            if bad(rest):
                return rest, max(parts - 1, 2)
        if parts == len(best):
            return None, parts
        parts = min(2 * parts, len(best))
