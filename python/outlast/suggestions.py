"""Hints at names that were meant: the field's words for settings, other habits of writing, typing errors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

_FILLERS = frozenset(["count", "default", "n", "no", "nr", "num", "number", "of", "the", "total", "value"])
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


FieldWords: TypeAlias = Mapping[str, tuple[str, ...]]
"""Names of the field, in lower case without punctuation, with the settings that they may mean."""


def hint(name: object, known: Iterable[str], words: FieldWords | None = None, place: str = "") -> str:
    """A hint for a name that is not in `known`, those at `place`: "did you mean `nodes`?", or all that there are.

    Of several settings that a word may mean, one in the same table comes first.
    """
    names = tuple(known)
    text = str(name)
    alike = (each for each in names if _folded(each) == _folded(text) or _telling(each) == _telling(text) != ())
    meant = next(alike, None) or _meant(text, words or {}, place)
    if meant is None:
        meant = next(iter(difflib.get_close_matches(text, names, n=1, cutoff=0.6)), None)
    return f"did you mean `{meant}`?" if meant else f"there are {', '.join(names)}"


def table_of(words: Mapping[str, str]) -> FieldWords:
    """Names of the field with what they mean, from the reverse: each setting with the words for it, between blanks."""
    found: dict[str, tuple[str, ...]] = {}
    for setting, of_it in words.items():
        for word in of_it.split():
            found[_folded(word)] = (*found.get(_folded(word), ()), setting)
    return found


def _meant(name: str, words: FieldWords, place: str) -> str | None:
    settings = words.get(_folded(name), ())
    table = re.sub(r"\[\d+\]", "", place)
    return next((each for each in settings if table and each.startswith(table)), next(iter(settings), None))


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _telling(name: str) -> tuple[str, ...]:
    """The words of a name that distinguish it, singular and sorted."""
    words = (word.lower() for word in _WORD.findall(name))
    return tuple(sorted({word.removesuffix("s") for word in words if word not in _FILLERS}))
