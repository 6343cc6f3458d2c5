"""Blocks of points and charts that are said once for several: each of `each` with each of `parts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.errors import ScenarioError

SEVERAL = ("each", "parts")
"""Lists of what is added to a block."""


def spread(blocks: Sequence[Mapping[str, Any]], keys: Sequence[str], place: str) -> list[dict[str, Any]]:
    """The blocks, of which those that have `each` or `parts` are made for all of these, with what they add.

    Raises:
        ScenarioError: a block has a key that is none of `keys`; the message begins with `place`.

    """
    found: list[dict[str, Any]] = []
    for at, block in enumerate(blocks):
        own = [{name: value for name, value in block.items() if name not in SEVERAL}]
        for name in SEVERAL:
            own = [_joined(each, more) for each in own for more in block.get(name, ({},))]
        for each in own:
            check_keys(each, keys, f"{place}[{at}]")
        found += own
    return found


def _joined(own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, table in table; what `more` says goes before what the block does."""
    joined = dict(own)
    for name, value in more.items():
        both = isinstance(value, Mapping) and isinstance(joined.get(name), Mapping)
        joined[name] = _joined(joined[name], value) if both else value
    return joined


def check_keys(said: Mapping[str, Any], names: Sequence[str], place: str) -> None:
    """Refuses a key that is not known."""
    for name in said:
        if name not in names:
            raise ScenarioError(f"{place}: {name}: unknown key; there are {', '.join(names)}")
