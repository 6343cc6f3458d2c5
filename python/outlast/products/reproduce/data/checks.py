"""Checks of statements of a TOML file: a number near another, bounds, an order, or a function."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from outlast.errors import ScenarioError
from outlast.products.reproduce.check import SLACK, every, near, rising, tolerance
from outlast.products.reproduce.data.expression import Expression, parse
from outlast.products.reproduce.model import Found, Number, Table

NEAR = ("value", "expected", "within", "closed")
PART = (*NEAR, "least", "most", "below", "above", "paper", "rising", "ties", "for", "name")
"""Keys of a part of a check."""
KEYS = (*PART, "check", "parts")
"""Keys of a check; beside them stand text, where, kind, unit, reason and because."""
BOUNDS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "least": ("at least", lambda value, bound: value >= bound),
    "most": ("at most", lambda value, bound: value <= bound),
    "below": ("below", lambda value, bound: value < bound),
    "above": ("above", lambda value, bound: value > bound),
}
Check = Callable[[Table], Found]


def check_of(said: Mapping[str, Any], place: str, names: Mapping[str, Any] | None = None) -> Check:
    """The check that a statement's table says; `names` are bound in its expressions."""
    if "check" in said:
        check: Check = function_of(str(said["check"]), f"{place}.check")
        return check
    if "parts" in said:
        return _all_of(said, place, names)
    loops = _loops(said.get("for", {}), place)
    one = _ordered(said, place) if "rising" in said else _valued(said, place)

    def judged(table: Table) -> Found:
        return every([one(table, {**(names or {}), **bound}) for bound in loops(table)])

    return judged


def _all_of(said: Mapping[str, Any], place: str, names: Mapping[str, Any] | None) -> Check:
    """Several checks of which all must hold; what they share, such as unit and reason, the statement says."""
    shared = {name: value for name, value in said.items() if name != "parts"}
    parts = []
    for at, own in enumerate(said["parts"]):
        here = f"{place}.parts[{at}]"
        for name in own:
            if name not in (*PART, "unit", "reason"):
                raise ScenarioError(f"{here}: {name}: unknown key; there are {', '.join((*PART, 'unit', 'reason'))}")
        parts.append(check_of(shared | own, here, names))
    return lambda table: every([part(table) for part in parts])


def function_of(name: str, place: str) -> Any:
    """The function `MODULE:FUNCTION`, for what is real code."""
    module, _, function = name.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ScenarioError(f"{place} = {name}: no such function; name one as MODULE:FUNCTION") from error


def _loops(said: Any, place: str) -> Callable[[Table], list[dict[str, str]]]:
    """Bindings of names to labels, one after another: `{ u = ["60 %", "75 %"] }`, or `"*"` for all that rows have."""
    if not isinstance(said, Mapping):
        raise ScenarioError(f"{place}.for = {said}: must be a table of labels")

    def bound(table: Table) -> list[dict[str, str]]:
        columns = [
            list(dict.fromkeys(str(row[name]) for row in table.rows if name in row)) if values == "*" else list(values)
            for name, values in said.items()
        ]
        return [dict(zip(said, values, strict=True)) for values in itertools.product(*columns)]

    return bound


def _valued(said: Mapping[str, Any], place: str) -> Callable[[Table, Mapping[str, str]], Found]:
    value = _expression(said, "value", place)
    closed = _expression(said, "closed", place) if "closed" in said else None

    def form(table: Table, bound: Mapping[str, str]) -> float | None:
        return None if closed is None else float(closed.of(table, bound))

    if "expected" in said:
        if "within" in said and "reason" not in said:
            raise ScenarioError(f"{place}: within needs the reason for it; without within, the rule of tolerance holds")
        expected = _expression(said, "expected", place)
        within = _expression(said, "within", place) if "within" in said else None

        def beside(table: Table, bound: Mapping[str, str]) -> Found:
            ours, theirs = (float(part.of(table, bound)) for part in (value, expected))
            room = tolerance(theirs, _unit(said)) if within is None else float(within.of(table, bound))
            return near(_name(said, bound), ours, theirs, room, _unit(said), form(table, bound))

        return beside
    bounds = {name: _expression(said, name, place) for name in BOUNDS if name in said}
    if not bounds:
        raise ScenarioError(f"{place}: needs expected, rising, check or a bound: {', '.join(BOUNDS)}")

    stated_by_paper = parse(str(said["paper"]), f"{place}.paper") if "paper" in said else None

    def within_bounds(table: Table, bound: Mapping[str, str]) -> Found:
        name, unit = _name(said, bound), _unit(said)
        ours = float(value.of(table, bound))
        limits = {which: float(limit.of(table, bound)) for which, limit in bounds.items()}
        holds = all(BOUNDS[which][1](ours, limit) for which, limit in limits.items())
        stated = ", ".join(f"{BOUNDS[which][0]} {limit:.4g}{unit}" for which, limit in limits.items())
        words = f"{name} {ours:.4g}{unit} ({stated})".strip()
        if stated_by_paper is None:
            return Found(holds, words)
        theirs = float(stated_by_paper.of(table, bound))
        return Found(holds, words, (Number(name, ours, theirs, unit, closed=form(table, bound)),))

    return within_bounds


def _ordered(said: Mapping[str, Any], place: str) -> Callable[[Table, Mapping[str, str]], Found]:
    texts = said["rising"]
    if not isinstance(texts, Sequence) or (not isinstance(texts, str) and len(texts) < 2):
        raise ScenarioError(f"{place}.rising = {texts}: must be a list of two expressions or more, or each(...)")
    parts = [parse(str(text), f"{place}.rising") for text in ([texts] if isinstance(texts, str) else texts)]
    slack = float(said.get("ties", SLACK))

    def ordered(table: Table, bound: Mapping[str, str]) -> Found:
        found = [part.of(table, bound) for part in parts]
        values = [float(value) for value in (found[0] if isinstance(texts, str) else found)]
        if len(values) < 2:
            raise LookupError("fewer than two values to put in order")
        return rising(_name(said, bound), values, unit=_unit(said), slack=slack)

    return ordered


def _expression(said: Mapping[str, Any], name: str, place: str) -> Expression:
    if name not in said:
        raise ScenarioError(f"{place}.{name}: is absent")
    return parse(str(said[name]), f"{place}.{name}")


def _name(said: Mapping[str, Any], bound: Mapping[str, str]) -> str:
    return ", ".join(str(part) for part in (said.get("name"), *(bound[own] for own in said.get("for", {}))) if part)


def _unit(said: Mapping[str, Any]) -> str:
    unit = str(said.get("unit", ""))
    return unit if unit in ("", "×") else f" {unit}"
