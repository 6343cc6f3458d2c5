"""Completions of words of a command line: presets, chips, names of settings and their choices."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

Items = list[CompletionItem[str]]


def presets(_: click.Context, __: click.Parameter, incomplete: str) -> Items:
    """The presets that begin so, each with a line on it."""
    from outlast.api import presets

    return [CompletionItem(name, help=title) for name, title in presets().items() if name.startswith(incomplete)]


def chips(_: click.Context, __: click.Parameter, incomplete: str) -> Items:
    """The chips that begin so, each with what it is."""
    from outlast.models.chips import chips

    return [CompletionItem(name, help=chip.title) for name, chip in chips().items() if name.startswith(incomplete)]


def settings(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """`device.` of `dev`, `device.ftl.gc.policy=` of `device.ftl.gc.p`, and after `=` what the setting may be."""
    from outlast import setting

    name, equals, value = incomplete.partition("=")
    if equals:
        if name == "device.reliability.chip":
            words = [item.value for item in chips(ctx, parameter, value)]
        else:
            words = [word for word in setting.choices(name) if word.startswith(value)]
        return [CompletionItem(f"{name}={word}") for word in words]
    found = []
    for each in setting.below(name.rpartition(".")[0]).values():
        if each.startswith(name):
            about = (each.__doc__ or "").partition("\n")[0]
            found.append(CompletionItem(f"{each}{'.' if setting.vars_of(each) else '='}", help=about))
    return found
