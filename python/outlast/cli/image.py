"""`outlast image`, and the options of `outlast serve` that concern images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from outlast.cli.options import Group, path_option

if TYPE_CHECKING:
    from outlast.serving.options import ImageOptions

Command = TypeVar("Command", bound=Callable[..., Any])


def image_options(command: Command) -> Command:
    """Adds the options that say whether and how a served machine is kept."""
    for decorate in (
        click.option(
            "--at",
            metavar="TIME",
            help=(
                "With --image: serve the drive as it was at this simulated time, such as 12.345678s; "
                "changes are not kept."
            ),
        ),
        click.option(
            "--checkpoint-every",
            metavar="SIZE",
            help=(
                "With --image: size of the log between two checkpoints. Default: 64MiB, or the size of a "
                "checkpoint if larger."
            ),
        ),
        click.option(
            "--keep-log",
            is_flag=True,
            help="With --image: keep the log from before a checkpoint, for --at and `outlast image trace`.",
        ),
        click.option(
            "--salvage",
            is_flag=True,
            help=(
                "With --image: serve what is left after a crash of the machine, although acknowledged data may be lost."
            ),
        ),
        click.option(
            "--sync", is_flag=True, help="With --image: also survive a crash of this machine; flushes take longer."
        ),
        path_option(
            "--image",
            metavar="DIR",
            callback=lambda _context, _option, folder: None if folder is None else str(folder),
            help="Store the drive in this folder, created if needed: it survives the server, even a crash of it.",
        ),
    ):
        command = decorate(command)
    return command


def check_keeping(keeping: ImageOptions) -> None:
    """Refuses options that go with nothing that is kept."""
    refused = [name for name in ("sync", "salvage", "keep_log", "checkpoint_every") if keeping.get(name)]
    options = [f"--{name.replace('_', '-')}" for name in refused]
    context = click.get_current_context()
    if keeping["image"] is None and (options or keeping["at"] is not None):
        raise click.UsageError(f"{', '.join(options) or '--at'}: only with --image", context)
    if keeping["at"] is not None and options:
        raise click.UsageError(f"{', '.join(options)}: not with --at, which keeps no changes", context)


@click.group(
    "image",
    cls=Group,
    epilog="""\b
Example:
  outlast image trace disk.outlast disk.blkparse""",
)
def image_command() -> None:
    """Inspect the image of a served drive or array."""


@image_command.command(
    "trace",
    epilog="""\b
Examples:
  outlast image trace disk.outlast disk.blkparse
  outlast run disk.outlast/scenario.toml --trace disk.blkparse""",
)
@click.argument("image", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("output", metavar="FILE", type=click.Path(path_type=Path))
def trace_command(image: Path, output: Path) -> None:
    """Write the commands recorded in the image DIR to FILE, in the format of blkparse.

    Faults, losses of power and marks become blkparse messages, which a run ignores.
    """
    from outlast.output import check_file
    from outlast.traces import check_trace_place, image_trace

    check_trace_place(output, image)
    check_file(output)
    requests, remarks, is_whole = image_trace(image, output)
    others = f" and {remarks} remark{'s' if remarks > 1 else ''}" if remarks else ""
    click.echo(f"{requests} requests{others} written to {output}", err=True)
    if not is_whole:
        click.echo("what came before the oldest checkpoint is gone; serving with --keep-log keeps it", err=True)
