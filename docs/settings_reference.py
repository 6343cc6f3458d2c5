"""Pages of the reference on settings: one to find a section, and one for each section with many settings."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from outlast.setting import Setting, tree, vars_of

MOST_ROWS = 16
"""Settings of a section up to which they stand on the page of all sections."""
LEAST_ROWS = 8
"""Settings of a table within a large section from which it has a page of its own."""
INDEX = "reference/settings.md"


def pages() -> dict[str, str]:
    """Text of each page by its place below docs/."""
    index = [
        "# Every setting\n",
        "Made from the [schema](scenario.schema.json) of scenario files. The name in front stands in TOML, "
        "after `--set`, in Python and as an axis of a sweep. Sections with many settings have pages of their own.\n",
    ]
    found: dict[str, str] = {}
    for name, setting in tree().items():
        index.append(f"\n## {name}\n\n{_introduced(setting)}")
        if len(list(_leaves(setting))) <= MOST_ROWS:
            index += _table(_leaves(setting))
            continue
        below = _section(setting)
        found |= below
        index += ["| section | what it is |\n|---|---|"]
        index += [_row(place, text) for place, text in below.items()]
    return {INDEX: "\n".join(index) + "\n"} | found


def _row(place: str, text: str) -> str:
    title, _, rest = text.partition("\n")
    sentence = rest.strip().partition("\n")[0]
    return f"| [`{title.removeprefix('# ')}`]({place.removeprefix('reference/')}) | {sentence} |"


def _section(setting: Setting) -> dict[str, str]:
    """The page of a large section, and those of its large tables."""
    own, found = list[Setting](), dict[str, str]()
    for each in vars_of(setting).values():
        rows = list(_leaves(each))
        if len(rows) >= LEAST_ROWS:
            found[_place(each)] = _page(each, rows)
        else:
            own += [each, *rows]
    return {_place(setting): _page(setting, own)} | found


def _place(setting: Setting) -> str:
    return f"reference/settings-{str(setting).replace('.', '-')}.md"


def _page(setting: Setting, rows: list[Setting]) -> str:
    return "\n".join([f"# {setting}\n", _introduced(setting), *_table(iter(rows))]) + "\n"


def _introduced(setting: Setting) -> str:
    said = f"{html.escape(setting.__doc__ or '', quote=False)}\n"
    return said + (f"\nSet it when: {text}.\n" if (text := when().get(str(setting))) else "")


def _table(rows: Iterator[Setting]) -> list[str]:
    whens = when()
    lines = [f"| `{each}` | {_cell(each)} | {whens.get(str(each), '')} |" for each in rows]
    return ["| setting | what it is | set it when |\n|---|---|---|", *lines] if lines else []


@cache
def when() -> dict[str, str]:
    """By setting: when one would set it, as docs/when.toml says."""
    found: dict[str, str] = {}

    def walk(prefix: str, table: dict[str, Any]) -> None:
        for name, each in table.items():
            if isinstance(each, dict):
                walk("" if name == "_" else f"{prefix}{name}.", each)
            else:
                found[prefix + name] = each

    walk("", tomllib.loads((Path(__file__).parent / "when.toml").read_text(encoding="utf-8")))
    return found


def _leaves(setting: Setting) -> Iterator[Setting]:
    for each in vars_of(setting).values():
        yield each
        yield from _leaves(each)


def _cell(setting: Setting) -> str:
    said = html.escape(setting.__doc__ or "", quote=False)
    return "<br>".join(line.removeprefix("- ").strip() for line in said.splitlines()).replace("|", "\\|")
