"""Specification of a sweep: the names are the same in TOML, in JSON and in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast import api
from outlast.errors import ScenarioError


class SweepError(ScenarioError):
    """Invalid sweep file; the message names place, value and limit."""

    __module__ = "outlast"


@dataclass(frozen=True)
class Axis:
    """One setting that varies: either over given values, or over a range."""

    setting: str
    """Dotted name as for `--set`; empty for choices, which change several settings together."""
    values: tuple[Any, ...] | None = None
    labels: tuple[str, ...] | None = None
    """Labels of the values in the data set and in the report; by default the values themselves."""
    start: float | None = None
    stop: float | None = None
    steps: int | None = None
    """Values on the range, both ends included; of a grid or list."""
    scale: str = "linear"
    whole: bool = False
    """True if values of the range are rounded to whole numbers."""
    unit: str = ""
    """Put behind each value of the range: `MiB`, `us`."""
    own_name: str = ""
    """Name of the axis, if not that of its setting."""

    @property
    def name(self) -> str:
        """Name in the data set and in the report."""
        return self.own_name or self.setting

    def changes(self, value: Any) -> dict[str, Any]:
        """The settings that a value of this axis changes; choices are tables of them."""
        return {self.setting: value} if self.setting else dict(value)

    def to_dict(self) -> dict[str, Any]:
        """Table of the axis in a sweep file."""
        called: dict[str, Any] = {"name": self.own_name} if self.own_name else {}
        if not self.setting:
            pairs = zip(self.labels or (), self.values or (), strict=True)
            return called | {"choices": [{"label": label, "set": value} for label, value in pairs]}
        if self.values is not None:
            named = called | {"setting": self.setting, "values": list(self.values)}
            return named | ({"labels": list(self.labels)} if self.labels else {})
        span = called | {"setting": self.setting, "from": self.start, "to": self.stop}
        span |= {"steps": self.steps} if self.steps is not None else {}
        return span | {"scale": self.scale, "whole": self.whole, "unit": self.unit}


@dataclass(frozen=True)
class Spec:
    """A sweep."""

    name: str
    scenario: tuple[api.ScenarioLike, ...]
    overrides: Mapping[str, Any]
    method: str
    axes: tuple[Axis, ...]
    points: int | None
    seed: int
    repeats: int
    figures: tuple[str, ...]
    pareto: tuple[tuple[str, str], ...]
    """Figures of the Pareto front, each with which is better: `lowest` or `highest`."""
    aims: tuple[tuple[str, str], ...]
    """Figures that a search is for, each with which is better; none of other methods."""
    batch: int
    """Points of a search that are chosen together."""
    prune: bool
    """True if a search gives up points after some of their repeats."""
    confidence: float
    retries: int
    source: str
    """The file, for messages."""
    said: Any
    """The scenario as it was given: a name, a path, a table, or a list of these."""

    def to_dict(self) -> dict[str, Any]:
        """Content of a sweep file, with defaults written out."""
        whole: dict[str, Any] = {"name": self.name, "scenario": self.said}
        whole |= {"set": dict(self.overrides), "method": self.method}
        whole |= {"points": self.points} if self.points is not None else {}
        whole |= {"seed": self.seed, "repeats": self.repeats, "confidence": self.confidence, "retries": self.retries}
        if self.aims:
            aims = [{"figure": name, "best": best} for name, best in self.aims]
            whole |= {"aim": aims, "batch": self.batch, "prune": self.prune}
        whole |= {"figures": list(self.figures)}
        whole |= {"pareto": [{"figure": name, "best": best} for name, best in self.pareto]}
        return whole | {"vary": [axis.to_dict() for axis in self.axes]}


def dotted(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted name, as `--set` takes them."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        full = f"{prefix}.{name}" if prefix else str(name)
        flat |= dotted(value, full) if isinstance(value, Mapping) else {full: value}
    return flat
