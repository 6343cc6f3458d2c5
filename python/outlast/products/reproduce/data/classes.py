"""Classes of a statement of a TOML file: whose it is, what it claims, and how it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.errors import ScenarioError
from outlast.products.reproduce.model import AUTHORS, CLAIMS, KINDS, NUMBER, ORDER, PAPER


def kind_of(said: Mapping[str, Any], place: str) -> str | None:
    """Kind that a statement or a figure names."""
    return _one_of(said, "kind", KINDS, place)


def whose_of(said: Mapping[str, Any], place: str) -> str:
    """Author of a statement: the paper, if it does not say otherwise."""
    return _one_of(said, "whose", AUTHORS, place) or PAPER


def claim_of(said: Mapping[str, Any], place: str) -> str:
    """Claim of a statement: a number if the paper's stands beside ours in it or in one of its parts."""
    numbered = any("expected" in own or "paper" in own for own in (said, *said.get("parts", ())))
    return _one_of(said, "claims", CLAIMS, place) or (NUMBER if numbered else ORDER)


def _one_of(said: Mapping[str, Any], name: str, known: Sequence[str], place: str) -> str | None:
    value: str | None = said.get(name)
    if value is not None and value not in known:
        raise ScenarioError(f"{place}: {name} = {value}: must be one of {', '.join(known)}")
    return value
