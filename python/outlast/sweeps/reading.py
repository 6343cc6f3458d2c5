"""Reading of sweep files, with every mistake named by its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from outlast import api, foreign
from outlast.inputs import is_stream, read_stream
from outlast.plain_values import NO_NAME, path_of, plain
from outlast.printable import printable
from outlast.sweeps import aims, figures, keys
from outlast.sweeps.checks import Checks
from outlast.sweeps.spec import Axis, Spec, SweepError, dotted

SpecLike: TypeAlias = str | Path | Mapping[str, Any]
"""The path of a sweep file, or what one says as nested dictionaries."""


def read(spec: SpecLike) -> Spec:
    """Reads a sweep file, or takes what one would say."""
    if isinstance(spec, Mapping):
        return _Reader("sweep", Path.cwd(), "sweep").spec(plain(spec))
    path = path_of(spec, "a sweep is a path or a table", SweepError)
    if is_stream(path):
        source = read_stream(path)
        return _Reader(source.name, Path.cwd(), "sweep").spec(_table(source.name, source.content, as_json=False))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SweepError(f"{path}: cannot be read: {reason}") from error
    content = _table(str(path), text, as_json=path.suffix == ".json")
    return _Reader(str(path), path.resolve().parent, path.stem).spec(content)


def _table(source: str, text: str, *, as_json: bool) -> dict[str, Any]:
    try:
        content = foreign.json_of(text) if as_json else foreign.toml_of(text)
    except ValueError as error:
        kind = "" if as_json else "not valid TOML: "
        raise SweepError(f"{source}: {kind}{error}") from error
    if not isinstance(content, dict):
        raise SweepError(f"{source}: not a table of settings")
    return content


class _Reader(Checks):
    """Turns tables into a `Spec`, refusing what cannot be."""

    def __init__(self, source: str, folder: Path, stem: str) -> None:
        super().__init__(source)
        self._folder, self._stem = folder, stem

    def spec(self, content: Mapping[str, Any]) -> Spec:
        self.known(content, keys.SWEEP)

        def given(name: str) -> Any:
            return content.get(name, keys.SWEEP[name].get("default"))

        method = self.choice("method", given("method"), keys.METHODS)
        points = content.get("points")
        if method in keys.DRAWN:
            points = self.whole("points", points, keys.SWEEP["points"])
        elif points is not None:
            raise self.refuse("points", points, f"belongs to {', '.join(keys.DRAWN)}, and method is {method}")
        for key in keys.SEARCH_ONLY:
            if key in content and method != keys.SEARCH:
                raise self.refuse(key, content[key], f"belongs to {keys.SEARCH}, and method is {method}")
        confidence = self.number("confidence", given("confidence"))
        if not 0 < confidence < 1:
            raise self.refuse("confidence", confidence, "must lie between 0 and 1, both excluded")
        name = content.get("name", self._stem)
        if not isinstance(name, str) or not name or "/" in name or name.startswith("."):
            raise self.refuse("name", name, "must be a text without / that does not begin with a dot")
        if NO_NAME.search(name) or printable(name, keep="\t") != name:
            raise self.refuse("name", name, "must be one line without control characters")
        overrides = given("set")
        if not isinstance(overrides, Mapping):
            raise self.refuse("set", overrides, "must be a table of settings")
        names = self.figures("figures", self.strings("figures", content.get("figures", figures.USUAL)))
        pareto = self._pareto(content.get("pareto"), names if "figures" in content else None)
        wanted: aims.Aims = ()
        if method == keys.SEARCH:
            wanted = aims.read(self, content.get("aim"), pareto)
            if len(wanted) > 1 and "pareto" not in content:
                pareto = wanted
        repeats = self.whole("repeats", given("repeats"), keys.SWEEP["repeats"])
        return Spec(
            name=name,
            scenario=self._scenario(content.get("scenario")),
            overrides=dotted(overrides),
            method=method,
            axes=self._axes(content.get("vary"), method),
            points=points,
            seed=self.whole("seed", given("seed"), keys.SWEEP["seed"]),
            repeats=repeats,
            figures=names,
            pareto=pareto,
            aims=wanted,
            batch=self.whole("batch", given("batch"), keys.SWEEP["batch"]),
            prune=aims.prunes(self, given("prune"), wanted, repeats),
            confidence=confidence,
            retries=self.whole("retries", given("retries"), keys.SWEEP["retries"]),
            source=self._source,
            said=content["scenario"],
        )

    def _pareto(self, content: Any, asked: tuple[str, ...] | None) -> tuple[tuple[str, str], ...]:
        if content is None:
            return figures.FRONT if asked is None else figures.front_of(asked)
        if not isinstance(content, (list, tuple)) or len(content) == 1:
            raise self.refuse("pareto", content, "must be a list of two figures or more, or empty for no front")
        front = []
        for index, each in enumerate(content):
            place = f"pareto[{index}]"
            entry = {"figure": each} if isinstance(each, str) else each
            if not isinstance(entry, Mapping):
                raise self.refuse(place, each, "must be a figure, or a table of figure and best")
            self.known(entry, keys.FRONT, f"{place}.")
            (name,) = self.figures(f"{place}.figure", [entry.get("figure", "")])
            front.append((name, self.choice(f"{place}.best", entry.get("best", keys.BESTS[0]), keys.BESTS)))
        return tuple(front)

    def _scenario(self, content: Any) -> tuple[api.ScenarioLike, ...]:
        if content is None:
            raise self.refuse("scenario", None, "name a preset or a scenario file, or write one as a table")
        parts = content if isinstance(content, (list, tuple)) else [content]
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
        if NO_NAME.search(str(part)):
            raise self.refuse("scenario", str(part), "no preset or file has such a name")
        kind, _ = api.layer(part)
        beside = self._folder / part
        return str(beside) if beside.is_file() or kind == "file" else part

    def _axes(self, content: Any, method: str) -> tuple[Axis, ...]:
        if not isinstance(content, (list, tuple)) or not content:
            raise self.refuse("vary", content, "needs at least one [[vary]]")
        axes = [self._axis(f"vary[{index}]", each, method) for index, each in enumerate(content)]
        for key, names in (("setting", [axis.setting for axis in axes]), ("name", [axis.name for axis in axes])):
            for index, name in enumerate(names):
                if name and name in names[:index]:
                    raise self.refuse(f"vary[{index}].{key}", name, f"varies already; name each {key} once")
        return tuple(axes)

    def _axis(self, place: str, content: Any, method: str) -> Axis:
        if not isinstance(content, Mapping):
            raise self.refuse(place, content, "must be a table")
        self.known(content, keys.AXIS, f"{place}.")
        name, setting = content.get("name", ""), content.get("setting")
        if not isinstance(name, str):
            raise self.refuse(f"{place}.name", name, "must be a text")
        if "choices" in content:
            return self._choices(place, name, content)
        if not isinstance(setting, str) or not setting:
            raise self.refuse(f"{place}.setting", setting, "must be the dotted name of a setting, as --set takes it")
        if ("values" in content) == ("from" in content or "to" in content):
            raise self.refuse(place, setting, "needs either values, or from and to")
        if "values" in content:
            return replace(self._listed(place, setting, content), own_name=name)
        return replace(self._span(place, setting, content, method), own_name=name)

    def _choices(self, place: str, name: str, content: Mapping[str, Any]) -> Axis:
        if not name:
            raise self.refuse(f"{place}.name", None, "must be a text: the name of these choices")
        for key in content:
            if key not in keys.CHOICES_WITH:
                raise self.refuse(f"{place}.{key}", content[key], "belongs to one setting, and there are choices")
        choices = content["choices"]
        if not isinstance(choices, (list, tuple)) or not choices:
            raise self.refuse(f"{place}.choices", choices, "must be a list of at least one table of label and set")
        labels, changed = [], []
        for index, each in enumerate(choices):
            where = f"{place}.choices[{index}]"
            if not isinstance(each, Mapping):
                raise self.refuse(where, each, "must be a table of label and set")
            self.known(each, keys.CHOICE, f"{where}.")
            label, changes = each.get("label"), each.get("set", {})
            if not isinstance(label, str) or not label or label in labels:
                raise self.refuse(f"{where}.label", label, "must be a text that no other choice has")
            if not isinstance(changes, Mapping):
                raise self.refuse(f"{where}.set", changes, "must be a table of settings")
            labels.append(label)
            changed.append(dotted(changes))
        return Axis("", tuple(changed), tuple(labels), own_name=name)

    def _listed(self, place: str, setting: str, content: Mapping[str, Any]) -> Axis:
        for name in keys.RANGE_ONLY:
            if name in content:
                raise self.refuse(
                    f"{place}.{name}", content[name], "belongs to a range (from, to), and there are values"
                )
        values = content["values"]
        if not isinstance(values, (list, tuple)) or not values:
            raise self.refuse(f"{place}.values", values, "must be a list of at least one value")
        labels = self.strings(f"{place}.labels", content["labels"]) if "labels" in content else None
        if labels is not None and (len(labels) != len(values) or len(set(labels)) != len(labels)):
            raise self.refuse(f"{place}.labels", list(labels), f"must be {len(values)} different texts, one per value")
        return Axis(setting, tuple(values), labels)

    def _span(self, place: str, setting: str, content: Mapping[str, Any], method: str) -> Axis:
        if "labels" in content:
            raise self.refuse(f"{place}.labels", content["labels"], "belongs to values, and there is a range")
        start, stop = (self.number(f"{place}.{end}", content.get(end)) for end in ("from", "to"))
        scale = self.choice(f"{place}.scale", content.get("scale", keys.AXIS["scale"]["default"]), keys.SCALES)
        if not start < stop:
            raise self.refuse(f"{place}.to", stop, f"must be more than from = {start}")
        if scale == "log" and start <= 0:
            raise self.refuse(f"{place}.from", start, "must be more than 0 on a logarithmic scale")
        steps = content.get("steps")
        if method in ("grid", "list"):
            steps = self.whole(f"{place}.steps", steps, keys.AXIS["steps"])
        elif steps is not None:
            raise self.refuse(f"{place}.steps", steps, f"belongs to grid and list, and method is {method}")
        whole, unit = content.get("whole", False), content.get("unit", "")
        if not isinstance(whole, bool):
            raise self.refuse(f"{place}.whole", whole, "must be true or false")
        if whole and (start != int(start) or stop != int(stop)):
            raise self.refuse(f"{place}.whole", whole, f"from = {start} and to = {stop} must then be whole numbers")
        if not isinstance(unit, str):
            raise self.refuse(f"{place}.unit", unit, 'must be a text, such as "MiB"')
        return Axis(setting, None, None, start, stop, steps, scale, whole, unit)
