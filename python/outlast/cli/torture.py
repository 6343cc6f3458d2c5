"""`outlast torture`."""

from __future__ import annotations

from pathlib import Path

import click

from outlast import interrupts
from outlast.cli import LazyGroup
from outlast.cli.options import Setting, path_option

COMMANDS: dict[str, tuple[str, str]] = {
    "record": ("outlast.cli.torture", "Record what a program asks of a drive, with its marks."),
    "check": ("outlast.cli.torture_check", "Check the states that a loss of power may leave."),
}
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


def tell(line: str) -> None:
    """Says something beside the command's own output."""
    click.echo(line, err=True)


@click.command(
    "record",
    epilog="""\b
Example:
  outlast torture record --out run.outlast -- ./workload.sh
  outlast torture record --drive mine.toml --fs xfs --out run.outlast -- make test
  outlast torture record --fs none --out run.outlast -- ./workload-on-a-raw-device""",
)
@click.option(
    "--drive", metavar="SCENARIO", default="serve-drive", show_default=True, help="A built-in scenario or a file."
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="Change one setting of the drive by its dotted name; repeatable.",
)
@click.option(
    "--fs",
    type=click.Choice(["ext4", "xfs", "btrfs", "none"]),
    default="ext4",
    show_default=True,
    help="Made on the drive and mounted at $OUTLAST_MOUNT; with none the drive itself is $OUTLAST_DEVICE.",
)
@click.option(
    "--setup", metavar="COMMAND", help="For the shell, before the recording begins: what is to be there already."
)
@click.option("--mkfs-options", metavar="OPTIONS", default="", help="For mkfs, in one word.")
@click.option("--mount-options", metavar="OPTIONS", default="", help="For the mount, here and in each check.")
@click.option(
    "--speed",
    type=click.FloatRange(0.001, 1000),
    default=1.0,
    show_default=True,
    help="Simulated seconds of the drive in a second on the wall.",
)
@path_option("--out", metavar="DIR", required=True, help="The recording: a folder that is not there yet.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record_command(
    drive: str,
    settings: tuple[tuple[str, str], ...],
    fs: str,
    setup: str | None,
    mkfs_options: str,
    mount_options: str,
    speed: float,
    out: Path,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND on a drive that is served, and keep what the drive was asked, with bytes and times.

    The command notes what it was promised: a line on the descriptor $OUTLAST_MARK_FD, a datagram to
    $OUTLAST_MARK_SOCKET, or `outlast ctl mark TEXT`. Its exit code is that of record; the recording stays.
    """
    from outlast.torture.record import Asked, record
    from outlast.torture.workload import Job

    if fs == "none" and (mkfs_options or mount_options):
        option = "--mkfs-options" if mkfs_options else "--mount-options"
        raise click.UsageError(f"{option}: not with --fs none, which mounts nothing", click.get_current_context())
    interrupts.keep()
    job = Job(list(command), fs, mkfs_options, mount_options, setup)
    asked = Asked(job, out, [drive], list(settings), drive, speed)
    code = record(asked, tell)
    failed = f"; the command failed with exit code {code}" if code else ""
    tell(f"recorded in {out}{failed}")
    return code
