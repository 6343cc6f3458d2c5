"""The names of settings as Python completes them, made from the JSON Schema of scenario files."""

from __future__ import annotations

import difflib
import json
import keyword
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from outlast.suggestions import are_alike

TYPE_CHECKING = False  # as type checkers read it
Node = dict[str, Any]


class Setting(str):
    """The dotted name of a setting, which is a text and may be a key of overrides; the settings in it are attributes.

    `__doc__` says what it means, its default and its choices.
    """

    if not TYPE_CHECKING:  # which know the attributes from settings.pyi, and refuse others

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"a setting has no '{name}'")
            raise AttributeError(missing(f"{self}.{name}", vars_of(self)))

    def __dir__(self) -> list[str]:
        return sorted(vars_of(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def _repr_html_(self) -> str:
        from outlast.notebook.html import framed, table
        from outlast.report.numbers import text

        description = "<br>".join(text(line) for line in (self.__doc__ or "").splitlines())
        rows = [(name, (each.__doc__ or "").partition("\n")[0]) for name, each in vars_of(self).items()]
        return framed(self, description, *([table(("setting", "what it is"), rows, texts=2)] if rows else []))


def vars_of(setting: Setting) -> dict[str, Setting]:
    """The settings in one by their attributes' names; empty for one that takes a value."""
    return {name: each for name, each in vars(setting).items() if isinstance(each, Setting)}


def choices(setting: str) -> list[str]:
    """Values that a setting may have, by its dotted name; empty if it is not one of a few."""
    node = _nodes().get(setting)
    return [] if node is None else [word for word, _ in _choices(node)]


def about(setting: str) -> str:
    """Description of a setting by its dotted name, in a line or a few; empty for an unknown name."""
    return _description(_nodes().get(setting, {}))


def below(setting: str) -> dict[str, Setting]:
    """The settings in the one of that dotted name, or those at the top (``""``), by name."""
    return tree() if not setting else vars_of(_all().get(setting, Setting("")))


@cache
def tree() -> dict[str, Setting]:
    """The settings at the top of a scenario, with all that are in them."""
    return _children("", _schema())


@cache
def _schema() -> Node:
    from outlast.schemas import scenario_schema

    return scenario_schema()


@cache
def _nodes() -> dict[str, Node]:
    """Schema node of each setting by dotted name; filled while the tree is made."""
    found: dict[str, Node] = {}

    def walk(prefix: str, node: Node) -> None:
        for name, inner in _properties(node).items():
            found[f"{prefix}{name}"] = inner
            walk(f"{prefix}{name}.", inner)

    walk("", _schema())
    return found


@cache
def _all() -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    waiting = list(tree().values())
    while waiting:
        each = waiting.pop()
        found[str(each)] = each
        waiting += vars_of(each).values()
    return found


def missing(name: str, near: Mapping[str, Setting]) -> str:
    """A line on a setting that is not there: what may have been meant, or what there is instead."""
    last = name.rpartition(".")[2]
    alike = [str(near[found]) for found in near if are_alike(found, last)]
    alike += [str(near[found]) for found in difflib.get_close_matches(last, near, n=1)]
    alike += [each for each in _all() if are_alike(each.rpartition(".")[2], last)]
    if alike:
        return f"no setting '{name}'; did you mean {' or '.join(dict.fromkeys(alike[:3]))}?"
    inner = f"there are {', '.join(near)}" if near else f"{name.rpartition('.')[0]} has no others in it"
    return f"no setting '{name}'; {inner}"


def _alternatives(node: Node) -> Iterator[Node]:
    """The node, what it refers to, and each of what it may be."""
    yield node
    if "$ref" in node:
        yield from _alternatives(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    for either in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _alternatives(either)


def _properties(node: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for each in _alternatives(node):
        for name, inner in each.get("properties", {}).items():
            found.setdefault(name, inner)
    return found


def _children(prefix: str, node: Node) -> dict[str, Setting]:
    made = {}
    for name, inner in _properties(node).items():
        setting = Setting(prefix + name)
        vars(setting).update(_children(f"{prefix}{name}.", inner), __doc__=_doc(inner))
        # `from` is a word of Python's own: `settings.precondition.from_`.
        made[f"{name}_" if keyword.iskeyword(name) else name] = setting
    return made


def _choices(node: Node) -> list[tuple[str, str]]:
    """Each value that is named, and what it means."""
    found: dict[str, str] = {}
    for each in _alternatives(node):
        if "const" in each:
            found.setdefault(_word(each["const"]), " ".join(each.get("description", "").split()))
        for value in each.get("enum", ()):
            found.setdefault(_word(value), "")
        if each.get("type") == "boolean" or "boolean" in (each.get("type") or ()):
            found |= {"true": found.get("true", ""), "false": found.get("false", "")}
    return list(found.items())


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _doc(node: Node) -> str:
    """Description of a setting: meaning, default, choices, and the keys of a list's tables."""
    description = _description(node)
    lines = [description]
    if "default" in node and not isinstance(node["default"], dict) and "Default:" not in description:
        lines.append(f"Default: {json.dumps(node['default'], ensure_ascii=False)}.")
    named = _choices(node)
    named += [(name, _description(inner)) for each in _alternatives(node) for name, inner in _items(each).items()]
    lines += [f"- {word}: {meaning}" if meaning else f"- {word}" for word, meaning in named]
    return "\n".join(line for line in lines if line)


def _description(node: Node) -> str:
    description = next((each["description"] for each in _alternatives(node) if "description" in each), "")
    return " ".join(description.split())


def _items(node: Node) -> dict[str, Node]:
    return _properties(node["items"]) if isinstance(node.get("items"), dict) else {}
