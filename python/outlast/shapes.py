"""Validation of files that were read: the kind of each figure, and the keys that each table always has.

`result.shapes.txt` and `tables.shapes.txt` list the forms by the names of the reference of figures; `make shapes`
writes them from results of all kinds. Keys that are not listed may be added by anybody and are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import OutputError

if TYPE_CHECKING:
    from outlast.tables import Columns

KINDS: dict[str, type | tuple[type, ...]] = {
    "table": dict,
    "list": list,
    "text": str,
    "flag": bool,
    "number": (int, float),
    "none": type(None),
}
"""Names of kinds, with the types of Python that JSON becomes."""

_EXACT = {own: name for name, kind in KINDS.items() for own in (kind if isinstance(kind, tuple) else (kind,))}

WHOLE = "whole"
"""Kind of numbers without a fraction."""

EACH = "*"
"""Key that stands for every key of a table whose keys users name."""

ENOUGH = 30
"""Tables from which it can be told that all have a key."""

FREE = "anything"
"""Kind of a subtree that is not checked, since another module owns it."""


@dataclass
class Shape:
    """The form of the values of one place."""

    kinds: set[str] = field(default_factory=set)
    always: bool = False
    """True if the table around it always has it."""
    keys: dict[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    """Shape of a list's items."""
    seen: int = 0
    """Values that it was made of."""

    def _generous(self) -> set[str]:
        """Kinds as written to the file: any figure may be null, and one that was only ever null may be anything."""
        if self.kinds == {"none"}:
            return {FREE}
        return self.kinds | {"none"} if self.kinds & {"number", "table", "list"} else self.kinds

    def lines(self, place: str = "", around: int = 0) -> Iterator[str]:
        """The form as text: place, kinds, and `always`; `around`: how often what is around it was seen."""
        if place:
            kinds = self.kinds if "." not in place and "number" not in self.kinds else self._generous()
            always = "always" if self.always and around >= ENOUGH else ""
            yield f"{place}\t{' '.join(sorted(kinds))}\t{always}".rstrip()
        for name, shape in sorted(self.keys.items()):
            yield from shape.lines(f"{place}.{name}" if place else name, self.seen)
        if self.items is not None:
            yield from self.items.lines(f"{place}[]")


def kind_of(value: Any) -> str:
    """The name of a value's kind."""
    if (exact := _EXACT.get(type(value))) is not None:
        return exact
    kinds: tuple[str, ...] = tuple(name for name, kind in KINDS.items() if isinstance(value, kind))
    return kinds[0]


@cache
def packaged_shape(name: str) -> Shape:
    """The forms of a file that comes with the package."""
    root = Shape({"table"})
    for line in files("outlast").joinpath(f"{name}.shapes.txt").read_text(encoding="utf-8").splitlines():
        place, kinds, *always = line.split("\t")
        shape = root
        for step in place.replace("[]", ".[]").split("."):
            if step == "[]":
                shape.items = shape.items or Shape()
                shape = shape.items
            else:
                shape = shape.keys.setdefault(step, Shape())
        shape.kinds, shape.always = set(kinds.split()), bool(always)
    return root


def check(
    file: Path, value: Any, name: str, *, table: str = "", without: Collection[str] = (), whole: bool = True
) -> None:
    """Raises `OutputError` with file, key and limit where `value` is not of the form `name`.

    `table`: it is that table of the form. Keys in `without` may be missing, and all may unless it is `whole`.
    """
    shape = packaged_shape(name).keys.get(table, Shape({FREE})) if table else packaged_shape(name)
    remaining = [(table, value, shape)]
    while remaining:
        place, inner, shape = remaining.pop()
        if FREE in shape.kinds:
            continue
        is_whole = type(inner) is int and WHOLE in shape.kinds
        if kind_of(inner) not in shape.kinds and not is_whole:
            raise _refused(file, place, inner, shape)
        if isinstance(inner, dict):
            each = shape.keys.get(EACH)
            remaining += [(f"{place}.{key}", below, each) for key, below in inner.items() if each is not None]
            for key, below in shape.keys.items():
                where = f"{place}.{key}" if place else key
                if key in inner:
                    remaining.append((where, inner[key], below))
                elif whole and below.always and where not in without:
                    raise OutputError(f"{file}: {where} is missing: a result has it; was the file changed or cut off?")
        elif isinstance(inner, list) and shape.items is not None:
            remaining += [(f"{place}[{index}]", each, shape.items) for index, each in enumerate(inner)]


_JSON_TYPES = {
    "table": "object",
    "list": "array",
    "text": "string",
    "flag": "boolean",
    "number": "number",
    "none": "null",
    WHOLE: "integer",
}
"""Types of JSON Schema by kind."""


def json_schema(name: str, title: str) -> dict[str, Any]:
    """The form `name` as a JSON Schema. Keys that it does not list may be there, as they may in a file that is read."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_schema(packaged_shape(name))}


def _schema(shape: Shape) -> dict[str, Any]:
    if FREE in shape.kinds:
        return {}
    types = sorted(_JSON_TYPES[kind] for kind in shape.kinds)
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if named := {key: _schema(below) for key, below in shape.keys.items() if key != EACH}:
        schema["properties"] = named
    if required := [key for key, below in shape.keys.items() if below.always and key != EACH]:
        schema["required"] = required
    if EACH in shape.keys:
        schema["additionalProperties"] = _schema(shape.keys[EACH])
    if shape.items is not None:
        schema["items"] = _schema(shape.items)
    return schema


def samples(columns: Columns) -> dict[str, list[Any]]:
    """One value of each kind that each column of a table has."""
    import numpy as np

    found = {}
    for name, values in columns.items():
        kinds = {kind_of(value): value for value in (values[:1].tolist() if isinstance(values, np.ndarray) else values)}
        found[name] = list(kinds.values())
    return found


def _refused(file: Path, place: str, value: Any, shape: Shape) -> OutputError:
    text = json.dumps(value)
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    kinds = sorted(shape.kinds - {"none"})
    words = ["a whole number" if kind == WHOLE else f"a {kind}" for kind in kinds]
    words += ["null"] * ("none" in shape.kinds)
    limit = " or ".join(words)
    return OutputError(f"{file}: {place or 'the whole'} = {shown}: must be {limit}")
