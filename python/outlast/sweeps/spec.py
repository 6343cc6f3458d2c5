"""What a sweep file says: the names are the same in TOML, in JSON and in Python."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from outlast import api, foreign
from outlast.errors import ScenarioError
from outlast.inputs import is_stream, read_stream
from outlast.sweeps import figures, keys

SpecLike: TypeAlias = str | Path | Mapping[str, Any]
"""The path of a sweep file, or what one says as nested dictionaries."""


class SweepError(ScenarioError):
    """Something in a sweep file cannot be; the message names place, value and limit."""


@dataclass(frozen=True)
class Axis:
    """One setting that varies: either over given values, or over a range."""

    setting: str
    """As `--set` takes it; empty for choices, which change several together."""
    values: tuple[Any, ...] | None = None
    labels: tuple[str, ...] | None = None
    """What the values are called in the data set and in the report; else themselves."""
    start: float | None = None
    stop: float | None = None
    steps: int | None = None
    """Values on the range, both ends included; of a grid or list."""
    scale: str = "linear"
    whole: bool = False
    """Whether values of the range are rounded to whole numbers."""
    unit: str = ""
    """Put behind each value of the range: `MiB`, `us`."""
    own_name: str = ""
    """What the axis is called, if not like its setting."""

    @property
    def name(self) -> str:
        """What it is called in the data set and in the report."""
        return self.own_name or self.setting

    def changes(self, value: Any) -> dict[str, Any]:
        """The settings that a value of this axis changes; choices are tables of them."""
        return {self.setting: value} if self.setting else dict(value)

    def to_dict(self) -> dict[str, Any]:
        """As in a sweep file."""
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
    confidence: float
    retries: int
    source: str
    """The file, for messages."""
    said: Any
    """The scenario as it was given: a name, a path, a table, or a list of these."""

    def to_dict(self) -> dict[str, Any]:
        """As in a sweep file, with defaults written out."""
        whole: dict[str, Any] = {"name": self.name, "scenario": self.said}
        whole |= {"set": dict(self.overrides), "method": self.method}
        whole |= {"points": self.points} if self.points is not None else {}
        whole |= {"seed": self.seed, "repeats": self.repeats, "confidence": self.confidence, "retries": self.retries}
        whole |= {"figures": list(self.figures)}
        whole |= {"pareto": [{"figure": name, "best": best} for name, best in self.pareto]}
        return whole | {"vary": [axis.to_dict() for axis in self.axes]}


def read(spec: SpecLike) -> Spec:
    """Reads a sweep file, or takes what one would say."""
    if isinstance(spec, Mapping):
        return _Reader("sweep", Path.cwd(), "sweep").spec(api.plain(spec))
    path = Path(spec)
    if is_stream(path):
        source = read_stream(path)
        return _Reader(source.name, Path.cwd(), "sweep").spec(_table(source.name, source.content, as_json=False))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SweepError(f"{path}: cannot be read: {reason}") from error
    said = _table(str(path), text, as_json=path.suffix == ".json")
    return _Reader(str(path), path.resolve().parent, path.stem).spec(said)


def _table(source: str, text: str, *, as_json: bool) -> dict[str, Any]:
    try:
        said = foreign.json_of(text) if as_json else foreign.toml_of(text)
    except ValueError as error:
        raise SweepError(f"{source}: {error}") from error
    if not isinstance(said, dict):
        raise SweepError(f"{source}: not a table of settings")
    return said


def _message_text(value: Any) -> str:
    """A value in a message, on its line."""
    return value if isinstance(value, str) and value.isprintable() else json.dumps(value, default=str)


def dotted(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted name, as `--set` takes them."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        full = f"{prefix}.{name}" if prefix else str(name)
        flat |= dotted(value, full) if isinstance(value, Mapping) else {full: value}
    return flat


class _Reader:
    """Turns tables into a `Spec`, refusing what cannot be."""

    def __init__(self, source: str, folder: Path, stem: str) -> None:
        self._source, self._folder, self._stem = source, folder, stem

    def refuse(self, place: str, value: Any, limit: str) -> SweepError:
        shown = "absent" if value is None else _message_text(value)
        return SweepError(f"{self._source}: {place} = {shown}: {limit}")

    def known(self, table: Mapping[str, Any], of: keys.Keys, place: str = "") -> None:
        names = tuple(of)
        for name in table:
            if name not in names:
                near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
                hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
                raise SweepError(f"{self._source}: {place}{_message_text(name)}: unknown setting; {hint}")

    def whole(self, place: str, value: Any, key: dict[str, Any]) -> int:
        least, most = keys.limits(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refuse(place, value, f"must be a whole number within {least} to {most}")
        return value

    def number(self, place: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
            raise self.refuse(place, value, "must be a number")
        return value

    def choice(self, place: str, value: Any, of: Sequence[str]) -> str:
        if value not in of:
            near = difflib.get_close_matches(str(value), of, n=1, cutoff=0.5)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise self.refuse(place, value, f"must be one of {', '.join(of)}{hint}")
        return str(value)

    def strings(self, place: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise self.refuse(place, value, "must be a list of texts")
        return tuple(value)

    def spec(self, said: Mapping[str, Any]) -> Spec:
        self.known(said, keys.SWEEP)

        def given(name: str) -> Any:
            return said.get(name, keys.SWEEP[name].get("default"))

        method = self.choice("method", given("method"), keys.METHODS)
        points = said.get("points")
        if method in keys.DRAWN:
            points = self.whole("points", points, keys.SWEEP["points"])
        elif points is not None:
            raise self.refuse("points", points, f"belongs to random and latin-hypercube, and method is {method}")
        confidence = self.number("confidence", given("confidence"))
        if not 0 < confidence < 1:
            raise self.refuse("confidence", confidence, "must lie between 0 and 1, both excluded")
        name = said.get("name", self._stem)
        if not isinstance(name, str) or not name or "/" in name or name.startswith("."):
            raise self.refuse("name", name, "must be a text without / that does not begin with a dot")
        overrides = given("set")
        if not isinstance(overrides, Mapping):
            raise self.refuse("set", overrides, "must be a table of settings")
        asked = self._figures("figures", self.strings("figures", said.get("figures", figures.USUAL)))
        return Spec(
            name=name,
            scenario=self._scenario(said.get("scenario")),
            overrides=dotted(overrides),
            method=method,
            axes=self._axes(said.get("vary"), method),
            points=points,
            seed=self.whole("seed", given("seed"), keys.SWEEP["seed"]),
            repeats=self.whole("repeats", given("repeats"), keys.SWEEP["repeats"]),
            figures=asked,
            pareto=self._pareto(said.get("pareto")),
            confidence=confidence,
            retries=self.whole("retries", given("retries"), keys.SWEEP["retries"]),
            source=self._source,
            said=said["scenario"],
        )

    def _figures(self, place: str, names: Sequence[str]) -> tuple[str, ...]:
        for index, name in enumerate(names):
            if not figures.is_figure(name):
                raise self.refuse(f"{place}[{index}]", name, f"no such figure; {figures.hint(name)}")
        return tuple(dict.fromkeys(names))

    def _pareto(self, said: Any) -> tuple[tuple[str, str], ...]:
        if said is None:
            return figures.FRONT
        if not isinstance(said, (list, tuple)) or len(said) == 1:
            raise self.refuse("pareto", said, "must be a list of two figures or more, or empty for no front")
        front = []
        for index, each in enumerate(said):
            place = f"pareto[{index}]"
            entry = {"figure": each} if isinstance(each, str) else each
            if not isinstance(entry, Mapping):
                raise self.refuse(place, each, "must be a figure, or a table of figure and best")
            self.known(entry, keys.FRONT, f"{place}.")
            (name,) = self._figures(f"{place}.figure", [entry.get("figure", "")])
            best = entry.get("best", keys.FRONT["best"]["default"])
            front.append((name, self.choice(f"{place}.best", best, keys.BESTS)))
        return tuple(front)

    def _scenario(self, said: Any) -> tuple[api.ScenarioLike, ...]:
        if said is None:
            raise self.refuse("scenario", None, "name a preset or a scenario file, or write one as a table")
        parts = said if isinstance(said, (list, tuple)) else [said]
        return tuple(self._layer(part) for part in parts)

    def _layer(self, part: Any) -> api.ScenarioLike:
        if isinstance(part, Mapping):
            above = part.get("extends")
            if isinstance(above, str):
                return dict(part) | {"extends": str(self._layer(above))}
            if isinstance(above, list):
                return dict(part) | {"extends": [str(self._layer(each)) for each in above]}
            return part
        if not isinstance(part, (str, Path)):
            raise self.refuse("scenario", part, "must be a preset's name, a file's path, or a table")
        kind, _ = api.layer(part)
        beside = self._folder / part
        return str(beside) if beside.is_file() or kind == "file" else part

    def _axes(self, said: Any, method: str) -> tuple[Axis, ...]:
        if not isinstance(said, (list, tuple)) or not said:
            raise self.refuse("vary", said, "needs at least one [[vary]]")
        axes = [self._axis(f"vary[{index}]", each, method) for index, each in enumerate(said)]
        for key, names in (("setting", [axis.setting for axis in axes]), ("name", [axis.name for axis in axes])):
            for index, name in enumerate(names):
                if name and name in names[:index]:
                    raise self.refuse(f"vary[{index}].{key}", name, f"varies already; name each {key} once")
        return tuple(axes)

    def _axis(self, place: str, said: Any, method: str) -> Axis:
        if not isinstance(said, Mapping):
            raise self.refuse(place, said, "must be a table")
        self.known(said, keys.AXIS, f"{place}.")
        name, setting = said.get("name", ""), said.get("setting")
        if not isinstance(name, str):
            raise self.refuse(f"{place}.name", name, "must be a text")
        if "choices" in said:
            return self._choices(place, name, said)
        if not isinstance(setting, str) or not setting:
            raise self.refuse(f"{place}.setting", setting, "must be the dotted name of a setting, as --set takes it")
        if ("values" in said) == ("from" in said or "to" in said):
            raise self.refuse(place, setting, "needs either values, or from and to")
        if "values" in said:
            return replace(self._listed(place, setting, said), own_name=name)
        return replace(self._span(place, setting, said, method), own_name=name)

    def _choices(self, place: str, name: str, said: Mapping[str, Any]) -> Axis:
        if not name:
            raise self.refuse(f"{place}.name", None, "must be a text: the name of these choices")
        for other in said:
            if other not in keys.CHOICES_WITH:
                raise self.refuse(f"{place}.{other}", said[other], "belongs to one setting, and there are choices")
        choices = said["choices"]
        if not isinstance(choices, (list, tuple)) or not choices:
            raise self.refuse(f"{place}.choices", choices, "must be a list of at least one table of label and set")
        labels, changed = [], []
        for index, each in enumerate(choices):
            where = f"{place}.choices[{index}]"
            if not isinstance(each, Mapping):
                raise self.refuse(where, each, "must be a table of label and set")
            self.known(each, keys.CHOICE, f"{where}.")
            label, own = each.get("label"), each.get("set", {})
            if not isinstance(label, str) or not label or label in labels:
                raise self.refuse(f"{where}.label", label, "must be a text that no other choice has")
            if not isinstance(own, Mapping):
                raise self.refuse(f"{where}.set", own, "must be a table of settings")
            labels.append(label)
            changed.append(dotted(own))
        return Axis("", tuple(changed), tuple(labels), own_name=name)

    def _listed(self, place: str, setting: str, said: Mapping[str, Any]) -> Axis:
        for name in keys.RANGE_ONLY:
            if name in said:
                raise self.refuse(f"{place}.{name}", said[name], "belongs to a range (from, to), and there are values")
        values = said["values"]
        if not isinstance(values, (list, tuple)) or not values:
            raise self.refuse(f"{place}.values", values, "must be a list of at least one value")
        labels = self.strings(f"{place}.labels", said["labels"]) if "labels" in said else None
        if labels is not None and (len(labels) != len(values) or len(set(labels)) != len(labels)):
            raise self.refuse(f"{place}.labels", list(labels), f"must be {len(values)} different texts, one a value")
        return Axis(setting, tuple(values), labels)

    def _span(self, place: str, setting: str, said: Mapping[str, Any], method: str) -> Axis:
        if "labels" in said:
            raise self.refuse(f"{place}.labels", said["labels"], "belongs to values, and there is a range")
        start, stop = (self.number(f"{place}.{end}", said.get(end)) for end in ("from", "to"))
        scale = self.choice(f"{place}.scale", said.get("scale", keys.AXIS["scale"]["default"]), keys.SCALES)
        if not start < stop:
            raise self.refuse(f"{place}.to", stop, f"must be more than from = {start}")
        if scale == "log" and start <= 0:
            raise self.refuse(f"{place}.from", start, "must be more than 0 on a logarithmic scale")
        steps = said.get("steps")
        if method in ("grid", "list"):
            steps = self.whole(f"{place}.steps", steps, keys.AXIS["steps"])
        elif steps is not None:
            raise self.refuse(f"{place}.steps", steps, f"belongs to grid and list, and method is {method}")
        whole, unit = said.get("whole", False), said.get("unit", "")
        if not isinstance(whole, bool):
            raise self.refuse(f"{place}.whole", whole, "must be true or false")
        if whole and (start != int(start) or stop != int(stop)):
            raise self.refuse(f"{place}.whole", whole, f"from = {start} and to = {stop} must then be whole numbers")
        if not isinstance(unit, str):
            raise self.refuse(f"{place}.unit", unit, 'must be a text, such as "MiB"')
        return Axis(setting, None, None, start, stop, steps, scale, whole, unit)
