"""`outlast run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts, log, suspicious
from outlast.cli.corners import run_corners
from outlast.cli.failures import suppress_closed_pipe
from outlast.cli.options import (
    STANDARD_OUTPUT,
    Whole,
    layers_of,
    log_options,
    overrides_of,
    path_option,
    print_json,
    scenario_options,
    warn_of,
)
from outlast.cli.repeats import run_repeats

NOT_MET = 1
"""Exit code where a limit of `[expect]` is not met."""
INSTEAD = " or add --force to replace a result"
"""Advice where the output folder is not empty."""

if TYPE_CHECKING:
    from outlast.cli.progress import RunProgress
    from outlast.output import OutputFolder
    from outlast.result import Result


@click.command(
    "run",
    epilog="""\b
Examples:
  outlast run demo
  outlast run mine.toml --out out/mine --seed 7
  outlast run --preset hrm-200g --trace web.csv.gz --set workload.trace.addresses=fit --json
  outlast run job.fio --preset demo
  outlast run job.fio --preset demo --format fio > result.json
  outlast run demo --set device.ftl.gc.policy=fifo --report fifo.html
  outlast run demo --repeats 5
  outlast run solidigm-p5520-1920g --corners --set device.geometry.pages_per_block=144""",
)
@scenario_options
@click.option("--trace", metavar="FILE", help="Replay this block trace instead of the scenario's workload.")
@click.option(
    "--format",
    "trace_format",
    metavar="NAME",
    help=(
        "Format of the trace; by default recognised by its content. Or fio: print the result as fio's "
        "json+ on standard output."
    ),
)
@path_option(
    "-o", "--out", metavar="DIR", help="Write result.json, tables, scenario.toml and report.html to this new folder."
)
@click.option("--force", is_flag=True, help="Replace an earlier result in --out.")
@path_option("--report", "report_file", metavar="FILE", help="Write the HTML page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print result.json on standard output.")
@click.option(
    "--repeats",
    type=Whole(1, 1000),
    metavar="N",
    help="Run under N seeds on all cores, and print means with 95 % confidence intervals.",
)
@click.option(
    "--corners",
    is_flag=True,
    help="Run sequential and random reads and writes instead of the workload, and print them beside the data sheet.",
)
@click.option(
    "--jobs",
    type=Whole(1),
    metavar="N",
    help="Number of parallel runs of --repeats and --corners. Default: one for each core.",
)
@path_option(
    "--junit",
    metavar="FILE",
    help="Write the outcome of each limit of [expect] to this file, as JUnit's XML; - is standard output.",
)
@click.option("--any-memory", is_flag=True, help="Run even if there is not enough free memory.")
@click.option("--quiet", is_flag=True, help="No progress bar and no summary.")
@log_options
def run_command(
    scenario: str | None,
    preset: str | None,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    trace: str | None,
    trace_format: str | None,
    out: Path | None,
    force: bool,
    report_file: Path | None,
    as_json: bool,
    repeats: int | None,
    corners: bool,
    jobs: int | None,
    junit: Path | None,
    any_memory: bool,
    quiet: bool,
) -> int:
    """Run SCENARIO: a scenario file, the name of a preset, or a fio job file (.fio) on the drive of --preset.

    With several sources the later wins: --preset, SCENARIO, --trace, --set, --seed. The main figures are
    printed, unless --json, --format fio or --quiet is given; files are written only for --out, --report and
    run.log. Ctrl-C or SIGTERM stops the run and keeps the measurements so far, marked as partial; a second
    one skips the report. Exit code 1: a limit of [expect] is not met.
    """
    as_fio = trace_format == "fio"
    junit_printed = junit is not None and str(junit) == STANDARD_OUTPUT
    _refuse_two_outputs({"--json": as_json, "--format fio": as_fio, "--junit -": junit_printed})
    trace_format = None if as_fio else trace_format
    layers, overrides = layers_of(scenario, preset, trace, trace_format), overrides_of(settings, seed)
    of_one_run = {"--format fio": as_fio, "--force": force, "--report": bool(report_file), "--junit": bool(junit)}
    if corners:
        of_one_run |= {"--trace": bool(trace), "--repeats": repeats is not None}
        return run_corners(layers, overrides, jobs, of_one_run, out=out, as_json=as_json, quiet=quiet)
    if repeats is not None or jobs is not None:
        return run_repeats(layers, overrides, repeats, jobs, of_one_run, out=out, as_json=as_json, quiet=quiet)
    from outlast import api  # noqa: F401 - so that nothing is left to import when the run has begun
    from outlast.cli.progress import RunProgress
    from outlast.output import OutputFolder

    if out is not None or report_file is not None:
        import numpy  # noqa: F401 - tables and charts are made of it

    folder = OutputFolder(out, force=force, instead=INSTEAD) if out is not None else None
    for file in (each for each in (report_file, None if junit_printed else junit) if each is not None):
        _check_written(file, out, [Path(each) for each in (scenario, trace) if each is not None])
    with RunProgress(shown=not quiet) as bar:
        # Nothing is lost until here, and everything is kept from here on.
        interrupts.defer_signals()
        result = _measured(layers, overrides, bar, any_memory=any_memory, out=out)
    warn_of([*result.summary.get("beyond_range", []), *suspicious.notes(result.summary.get("scenario", {}))])
    kept, drawn = [], False
    try:
        if folder is not None:
            folder.write_data(result)
            kept.append(str(out))
        elif result.log is not None and not result.log.is_absolute:
            result.log.write(Path(result.log.name))
        if result.log is not None and (folder is None or result.log.is_absolute):
            kept.append(result.log.name)
        drawn = _draw(result, folder, report_file)
        kept += [str(report_file)] if report_file is not None and drawn else []
    finally:
        # Also where the disk is full: a run of hours then leaves its figures at least here.
        _tell(result, as_fio=as_fio, as_json=as_json, quiet=quiet or junit_printed)
    if interrupts.stop_requests():
        return _stopped(result, kept, drawn)
    if kept and (not quiet or log.is_on()):
        log.written(*kept)
    return _judged(result, junit)


def _refuse_two_outputs(printing: dict[str, bool]) -> None:
    """Refuses two options that each print on standard output."""
    given = [name for name, is_given in printing.items() if is_given]
    if len(given) > 1:
        both = " and ".join(given)
        raise click.UsageError(f"{both} both print on standard output", click.get_current_context())


def _measured(
    layers: list[Any],
    overrides: list[tuple[str, str]],
    bar: RunProgress | None,
    *,
    any_memory: bool,
    out: Path | None,
) -> Result:
    from outlast import api

    if interrupts.stop_requests():
        raise click.Abort

    def tell(phase: str, fraction: float | None, requests: int, simulated_s: float) -> bool:
        if bar is not None:
            bar(phase, fraction, requests, simulated_s)
        return not interrupts.stop_requests()

    return api.run(layers, overrides, progress=tell, any_memory=any_memory, log_near=_existing(out))


def _tell(result: Result, *, as_fio: bool, as_json: bool, quiet: bool) -> None:
    """Prints the result as fio's JSON, as its own, or in words.

    A reader that has enough of it changes nothing of what else is written, or of the exit code.
    """
    with suppress_closed_pipe():
        if as_fio:
            from outlast.fio_report import to_fio

            print_json(to_fio(result))
        elif as_json:
            click.echo(result.to_json(), nl=False)
        elif not quiet:
            from outlast.cli.summary import show

            show(result)


def _check_written(file: Path, out: Path | None, inputs: list[Path]) -> None:
    """Checks that a file could be written beside the result folder `out`, which may not be there yet."""
    from outlast.output import check_file, check_not_kept, check_not_read, check_writable

    made = out is not None and file.absolute().parent in (out.absolute(), *out.absolute().parents)
    (check_writable if made else check_file)(file)
    check_not_read(file, inputs)
    # The report in the folder is the one that --report writes.
    if out is not None and file.name != "report.html":
        check_not_kept(file, out)


def _judged(result: Result, junit: Path | None) -> int:
    """Says which limits of `[expect]` are not met; 1 if any is not."""
    if junit is None and not result.summary["scenario"].get("expect"):
        return 0
    from outlast.expectations import outcomes, to_junit
    from outlast.output import write_file

    found = outcomes(result)
    failed = [each for each in found if not each.met]
    for each in failed:
        log.say(f"not met: {each.message}", level=log.WARNING)
    if junit is not None:
        text = to_junit(result.summary["name"], found)
        if str(junit) == STANDARD_OUTPUT:
            click.echo(text, nl=False)
        else:
            write_file(junit, text)
    return NOT_MET if failed else 0


def _existing(out: Path | None) -> Path | None:
    """The folder in which `out` will be, as far as it is there."""
    return None if out is None else next(above for above in out.absolute().parents if above.is_dir())


def _draw(result: Result, folder: OutputFolder | None, file: Path | None) -> bool:
    """Draws the reports, unless a person who pressed Ctrl-C twice has no time for them."""
    if interrupts.stop_requests() > 1 and (folder is not None or file is not None):
        return False
    if folder is not None:
        folder.write_report(result)
    if file is not None:
        result.report(file)
    return True


def _stopped(result: Result, kept: list[str], drawn: bool) -> int:
    written = f"; written to {' and '.join(kept)}" if kept else ""
    if result.stopped:
        mark = ", marked partial" if kept else ""
        message = f"{result.reach()}{written}{mark}"
    else:
        message = f"the run was complete by then{written}"
    report = "" if drawn else "; the report was not drawn: `outlast report` draws it"
    log.say(f"stopped by {interrupts.signal_name()}: {message}{report}", level=log.WARNING)
    return interrupts.exit_code()
