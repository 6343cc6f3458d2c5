"""`outlast torture`."""

from __future__ import annotations

import click

from outlast.cli import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {}
"""The module of each command, which is `NAME_command` there, and its line in the help."""


@click.group(
    "torture",
    cls=LazyGroup,
    table=COMMANDS,
    epilog="""\b
Example:
  outlast torture record --out run.outlast -- ./workload.sh
  outlast torture check run.outlast -- ./check.sh""",
)
def torture_command() -> None:
    """Find out whether your program survives the loss of power.

    A recording is what a program asked of a drive, with its marks of what it was promised. Each state that a loss of
    power may leave is mounted and checked by a program of yours.
    """
