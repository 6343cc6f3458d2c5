"""`outlast torture`."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from outlast import interrupts, log
from outlast.cli import LazyGroup
from outlast.cli.options import Number, log_options, path_option, print_json, set_option
from outlast.products.torture.cli.check import CheckOptions, about, check_options, checked
from outlast.products.torture.cli.guest import guest_files_option

if TYPE_CHECKING:
    from typing import Unpack

    from outlast.products.torture.crash import Recording

Command = TypeVar("Command", bound=Callable[..., Any])
LOOK_S = 0.05
RECORD_SCHEMA = "outlast-recording/1"

COMMANDS: dict[str, tuple[str, str]] = {
    "record": (
        "outlast.products.torture.cli.group",
        "Record the commands that a program sends to a drive, with marks.",
    ),
    "run": (f"{__package__}.group", "Record and check in one step."),
    "open": (f"{__package__}.group", "Open a state that a loss of power can leave."),
    "check": (f"{__package__}.check", "Check the states that a loss of power can leave."),
    "export": (
        "outlast.products.torture.cli.logs",
        "Write a recording for dm-log-writes' replay-log, QEMU or blktrace.",
    ),
    "guest-files": (f"{__package__}.guest", "Download the files of a guest, for use without root."),
}
"""The module of each command, which is `NAME_command` there, and its line in the help."""


@click.group(
    "torture",
    cls=LazyGroup,
    table=COMMANDS,
    epilog="""\b
Examples:
  outlast torture record --out run.outlast -- ./workload.sh
  outlast torture check run.outlast -- ./check.sh""",
)
def torture_command() -> None:
    """Test whether a program survives power loss.

    A recording holds the commands that a program sent to a drive, with marks for what was acknowledged.
    Each state that a loss of power can leave is mounted, and your program checks it.
    """


def tell(line: str) -> None:
    """Says something beside the command's own output."""
    log.say(line)


class RecordOptions(TypedDict):
    """The options of a recording, except for where it is kept."""

    drive: str
    settings: tuple[tuple[str, str], ...]
    fs: str
    setup: str | None
    mkfs_options: str
    mount_options: str
    speed: float


def record_options(command: Command) -> Command:
    """The options of a recording, except for where it is kept."""
    for decorate in (
        click.option(
            "--speed",
            type=Number(0.001, 1000),
            default=1.0,
            show_default=True,
            help="Simulated seconds of the drive per real second, 0.001 to 1000.",
        ),
        click.option(
            "--mount-options", metavar="OPTIONS", default="", help="Options for mount, here and in each check."
        ),
        click.option("--mkfs-options", metavar="OPTIONS", default="", help="Options for mkfs, as one argument."),
        click.option(
            "--setup",
            metavar="COMMAND",
            help="Shell command to run before the recording begins, to create initial data.",
        ),
        click.option(
            "--fs",
            type=click.Choice(["ext4", "xfs", "btrfs", "none"]),
            default="ext4",
            show_default=True,
            help="File system to create and mount at $OUTLAST_MOUNT; with none, the drive itself is $OUTLAST_DEVICE.",
        ),
        set_option(" of the drive"),
        click.option(
            "--drive",
            metavar="SCENARIO",
            default="serve-drive",
            show_default=True,
            help="A built-in scenario or a file.",
        ),
    ):
        command = decorate(command)
    return command


@click.command(
    "record",
    epilog="""\b
Examples:
  outlast torture record --out run.outlast -- ./workload.sh
  outlast torture record --drive mine.toml --fs xfs --out run.outlast -- make test
  outlast torture record --fs none --out run.outlast -- ./workload-on-a-raw-device""",
)
@record_options
@click.option("--backend", metavar="NAME", help="How to mount the drive. Default: the first way that works here.")
@guest_files_option
@path_option("-o", "--out", metavar="DIR", required=True, help="The folder of the recording; it must not exist.")
@click.option("--json", "as_json", is_flag=True, help="Print what was recorded as JSON, after what the command prints.")
@log_options
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def record_command(
    out: Path, command: tuple[str, ...], backend: str | None, as_json: bool, **options: Unpack[RecordOptions]
) -> int:
    """Run COMMAND on a served drive, and record the commands to the drive with data and times.

    The command marks what was acknowledged as durable: a line on the descriptor $OUTLAST_MARK_FD, a
    datagram to $OUTLAST_MARK_SOCKET, or `outlast ctl mark TEXT`. Its exit code becomes that of record;
    the recording is kept.
    """
    code = _recorded(out, list(command), backend, options)
    if as_json:
        from outlast.products.torture.record import facts_of

        print_json({"schema": RECORD_SCHEMA, "recording": str(out)} | facts_of(out))
    return code


def _recorded(out: Path, command: list[str], backend: str | None, options: RecordOptions) -> int:
    from outlast.products.torture.record import RecordRequest, record
    from outlast.products.torture.workload import Job

    fs, mkfs_options, mount_options = options["fs"], options["mkfs_options"], options["mount_options"]
    if fs == "none" and (mkfs_options or mount_options):
        option = "--mkfs-options" if mkfs_options else "--mount-options"
        raise click.UsageError(f"{option}: not with --fs none, which mounts nothing", click.get_current_context())
    interrupts.defer_signals()
    job = Job(command, fs, mkfs_options, mount_options, options["setup"])
    drive = options["drive"]
    code = record(RecordRequest(job, out, [drive], list(options["settings"]), drive, options["speed"], backend), tell)
    failed = f"; the command failed with exit code {code}" if code else ""
    tell(f"recorded in {out}{failed}")
    return code


@click.command(
    "run",
    epilog="""\b
Examples:
  outlast torture run --check ./check.sh --out run.outlast -- ./workload.sh
  outlast torture run --check ./check.sh --states 200 --budget 120s --out run.outlast -- ./workload.sh""",
)
@click.option("--check", metavar="COMMAND", help="The check, with its arguments, as `outlast torture check` takes it.")
@record_options
@path_option(
    "-o", "--out", metavar="RUN", required=True, help="Folder of the recording; results are written to RUN.torture."
)
@check_options
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def run_command(check: str | None, out: Path, command: tuple[str, ...], **options: Any) -> int:
    """Record COMMAND, as `outlast torture record` does, and check the recording, as `outlast torture check` does."""
    of_record: RecordOptions = {name: options.pop(name) for name in RecordOptions.__annotations__}  # type: ignore[assignment]
    of_check: CheckOptions = {**options, "out": None}  # type: ignore[typeddict-item]
    if (check is None) == (of_check["in_process"] is None):
        raise click.UsageError("name the check: --check COMMAND, or --check-in-process", click.get_current_context())
    if code := _recorded(out, list(command), of_check["backend"], of_record):
        return code
    return checked(out, shlex.split(check or ""), None, of_check)


@click.command(
    "open",
    epilog="""\b
Examples:
  outlast torture open run.outlast --cut 51868255ns
  outlast torture open run.outlast --cut contract@812-3,7:4711+8 -- ls -l
  outlast torture open run.outlast --cut drive@51868255 -- sh -c 'ls -l "$OUTLAST_MOUNT"; nbdinfo "$OUTLAST_URI"'""",
)
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--cut",
    metavar="TIME|STATE",
    required=True,
    help="Time of the power failure, such as 51.8ms, or the name of a state.",
)
@click.option("--content", is_flag=True, help="Only the content of the drive, without simulating it: faster.")
@click.option("--fs", help="File system, for a recording that does not name it. Default: none.")
@click.argument("command", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
def open_command(run: Path, cut: str, content: bool, fs: str | None, command: tuple[str, ...]) -> int:
    """Open one state of the recording RUN for inspection, until COMMAND ends or Ctrl-C.

    It is mounted in a folder whose path is printed, with the same environment as for a check. For a
    state of a simulated drive (drive@TIME) that drive is also served, at an address that is printed.
    Changes are not kept.
    """
    from outlast import _core
    from outlast.errors import TortureError
    from outlast.products.torture.open import opened, state_of

    if not run.exists():
        raise TortureError(f"{run}: there is no such recording")
    described = about(run)
    if fs is not None and described.get("fs") not in (None, fs):
        raise click.UsageError(
            f"--fs {fs}: does not fit the recording, which is of {described['fs']}", click.get_current_context()
        )
    recording: Recording = _core.Recording(str(run))
    state = state_of(recording, cut)
    interrupts.defer_signals()
    with opened(recording, state, run, {"fs": fs or "none"} | described, content, tell) as there:
        for line in there.lines():
            tell(line)
        if command:
            return _run_at_terminal(list(command), there.env)
        for name in ("OUTLAST_MOUNT", "OUTLAST_DEVICE", "OUTLAST_URI"):
            if name in there.env:
                click.echo(f"{name}={there.env[name]}")
        tell("Ctrl-C closes the state.")
        while not interrupts.stop_requests():
            time.sleep(LOOK_S)
    return 0


def _run_at_terminal(command: list[str], env: dict[str, str]) -> int:
    """Runs a command at this terminal; Ctrl-C is for the command."""
    from outlast.errors import TortureError

    try:
        process = subprocess.Popen(command, env=os.environ | env)
    except OSError as error:
        raise TortureError(f"{command[0]}: cannot be run: {error.strerror}") from error
    code = process.wait()
    return code if code >= 0 else 128 - code
