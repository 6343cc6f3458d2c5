"""Makes pages of the reference of what the program itself says: settings, presets, policies, commands.

A hook of mkdocs. The texts at the root of the checkout (architecture, changelog) become pages, too, and the decisions
get their place in the navigation.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import python_reference
import settings_reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from outlast.api import presets, show_preset
from outlast.cli import cli
from outlast.policies.listing import decisions

ROOT = Path(__file__).resolve().parent.parent
GUIDE_BOOST = 2
"""Weight of a guide in the search."""
COPIED = {"architecture.md": "ARCHITECTURE.md", "changelog.md": "CHANGELOG.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the decisions in the navigation, by number, and the pages of settings below the first one."""
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert config.nav is not None
    for reference in (each["Reference"] for each in config.nav if "Reference" in each):
        place = reference.index({"Every setting": settings_reference.INDEX})
        reference[place] = {"Every setting": list(settings_reference.pages())}
    listed: list[Any] = [{_title(file): f"decisions/{file.name}"} for file in files]
    config.nav.append({"Decisions": ["decisions/README.md", *listed]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are made."""
    made = {
        "reference/presets.md": _presets(),
        "reference/policies.md": _policies(),
        "reference/commands.md": _commands(),
        "reference/python.md": python_reference.page(),
    }
    made |= settings_reference.pages()
    made |= {place: _moved((ROOT / source).read_text(encoding="utf-8")) for place, source in COPIED.items()}
    for place, content in made.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leaves decision records out of the search, where each would stand before the page that a reader looks for.

    Guides count double there: who looks for a word wants to know what to do, and then its place in the reference.
    """
    if page.file.src_uri.startswith("guide/"):
        page.meta["search"] = {"boost": GUIDE_BOOST}
    if page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"exclude": True}
    return markdown


def _title(file: Path) -> str:
    first = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("#").strip()
    number = file.name[:4]
    return first if first.startswith(number) else f"{number}: {first}"


def _moved(text: str) -> str:
    """Links from the root of the checkout become links from docs/; those to anything else become plain text."""
    text = text.replace("](docs/", "](")
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#|[\w/.-]+\.(?:md|png|json))[^)]*\)", r"\1", text)


def _presets() -> str:
    parts = [
        "# Presets\n",
        'Scenarios that are built in: `outlast run NAME`, or `extends = "NAME"` in a file. ',
        "[Which one to take](../guide/choose-a-preset.md). Each number carries its source.\n",
    ]
    parts += ["| preset | what it is |\n|---|---|"] + [
        f"| [`{name}`](#{name}) | {about} |" for name, about in presets().items()
    ]
    for name in presets():
        parts.append(f"\n## {name}\n\n```toml\n{show_preset(name).rstrip()}\n```\n")
    return "\n".join(parts)


def _policies() -> str:
    parts = [
        "# Policies\n",
        "What drives and arrays decide, and the policies that do so. Code of your own may take the place of each:",
    ]
    parts += ["[how](../guide/adding-a-policy.md).\n"]
    for name, entry in decisions().items():
        parts.append(f"\n## {name}\n\n{_text(entry['about'])}\n\n| `{entry['setting']}` | what it does |\n|---|---|")
        parts += [f"| `{policy}` | {_text(about)} |" for policy, about in entry["policies"].items()]
        own = entry["own"]
        parts.append(f"\nOwn code: {_text(own)}.\n" if own else "")
    return "\n".join(parts)


def _text(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", "<br>")


def _commands() -> str:
    parts = ["# Every command\n", "What `--help` of each command says.\n"]
    with click.Context(cli, info_name="outlast", terminal_width=100) as context:
        parts += _help(cli, context)
    return "\n".join(parts)


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner: Any = command.get_command(context, name)
            with click.Context(inner, info_name=name, parent=context, terminal_width=100) as below:
                yield from _help(inner, below)
