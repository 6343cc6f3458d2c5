"""`outlast docs`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

FOLDER = Path(__file__).parent.parent / "guide"
MOST_SAID = 60
"""Letters of a topic in a message."""
"""The pages of the guide, as files of the package."""


@click.command(
    "docs",
    epilog="""\b
Examples:
  outlast docs
  outlast docs arrays
  outlast docs --search capacity_scale""",
)
@click.argument("topic", required=False)
@click.option("--search", metavar="TEXT", help="List the lines of all pages that have this text, upper or lower case.")
def docs_command(topic: str | None, search: str | None) -> None:
    """Print a page of the guide, without a network. Without TOPIC, list them."""
    from outlast.errors import OutputError

    pages = {path.stem: path for path in sorted(FOLDER.glob("*.md"))}
    if not pages:
        raise OutputError(f"{FOLDER}: this installation lacks the pages of the guide")
    if search is not None:
        if topic is not None:
            raise click.UsageError("--search looks into all pages: leave out the topic", click.get_current_context())
        if not search.strip():
            raise click.UsageError("--search: say what to look for", click.get_current_context())
        _search(pages, search)
    elif topic is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            click.echo(f"{name.ljust(width)}  {_title(path)}")
    else:
        # As links name pages, too: guide/fleet.md.
        name = topic.casefold().removeprefix("guide/").removesuffix(".md")
        if name not in pages:
            import difflib

            near = difflib.get_close_matches(name[:MOST_SAID], pages, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else "`outlast docs` lists all"
            raise click.UsageError(f'no page "{_said(topic)}"; {hint}', click.get_current_context())
        _show(pages[name].read_text(encoding="utf-8"))


def _said(text: str) -> str:
    """Text of a user's in a message: on its line, and not longer than one."""
    plain = "".join(each if each.isprintable() else "?" for each in text)
    return plain if len(plain) <= MOST_SAID else f"{plain[:MOST_SAID]}…"


def _title(path: Path) -> str:
    """First heading of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), path.stem)


def _search(pages: dict[str, Path], text: str) -> None:
    found = 0
    for name, path in pages.items():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if text.casefold() in line.casefold():
                click.echo(f"{name}:{number}: {line.strip()}")
                found += 1
    if not found:
        click.echo(f'no page has "{_said(text)}"', err=True)


def _show(text: str) -> None:
    """Writes a page: as it is into a file or pipe, laid out in a terminal."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    from outlast.cli.paper import console

    console().print(Markdown(text))
