"""Makes a scenario that breaks something small: takes settings away and makes sizes less, as long as it breaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from random_scenarios.draw import Settings, merged
from random_scenarios.generate import Case

SMALLER: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("workload.synthetic.requests", (20, 100, 500, 1000)),
    ("device.ftl.mapping_unit", ("4KiB",)),
    ("device.geometry.channels", (1, 2)),
    ("device.geometry.planes_per_die", (1,)),
    ("device.geometry.blocks_per_plane", (20,)),
    ("array.members", (2, 3)),
)

KEPT = ("name", "seed", "device.geometry", "device.timing", "workload")
"""Settings that are not taken away whole."""


Step: TypeAlias = Callable[[Case], Case]


def signature(violations: list[str]) -> frozenset[str]:
    """Kinds of violations, without their numbers."""
    return frozenset(re.sub(r"[-+0-9.e]*[0-9]+", "#", violation)[:60] for violation in violations)


def _names(settings: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in settings.items():
        yield prefix + name
        if isinstance(value, Mapping):
            yield from _names(value, f"{prefix}{name}.")


def _change(name: str, value: Any) -> Settings:
    """The change of one setting of a dotted name."""
    for part in reversed(name.split(".")):
        value = {part: value}
    changes: Settings = value
    return changes


def _changed(case: Case, name: str, value: Any) -> Case:
    if case.get(name) is None:
        return case
    settings = merged(case.settings, _change(name, value))
    requests = value if name == "workload.synthetic.requests" else case.requests
    return Case(case.seed, settings, case.files, requests)


def _steps(case: Case) -> Iterator[Step]:
    """Every way to take something away, or to make it less; what is taken whole comes first."""
    for name in sorted(_names(case.settings), key=len):
        if name not in KEPT:
            yield partial(_changed, name=name, value=None)
    for name in ("faults", "changes"):
        for index in range(len(case.get(name, []))):
            yield partial(_without, name=name, index=index)
    for name, values in SMALLER:
        for value in values:
            yield partial(_lessened, name=name, value=value)


def _lessened(case: Case, name: str, value: Any) -> Case:
    """Case with a smaller number, or another text."""
    own = case.get(name)
    return case if isinstance(own, int) and own <= value else _changed(case, name, value)


def _without(case: Case, name: str, index: int) -> Case:
    own = case.get(name, [])
    return _changed(case, name, own[:index] + own[index + 1 :] or None)


def shrink(case: Case, look: Callable[[Case], list[str]], tries: int = 300) -> Case:
    """The smallest scenario found that breaks the same as `case` by `look`, in so many tries."""
    wanted = signature(look(case))
    while True:
        before = case
        for step in _steps(before):
            smaller = step(case)
            if smaller.settings == case.settings:
                continue
            if tries == 0:
                return case
            tries -= 1
            if signature(look(smaller)) == wanted:
                case = smaller
        if case is before:
            return case
