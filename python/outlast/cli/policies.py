"""`outlast policies`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from outlast.cli.options import print_json

INCLUDE = Path(__file__).parent.parent / "include"
"""The folder of the header of policies in shared libraries."""


@click.command(
    "policies",
    epilog="""\b
Examples:
  outlast policies
  outlast policies gc
  outlast policies --json
  cc -O2 -shared -fPIC -I "$(outlast policies --include)" -o mine.so mine.c
  outlast run demo --set policies.gc=mine.so:choose
  outlast run demo --set policies.gc=mine.py:choose""",
)
@click.argument("decision", required=False)
@click.option("--include", is_flag=True, help="Print the folder of outlast_policy.h, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def policies_command(decision: str | None, include: bool, as_json: bool) -> None:
    """List the decisions in drives and arrays, the policies for each, and which of them your own code can make.

    Your own code is given as FILE:NAME: a function or class in a Python file, or a function in a shared library.
    """
    if include:
        click.echo(str(INCLUDE))
        return
    from outlast.policies.listing import decisions

    listed = decisions()
    if decision is not None:
        if decision not in listed:
            raise click.UsageError(f'no decision "{decision}"; there are {", ".join(listed)}')
        listed = {decision: listed[decision]}
    if as_json:
        print_json(listed)
        return
    for index, (name, entry) in enumerate(listed.items()):
        _show(name, entry, first=index == 0)


def _show(name: str, entry: dict[str, Any], *, first: bool) -> None:
    from rich.table import Table

    from outlast.cli.paper import Paper

    console = Paper(highlight=False)
    if not first:
        console.print()
    console.print(f"[bold]{name}[/bold]  {entry['about']}")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for policy, about in entry["policies"].items():
        table.add_row(policy, about)
    if entry["own"]:
        table.add_row("FILE:NAME", f"code of your own: {entry['own']}")
    console.print(table)
    console.print(f"  [dim]setting: {entry['setting']}[/dim]")
