"""The page of the reference on the Python package, made of its own signatures and docstrings."""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import outlast

MODULES = ("outlast", "outlast.fleet", "outlast.planning", "outlast.models", "outlast.policies")
"""Modules whose `__all__` is the public interface."""
LONGEST = 78
"""Characters of a signature on one line."""


def page() -> str:
    """The whole page: a section for each module, a part for each public name."""
    parts = [
        "# Python\n",
        "Every public name, with what its docstring says. [From Python](../guide/python.md) shows how they go "
        "together; names of settings and figures are those of [scenarios](settings.md) and [results](metrics.md).",
    ]
    for name in MODULES:
        parts += _module(import_module(name))
    return "\n".join(parts) + "\n"


def _module(module: ModuleType) -> Iterator[str]:
    yield f"\n## {module.__name__}\n\n{_said(module)}\n"
    for name in sorted(module.__all__, key=lambda each: (each.lower(), each)):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            place = f"[`{value.__name__}`](#{value.__name__.replace('.', '')})" if value.__name__ in MODULES else ""
            yield f"\n### {module.__name__}.{name}\n\n{place or _said(value)}\n"
        elif name != "__version__":
            yield from _entry(f"{module.__name__}.{name}", value)


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"\n### {name}\n"
    if inspect.isclass(value):
        if not issubclass(value, BaseException) and (signature := _signature(name, value)):
            yield signature
        yield f"{_said(value)}\n"
        yield from _members(value)
    elif callable(value):
        yield _signature(name, value)
        yield f"{_said(value)}\n"
    else:
        yield f"A {type(value).__name__}.\n"


def _members(kind: type) -> Iterator[str]:
    rows = []
    for name, value in vars(kind).items():
        if name.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
            continue
        said = inspect.getdoc(getattr(kind, name)) or ""
        call = f"{name}()" if not isinstance(value, property) else name
        rows.append(f"| `{call}` | {_cell(said.split(chr(10) * 2)[0])} |")
    if rows:
        yield "| member | what it is |\n|---|---|"
        yield from rows


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    plain = [each for each in plain if each.name != "self"]
    line = f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"
    if len(line) > LONGEST and plain:
        inner = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))[1:-1]
        line = f"{name}(\n    {inner.replace(', ', chr(10) + '    ').replace(chr(10), ',' + chr(10))},\n)"
    return f"```python\n{line}\n```\n"


def _said(value: Any) -> str:
    text = inspect.getdoc(value) or ""
    fenced, lines = False, []
    for line in text.splitlines():
        is_code = line.startswith("    ")
        if is_code and not fenced:
            lines.append("```python")
        if not is_code and fenced and line.strip():
            lines.append("```")
        fenced = is_code or (fenced and not line.strip())
        lines.append(line.removeprefix("    ") if is_code else html.escape(line, quote=False))
    return "\n".join([*lines, "```"] if fenced else lines)


def _cell(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def names() -> Iterator[str]:
    """Every name that the page has."""
    for name in MODULES:
        module = outlast if name == "outlast" else import_module(name)
        yield from (f"{name}.{each}" for each in module.__all__ if each != "__version__")
