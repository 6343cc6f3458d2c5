"""Values of a sweep file, each checked where it is read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from outlast.suggestions import hint
from outlast.sweeps import figures, keys
from outlast.sweeps.field_words import WORDS
from outlast.sweeps.spec import SweepError


def _message_text(value: Any) -> str:
    """A value in a message, on its line."""
    return value if isinstance(value, str) and value.isprintable() else json.dumps(value, default=str)


class Checks:
    """Values of a sweep file, each taken as what it must be or refused by its place."""

    def __init__(self, source: str) -> None:
        self._source = source

    def refuse(self, place: str, value: Any, limit: str) -> SweepError:
        """The refusal of a value, to be raised."""
        shown = "absent" if value is None else _message_text(value)
        return SweepError(f"{self._source}: {place} = {shown}: {limit}")

    def known(self, table: Mapping[str, Any], of: keys.Keys, place: str = "") -> None:
        """Refuses a table that has other keys."""
        names = tuple(of)
        for name in table:
            if name not in names:
                meant = hint(name, names, WORDS, place)
                raise SweepError(f"{self._source}: {place}{_message_text(name)}: unknown setting; {meant}")

    def whole(self, place: str, value: Any, key: dict[str, Any]) -> int:
        """A whole number within the limits of its key."""
        least, most = keys.limits(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refuse(place, value, f"must be a whole number within {least} to {most}")
        return value

    def number(self, place: str, value: Any) -> float:
        """A finite number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
            raise self.refuse(place, value, "must be a number")
        return value

    def choice(self, place: str, value: Any, of: Sequence[str]) -> str:
        """One of some texts."""
        if value not in of:
            near = difflib.get_close_matches(str(value), of, n=1, cutoff=0.5)
            meant = f'; did you mean "{near[0]}"?' if near else ""
            raise self.refuse(place, value, f"must be one of {', '.join(of)}{meant}")
        return str(value)

    def strings(self, place: str, value: Any) -> tuple[str, ...]:
        """A list of texts."""
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise self.refuse(place, value, "must be a list of texts")
        return tuple(value)

    def figures(self, place: str, names: Sequence[str]) -> tuple[str, ...]:
        """Names of figures, each once."""
        for index, name in enumerate(names):
            if not figures.is_figure(name):
                raise self.refuse(f"{place}[{index}]", name, f"no such figure; {figures.hint(name)}")
        return tuple(dict.fromkeys(names))
