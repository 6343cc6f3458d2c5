"""`outlast torture check`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from outlast import interrupts, log
from outlast.cli.options import Seconds, Whole, log_options, path_option, refused
from outlast.cli.progress import StatesProgress
from outlast.printable import printable

if TYPE_CHECKING:
    from typing import Unpack

    from outlast.products.torture.check_request import CheckRequest
    from outlast.products.torture.crash import Recording
    from outlast.products.torture.result import Result
    from outlast.products.torture.results import Verdict
    from outlast.products.torture.trial import Trials

Command = TypeVar("Command", bound=Callable[..., Any])
BAD = 1
"""The exit code if a state is bad."""


class CheckOptions(TypedDict):
    """The options of a check, as `outlast torture run` has them, too."""

    models: tuple[str, ...]
    states: int | None
    budget: float | None
    jobs: int | None
    seed: int
    tear: int | None
    faults: tuple[str, ...]
    fsck: bool
    timeout: float
    out: Path | None
    fresh: bool
    force: bool
    as_json: bool
    backend: str | None
    in_process: str | None
    quiet: bool


def check_options(command: Command) -> Command:
    """The options of a check, except for where its results are kept."""
    from outlast.products.torture.check_request import MODELS
    from outlast.products.torture.cli.guest import guest_files_option

    for decorate in (
        log_options,
        click.option(
            "--quiet", is_flag=True, help="Print nothing but errors; the exit code says whether a state is bad."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the summary."),
        click.option(
            "--check-in-process",
            "in_process",
            metavar="FILE:FUNCTION",
            help="Call a Python function with each state instead of mounting it: FUNCTION(state) reads its bytes.",
        ),
        guest_files_option,
        click.option("--backend", metavar="NAME", help="How to mount states. Default: the first way that works here."),
        click.option("--force", is_flag=True, help="Continue although the check fails with nothing lost."),
        click.option("--fresh", is_flag=True, help="Discard earlier results and start again."),
        click.option(
            "--timeout", type=Seconds(), default=30.0, help="Time limit of each run of the check. Default: 30s."
        ),
        click.option("--fsck", is_flag=True, help="Check the file system of each state after the check has run."),
        click.option(
            "--fault",
            "faults",
            multiple=True,
            metavar="'KIND PLACE'",
            help=(
                "Fault injected with the loss of power in the model fault, as in outlast ctl fault, such "
                "as 'die 3'; repeatable."
            ),
        ),
        click.option(
            "--tear",
            type=Whole(512, 4096),
            metavar="BYTES",
            help="Size that a device writes atomically. Default: 4096; 512 gives more torn writes.",
        ),
        click.option(
            "--seed",
            type=Whole(0, 2**63 - 1),
            default=1,
            show_default=True,
            help="Seed of the random choice of states.",
        ),
        click.option(
            "--jobs", type=Whole(1, 1024), help="Number of states checked in parallel. Default: one for each core."
        ),
        click.option("--budget", type=Seconds(), help="Start no further state after this time, such as 120s."),
        click.option("--states", type=Whole(1), help="Maximum number of states to check. Default: all."),
        click.option(
            "--model",
            "models",
            type=click.Choice(MODELS),
            multiple=True,
            help=(
                "Model of what a loss of power can leave; repeatable. Default: contract, and also drive "
                "if a drive was recorded."
            ),
        ),
    ):
        command = decorate(command)
    return command


@click.command(
    "check",
    epilog="""\b
Examples:
  outlast torture check run.outlast -- ./check.sh
  outlast torture check run.outlast --states 200 --budget 120s --jobs 2 -- ./check.sh
  outlast torture check run.outlast --state contract@812-3 -- ./check.sh
  outlast torture check run.outlast --check-in-process check.py:check
Exit codes: 0 no state is bad, 1 some are, 2 bad input or a check that fails with nothing lost,
130 stopped by Ctrl-C (what was found is kept, and the same command continues).""",
)
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("command", metavar="COMMAND...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--state", "ids", multiple=True, metavar="ID", help="Check only this state, without saving the result; repeatable."
)
@click.option("--fs", help="File system, for a recording that does not name it. Default: none.")
@path_option("-o", "--out", metavar="DIR", help="Folder of the results. Default: RUN.torture.")
@check_options
def check_command(
    run: Path, command: tuple[str, ...], ids: tuple[str, ...], fs: str | None, **options: Unpack[CheckOptions]
) -> int:
    """Check the states of the recording RUN that a loss of power can leave.

    Each state is mounted at $OUTLAST_MOUNT, and COMMAND is run with the last mark in $OUTLAST_MARK: exit code 0 is
    good. Results are saved in DIR as they come; after an interruption the same command continues.
    """
    return checked(run, list(command), fs, options, ids)


@dataclass(frozen=True)
class _Ready:
    """All that a check needs."""

    recording: Recording
    request: CheckRequest
    trials: Trials
    backend: str


def checked(run: Path, command: list[str], fs: str | None, options: CheckOptions, ids: tuple[str, ...] = ()) -> int:
    """Checks a recording as the options say, writes and shows what came of it, and returns the exit code."""
    ready = _ready(run, command, fs, options)
    if ids:
        return _again(ready, list(ids))
    from outlast.products.torture.check import FirstStateBad, check
    from outlast.products.torture.files import write

    with StatesProgress(shown=not options["quiet"]) as tell:
        try:
            result = check(ready.recording, ready.request, ready.trials, ready.backend, tell)
        except FirstStateBad as error:
            _show_output(error.verdict)
            raise
    write(result)
    _show(result, options)
    if interrupts.stop_requests():
        kept = f"{len(result.verdicts)} of {sum(result.planned.values())} states are saved; the same command continues"
        log.say(f"stopped by {interrupts.signal_name()}: {kept}", level=log.WARNING)
        return interrupts.exit_code()
    return BAD if result.bad else 0


def _ready(run: Path, command: list[str], fs: str | None, options: CheckOptions) -> _Ready:
    """Opens the recording and finds what its states are mounted by; refuses what does not fit together."""
    from outlast import _core
    from outlast.errors import TortureError
    from outlast.products.torture import mounts, trial
    from outlast.products.torture.check_request import DEFAULT_MODELS, TWICE, CheckRequest, default_out

    in_process = options["in_process"]
    if bool(command) == (in_process is not None):
        raise refused("name a COMMAND after --, or a function by --check-in-process")
    if in_process is not None and (options["fsck"] or options["backend"] or TWICE in options["models"]):
        raise refused("--fsck, --backend and --model twice need a mount: not with --check-in-process")
    if options["faults"] and "fault" not in options["models"]:
        raise refused("--fault belongs to --model fault")
    faults = [_fault(text) for text in options["faults"]]
    if not run.exists():
        raise TortureError(f"{run}: there is no such recording")
    recorded_fs = (described := about(run)).get("fs")
    if fs is not None and recorded_fs not in (None, fs):
        raise refused(f"--fs {fs}: does not fit the recording, which is of {recorded_fs}")
    fs = recorded_fs or fs or "none"
    if in_process is not None:
        name, trials = "in process", trial.in_process(trial.function_of(in_process))
    else:
        backend = mounts.choose(fs, described.get("mount_options", ""), options["backend"])
        trial.find_command(command)
        name = backend.name
        trials = trial.mounted(backend, trial.Ask(command, fs, options["fsck"], options["timeout"]))
    recording: Recording = _core.Recording(str(run))
    has_drive = json.loads(recording.facts())["source"] == "image"
    models = options["models"] or (DEFAULT_MODELS if has_drive else DEFAULT_MODELS[:1])
    request = CheckRequest(
        run=run,
        out=options["out"] or default_out(run),
        command=command,
        in_process=in_process,
        models=models,
        states=options["states"],
        budget_s=options["budget"],
        jobs=options["jobs"] or len(os.sched_getaffinity(0)),
        seed=options["seed"],
        tear=options["tear"],
        faults=faults,
        fsck=options["fsck"],
        timeout_s=options["timeout"],
        fresh=options["fresh"],
        force=options["force"],
        fs=fs,
        repeated=_repeated(options, None if recorded_fs else fs),
    )
    return _Ready(recording, request, trials, name)


def about(run: Path) -> dict[str, Any]:
    """Settings in the recording's `torture.json`; empty for a recording that another program made."""
    from outlast import foreign, shapes
    from outlast.errors import TortureError

    path = run / "torture.json"
    if not path.is_file():
        return {}
    try:
        recording: dict[str, Any] = foreign.read(path)
    except (OSError, ValueError) as error:
        raise TortureError(f"{path}: cannot be read: {error}") from error
    shapes.check(path, recording, "recording")
    return recording


def _fault(text: str) -> dict[str, Any]:
    from outlast.cli.ctl import fault_of

    kind, *place = text.split()
    return fault_of(kind, tuple(place))


def _repeated(options: CheckOptions, fs: str | None) -> tuple[str, ...]:
    """The options without which a state would be checked in another way."""
    words = ["--fsck"] if options["fsck"] else []
    words += ["--timeout", f"{options['timeout']:g}s"] if options["timeout"] != 30.0 else []
    options_given = (("--backend", options["backend"]), ("--fs", fs if fs != "none" else None))
    return (*words, *(word for name, value in options_given if value is not None for word in (name, str(value))))


def _again(ready: _Ready, ids: list[str]) -> int:
    """Checks single states and tells all of each."""
    from outlast.products.torture.check import recheck
    from outlast.products.torture.junit import why

    bad, has_times = False, json.loads(ready.recording.facts())["has_times"]
    interrupts.defer_signals()
    for verdict in recheck(ready.recording, ready.request, ready.trials, ids):
        bad |= verdict.is_bad
        at = f"event {verdict.event}" + (f", {verdict.at_ns / 1e9:.6f} s" if has_times else "")
        judgement = f"bad: {why(verdict)}" if verdict.is_bad else "good"
        click.echo(f"{verdict.state} ({at}): {printable(judgement)}   {ready.backend}, {verdict.seconds:.2f} s")
        _show_output(verdict, err=False)
        for entry in verdict.witness:
            click.echo(f"  lost: {entry['text']}")
    return interrupts.exit_code() if interrupts.stop_requests() else BAD if bad else 0


def _show_output(verdict: Verdict, *, err: bool = True) -> None:
    for line in verdict.output.rstrip().splitlines():
        click.echo(f"  | {printable(line)}", err=err)


def _show(result: Result, options: CheckOptions) -> None:
    from outlast.products.torture import summary

    if options["as_json"]:
        click.echo(result.text(), nl=False)
    elif not options["quiet"]:
        summary.show(result)
    if log.is_on() or not (options["as_json"] or options["quiet"]):
        log.written(*summary.files(result.request.out))
