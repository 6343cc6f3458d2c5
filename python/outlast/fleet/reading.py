"""Fleet files as settings, with every mistake named by file, line, setting, value and limit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from outlast import foreign
from outlast.errors import ScenarioError
from outlast.fleet import presets
from outlast.fleet.field_words import WORDS
from outlast.fleet.keys import LISTS, TABLES, TOP, Key
from outlast.inputs import MOST_BYTES, is_stream, read_stream
from outlast.plain_values import path_of
from outlast.printable import printable
from outlast.suggestions import hint

FleetLike: TypeAlias = str | Path | Mapping[str, Any]
"""The path of a fleet file, or what one says as nested dictionaries."""

MOST_STEPS = 240
"""Most numbers of a list."""
MOST_LETTERS = 1000
"""Most characters of a text."""
MOST_ROWS = 100
"""Most bursts, contagions or outages."""
SIZES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15} | {
    unit: 1024**power for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB", "PiB"), 1)
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)")


@dataclass(frozen=True)
class Settings:
    """A fleet as it was said, with defaults: `settings["drive"]["afr"]`, `settings["bursts"][0]["scope"]`."""

    tables: Mapping[str, Any]
    given: frozenset[str]
    """Settings that the file has, by dotted name."""
    source: str
    """The file, for messages."""
    folder: Path
    """Folder where relative paths begin."""
    lines: Mapping[str, int]
    """Line of each setting."""
    content: Mapping[str, Any] = field(default_factory=dict)
    """Content of the file, without presets and defaults."""

    def __getitem__(self, name: str) -> Any:
        return self.tables[name]

    def refused(self, place: str, value: Any, limit: str) -> ScenarioError:
        """The error of a setting."""
        return _refused(self.source, self.lines, place, value, limit)

    def changed(self, **tables: Mapping[str, Any]) -> Settings:
        """The same with other values in some tables."""
        merged = {name: {**self.tables[name], **values} for name, values in tables.items()}
        return replace(self, tables={**self.tables, **merged})

    def path(self, table: str, key: str) -> Path:
        """A file that a setting names."""
        return self.folder / str(self.tables[table][key])


def read(fleet: FleetLike) -> Settings:
    """Reads a fleet file (TOML, or JSON by its ending), or takes what one would say.

    Raises `ScenarioError` with a line for the first thing that is wrong.
    """
    if isinstance(fleet, Mapping):
        return _checked(fleet, "fleet", Path.cwd(), {})
    path = path_of(fleet, "a fleet is a path or a table", ScenarioError)
    if is_stream(path):
        stream = read_stream(path)
        source, text, folder = stream.name, stream.content, Path.cwd()
    else:
        source, folder = str(path), Path(os.path.realpath(path)).parent  # `resolve` stumbles over a circle of links
        try:
            if (size := path.stat().st_size) > MOST_BYTES:
                raise ScenarioError(f"{path}: has {size} bytes: at most {MOST_BYTES}")
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise ScenarioError(f"{path}: cannot be read: {reason}") from error
    try:
        content = foreign.json_of(text) if path.suffix == ".json" else foreign.toml_of(text)
    except ValueError as error:
        raise ScenarioError(f"{source}: {error}") from error
    if not isinstance(content, dict):
        raise ScenarioError(f"{source}: not a table of settings")
    return _checked(content, source, folder, _lines(text))


def _lines(text: str) -> dict[str, int]:
    """Line of each setting by dotted name, lists counted from 0, as TOML is usually written."""
    lines: dict[str, int] = {}
    table, counts = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"\s*\[\[\s*([\w.-]+)\s*\]\]", line):
            index = counts.get(found[1], 0)
            counts[found[1]] = index + 1
            table = f"{found[1]}[{index}]"
            lines[table] = number
        elif found := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            table = found[1]
            lines[table] = number
        elif found := re.match(r"\s*([\w.-]+)\s*=", line):
            lines.setdefault(f"{table}.{found[1]}" if table else found[1], number)
    return lines


def _refused(source: str, lines: Mapping[str, int], place: str, value: Any, limit: str) -> ScenarioError:
    line = lines.get(place) or lines.get(place.rpartition(".")[0])
    try:
        shown = value if isinstance(value, str) and value.isprintable() else json.dumps(value, default=str)
    except ValueError:  # a whole number of thousands of digits
        shown = "a number too long to be shown"
    at = f":{line}" if line else ""
    return ScenarioError(f"{source}{at}: {place} = {shown[:80]}: {limit}")


def _short(text: str) -> str:
    """A name or value of somebody's, as a part of one line."""
    return printable(text, keep="")[:80]


def without_effect(tables: Mapping[str, Any], place: str) -> str:
    """Reason why a setting that is given has no effect beside the others; empty if it has one, or is off."""
    table, _, name = place.rpartition(".")
    if table not in TABLES or not tables[table][name]:
        return ""
    for condition in TABLES[table][name].when:
        other, _, wanted = condition.removeprefix("!").partition("=")
        value = tables[other.partition(".")[0]][other.partition(".")[2]]
        holds = value in wanted.split("|") if wanted else bool(value)
        if holds != condition.startswith("!"):
            continue
        if wanted:
            return f"has no effect with {other} = {value}"
        return f"has no effect {'beside' if holds else 'without'} {other}"
    return ""


def _checked(
    content: Mapping[str, Any],
    source: str,
    folder: Path,
    lines: Mapping[str, int],
    asked: Collection[str] | None = None,
) -> Settings:
    """Settings of a content. Those `asked`, by default all that it has, must have an effect beside the others."""
    given: set[str] = set()
    said = content
    content = presets.beneath(content, source)

    def unknown(place: str, name: str, known: list[str]) -> ScenarioError:
        line = lines.get(f"{place}{name}")
        at = f":{line}" if line else ""
        meant = hint(name, known, WORDS, place)
        return ScenarioError(f"{source}{at}: {place}{_short(name)}: unknown setting; {meant}")

    def table(place: str, found: Any, keys: Mapping[str, Key]) -> dict[str, Any]:
        if not isinstance(found, Mapping):
            raise _refused(source, lines, place.rstrip("."), found, "must be a table of settings")
        for name in found:
            if name not in keys:
                raise unknown(place, str(name), [*keys] if place else [*keys, *TABLES, *LISTS])
            given.add(f"{place}{name}")
        values = {
            name: _value(source, lines, f"{place}{name}", found[name], key) if name in found else key.default
            for name, key in keys.items()
        }
        for name, key in keys.items():
            if key.required and name not in found:
                raise _refused(source, lines, f"{place}{name}", "absent", "must be given")
        return values

    whole: dict[str, Any] = table("", {k: v for k, v in content.items() if k not in TABLES and k not in LISTS}, TOP)
    for name, keys in TABLES.items():
        whole[name] = table(f"{name}.", content.get(name, {}), keys)
    for name, keys in LISTS.items():
        found = content.get(name, [])
        if not isinstance(found, list):
            raise _refused(source, lines, name, found, "must be a list of tables")
        if len(found) > MOST_ROWS:
            raise _refused(source, lines, name, len(found), f"must be at most {MOST_ROWS} tables")
        whole[name] = [table(f"{name}[{index}].", each, keys) for index, each in enumerate(found)]
    own = (f"{name}.{key}" for name in TABLES if name in said for key in said[name])
    for place in own if asked is None else asked:
        if reason := without_effect(whole, place):
            name, _, key = place.partition(".")
            raise _refused(source, lines, place, whole[name][key], reason)
    return Settings(whole, frozenset(given), source, folder, lines, said)


def _value(source: str, lines: Mapping[str, int], place: str, value: Any, key: Key) -> Any:
    def refused(limit: str) -> ScenarioError:
        return _refused(source, lines, place, value, limit)

    if key.kind == "flag":
        if not isinstance(value, bool):
            raise refused("must be true or false")
        return value
    if key.kind in ("text", "file"):
        if not isinstance(value, str) or not value.isprintable() or (key.choices and value not in key.choices):
            raise refused(f"must be one of {', '.join(key.choices)}" if key.choices else "must be a text")
        if len(value) > MOST_LETTERS:
            raise refused(f"has {len(value)} characters: at most {MOST_LETTERS}")
        return value
    if key.kind == "list":
        if not isinstance(value, list) or not all(_is_number(each) and 0 <= each < 1e4 for each in value):
            raise refused("must be a list of numbers from 0 to below 10000")
        if len(value) > MOST_STEPS:
            raise refused(f"has {len(value)} numbers: at most {MOST_STEPS}")
        return [float(each) for each in value]
    if key.kind == "size":
        value = _size(value)
    if key.kind == "whole" and (isinstance(value, bool) or not isinstance(value, int)):
        raise refused(f"must be a whole number within {key.least:.0f} to {key.most:.0f}")
    if not _is_number(value) or not key.least <= value <= key.most:
        raise refused(f"must be within {key.least:g} to {key.most:g}")
    return value if key.kind == "whole" else float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def _size(value: Any) -> Any:
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return value
    return float(found[1]) * SIZES[found[2]] if found[2] in SIZES else value


def with_changes(settings: Settings, changes: tuple[str, ...], *, idle: bool = False) -> Settings:
    """Settings with single ones changed, as `--set drive.afr=0.02` says them: numbers, `true`, `false`, or text.

    A change that has no effect is refused, unless `idle`; settings of the file may lose theirs by a change.
    """
    if not changes:
        return settings
    content = {name: dict(said) if isinstance(said, Mapping) else said for name, said in settings.content.items()}
    names = []
    for change in changes:
        name, equals, text = change.partition("=")
        names.append(name.strip())
        table, _, key = name.strip().rpartition(".")
        if not equals or not name.strip():
            raise ScenarioError(f"--set {_short(change)}: must be NAME=VALUE such as drive.afr=0.02")
        try:
            value = foreign.json_of(text)
        except ValueError:
            value = text
        where = content.setdefault(table, {}) if table else content
        if not isinstance(where, dict):
            raise ScenarioError(f"--set {_short(change)}: {_short(table)} is no table of settings")
        where[key] = value
    return _checked(content, settings.source, settings.folder, {}, [] if idle else names)
