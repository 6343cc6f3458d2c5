"""The runs of a sweep, each checked before the first begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from outlast import _core, api
from outlast.errors import OutlastError, ScenarioError
from outlast.points import Job, key_of
from outlast.sweeps import draw
from outlast.sweeps.spec import Axis, Spec

AT_ONCE = 64
"""Points that are resolved at once, on all processors. Ctrl-C waits for them, and one may read a long trace."""


@dataclass(frozen=True)
class Run:
    """One repeat of one point."""

    point: int
    repeat: int
    job: Job


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, in order of point and repeat."""

    spec: Spec
    points: list[tuple[Any, ...]]
    """Value of every axis, for each point."""
    runs: list[Run]
    found: dict[str, Any] | None = None
    """Notes of a search about its points, as in `sweep.json`; `None` of other methods."""


def repeat_seed(seed: int, repeat: int) -> int:
    """The scenario's seed in a repeat: its own in the first, one derived from it in the others.

    It does not depend on the point. Within a repeat, points are thus compared under the same requests and the same luck
    (common random numbers), as far as their settings leave them the same.
    """
    if repeat == 0:
        return seed
    digest = hashlib.sha256(f"outlast sweep repeat {seed} {repeat}".encode()).digest()
    return int.from_bytes(digest, "big") >> (256 - 53)  # what every reader of JSON holds


def axis_label(axis: Axis, value: Any) -> Any:
    """The value of an axis as the data set has it: its label, or itself if it is a number or a text, or its text."""
    if axis.labels is not None and axis.values is not None:
        place = next((at for at, listed in enumerate(axis.values) if listed is value), None)
        return axis.labels[axis.values.index(value) if place is None else place]
    return value if isinstance(value, (int, float, str)) else json.dumps(value)


def changes_of(spec: Spec, place: Sequence[Any]) -> dict[str, Any]:
    """The settings that a point changes, of all its axes."""
    changes: dict[str, Any] = {}
    for axis, value in zip(spec.axes, place, strict=True):
        changes |= axis.changes(value)
    return changes


def make(spec: Spec, overrides: Sequence[tuple[str, str]] = ()) -> Plan:
    """The runs of a sweep. `overrides` win over those of the sweep file, and what varies over both."""
    places = draw.points(spec)
    runs: list[Run] = []
    for number, answer in enumerate(Resolver(spec, overrides).runs(places)):
        if isinstance(answer, OutlastError):
            said = str(answer).removeprefix("overrides: ")
            raise ScenarioError(f"{spec.source}: {_which(spec, places, number)}: {said}") from answer
        runs += answer
    return Plan(spec, places, runs)


class Resolver:
    """Makes the runs of points. The layers are the same at all points, and are read and merged once."""

    def __init__(self, spec: Spec, overrides: Sequence[tuple[str, str]] = ()) -> None:
        self._spec = spec
        self._first = [*api.override_list(spec.overrides), *overrides]
        self._base: _core.PointBase | OutlastError
        try:
            self._base = _core.PointBase(api.layers(spec.scenario))
        except OutlastError as error:
            self._base = error

    def runs(self, places: Sequence[tuple[Any, ...]], first: int = 0) -> Iterator[list[Run] | OutlastError]:
        """The repeats of each point, numbered from `first` on, or what is wrong with it."""
        changes = (api.override_list(changes_of(self._spec, place)) for place in places)
        settings = [[*self._first, *of_point] for of_point in changes]
        for number, answer in enumerate(self._resolved(settings), start=first):
            if isinstance(answer, OutlastError):
                yield answer
                continue
            if isinstance(answer, BaseException):
                raise answer
            scenario, files = orjson.loads(answer[0]), answer[1]
            if log := scenario.get("run", {}).get("log"):
                yield ScenarioError(
                    f"run.log = {log!r}: must be absent in a sweep, which keeps figures and no requests"
                )
                continue
            seeds = [repeat_seed(scenario["seed"], repeat) for repeat in range(self._spec.repeats)]
            seeded = [scenario | {"seed": seed} for seed in seeds]
            yield [Run(number, repeat, Job(own, key_of(own, files), files)) for repeat, own in enumerate(seeded)]

    def _resolved(
        self, settings: list[list[tuple[str, str]]]
    ) -> Iterator[tuple[str, list[tuple[str, str]]] | BaseException]:
        """Each point resolved and checked, as JSON with the files that it reads, or what is wrong with it."""
        if isinstance(self._base, OutlastError):
            yield self._base
            return
        for start in range(0, len(settings), AT_ONCE):
            yield from self._base.points(settings[start : start + AT_ONCE])


def _which(spec: Spec, places: list[tuple[Any, ...]], number: int) -> str:
    values = ", ".join(
        f"{axis.name} = {axis_label(axis, v)}" for axis, v in zip(spec.axes, places[number], strict=True)
    )
    return f"point {number} of {len(places)} ({values})"
