"""Writes python/outlast/settings.pyi, by which editors complete `outlast.settings`, from the schema of scenario files.

`make schema`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from outlast.setting import Setting, tree, vars_of

STUB = Path(__file__).parent.parent / "python" / "outlast" / "settings.pyi"
WIDTH = 120


def _doc(setting: Setting, indent: str) -> list[str]:
    """What a setting means as lines of a docstring."""
    words = (setting.__doc__ or "").replace("\\", "\\\\")
    if len(words) + len(indent) + 6 <= WIDTH and "\n" not in words and not words.endswith('"'):
        return [f'{indent}"""{words}"""'] if words else []
    lines: list[str] = []
    for line in words.split("\n"):
        deeper = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(line, WIDTH - len(indent) - 3, subsequent_indent=deeper, break_on_hyphens=False)
    first, *more = lines
    return [f'{indent}"""{first}', *(f"{indent}{line}" for line in more), f'{indent}"""']


def _kind(setting: Setting) -> str:
    """The class of a setting that has others in it; what takes a value is a Setting."""
    return "".join(part.title() for part in setting.replace("_", ".").split(".")) if vars_of(setting) else "Setting"


def _attributes(settings: dict[str, Setting], indent: str) -> list[str]:
    lines = []
    for name, each in settings.items():
        # `format` is a method of texts, too.
        aside = "  # type: ignore[assignment]" if indent and hasattr(str, name) else ""
        lines += [f"{indent}{name}: {_kind(each)}{aside}", *_doc(each, indent)]
    return lines


def _classes(settings: dict[str, Setting]) -> list[str]:
    lines = []
    for each in settings.values():
        if inner := vars_of(each):
            lines += ["", f"class {_kind(each)}(Setting):", *_attributes(inner, "    "), *_classes(inner)]
    return lines


def stub() -> str:
    """The text of the stub."""
    head = ["# Made by docs/make_settings.py (make schema) from the schema of scenario files.", ""]
    head += ["from outlast.setting import Setting", ""]
    return "\n".join([*head, *_attributes(tree(), ""), *_classes(tree())]) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
