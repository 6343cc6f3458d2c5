"""`outlast man`: the manual page, made from what the commands say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click


@click.command(
    "man",
    epilog="""\b
Examples:
  outlast man | man -l -
  outlast man > ~/.local/share/man/man1/outlast.1""",
)
def man_command() -> None:
    """Print the manual page: every command with its options and examples, as roff."""
    click.echo("\n".join(page(click.get_current_context().find_root())))


def page(root: click.Context) -> Iterator[str]:
    """The lines of the page."""
    from outlast import __version__

    yield f'.TH OUTLAST 1 "" "Outlast {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"outlast \\- {_roff((root.command.help or '').splitlines()[0].rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield from _synopsis(root)
    yield ".SH DESCRIPTION"
    yield from _command_text(root)
    yield ".SH COMMANDS"
    for context in _commands(root):
        yield f".SS {_roff(context.command_path)}"
        yield from _synopsis(context)
        yield ".PP"
        yield from _command_text(context)


def _commands(group: click.Context) -> Iterator[click.Context]:
    """Every command in a group, and those in groups of it, in their order."""
    if not isinstance(group.command, click.Group):
        return
    for name in group.command.list_commands(group):
        command = group.command.get_command(group, name)
        if command is not None and not command.hidden:
            context = click.Context(command, info_name=name, parent=group)
            yield context
            yield from _commands(context)


def _synopsis(context: click.Context) -> Iterator[str]:
    words = " ".join(context.command.collect_usage_pieces(context))
    yield f"\\fB{_roff(context.command_path)}\\fR {_roff(words)}"


def _command_text(context: click.Context) -> Iterator[str]:
    """Help text, options and examples of a command, as lines of roff."""
    yield from _paragraphs(context.command.help or "")
    for parameter in context.command.get_params(context):
        names, about = parameter.get_help_record(context) or ("", "")
        if about:
            yield from (".TP", f"\\fB{_roff(names)}\\fR", _roff(" ".join(about.split())))
    if context.command.epilog:
        yield ".PP"
        yield from _paragraphs(context.command.epilog)


def _paragraphs(words: str) -> Iterator[str]:
    """Paragraphs as roff fills them; those that click marks by a backspace keep their lines."""
    for index, paragraph in enumerate(re.split(r"\n\s*\n", words.strip("\n"))):
        if index:
            yield ".PP"
        if paragraph.lstrip().startswith("\b"):
            yield from (".nf", *(_roff(line) for line in paragraph.split("\n")[1:]), ".fi")
        else:
            yield _roff(" ".join(paragraph.split()))


def _roff(words: str) -> str:
    """A text in which nothing is a command of roff's."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
