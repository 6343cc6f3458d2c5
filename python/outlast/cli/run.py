"""`outlast run`."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from outlast.cli import INTERRUPTED
from outlast.cli.options import layers_of, overrides_of, path_option, print_json, scenario_options


@click.command(
    "run",
    epilog="""\b
Examples:
  outlast run demo
  outlast run mine.toml --out out/mine --seed 7
  outlast run --preset hrm-200g --trace web.csv.gz --set workload.trace.addresses=fit --json
  outlast run job.fio --preset demo
  outlast run job.fio --preset demo --format fio > result.json
  outlast run demo --set device.ftl.gc.policy=fifo --report fifo.html""",
)
@scenario_options
@click.option("--trace", metavar="FILE", help="Replay this block trace instead of the scenario's workload.")
@click.option(
    "--format",
    "trace_format",
    metavar="NAME",
    help="Format of the trace; recognised if left out. Or fio: print the result as fio's json+ on standard output.",
)
@path_option(
    "--out", metavar="DIR", help="Write result.json, tables, scenario.toml and report.html into this new folder."
)
@click.option("--force", is_flag=True, help="Replace an earlier result in --out.")
@path_option("--report", "report_file", metavar="FILE", help="Write the HTML page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print result.json on standard output.")
@click.option("--quiet", is_flag=True, help="No progress bar and no summary.")
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
    quiet: bool,
) -> int:
    """Run SCENARIO: a scenario file, the name of a preset, or a fio job file (.fio) on the drive of --preset.

    With several sources the later wins: --preset, SCENARIO, --trace, --set, --seed. Without --out, --report or --json
    the headline figures are shown and nothing is written. Ctrl-C stops the run and keeps what was measured, marked
    partial.
    """
    as_fio = trace_format == "fio"
    if as_fio and as_json:
        raise click.UsageError("--json and --format fio both print on standard output", click.get_current_context())
    trace_format = None if as_fio else trace_format
    layers, overrides = layers_of(scenario, preset, trace, trace_format), overrides_of(settings, seed)
    # Shells start background jobs with Ctrl-C ignored; an interrupt sent to a run always keeps what it measured.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from outlast import api
    from outlast.cli.progress import RunProgress
    from outlast.output import OutputFolder, check_file

    folder = OutputFolder(out, force=force) if out is not None else None
    if report_file is not None:
        check_file(report_file)
    with RunProgress(shown=not quiet) as progress:
        result = api.run(layers, overrides, progress=progress)
    if folder is not None:
        folder.write(result)
    if report_file is not None:
        result.report(report_file)
    if as_fio:
        from outlast.fio import to_fio

        print_json(to_fio(result))
    elif as_json:
        click.echo(result.to_json(), nl=False)
    elif not quiet:
        from outlast.cli.summary import show

        show(result)
    written = [str(path) for path in (out, report_file) if path is not None]
    if result.stopped:
        kept = f"; written to {' and '.join(written)}, marked partial" if written else ""
        click.echo(f"stopped by Ctrl-C: figures are of what was run until then{kept}", err=True)
        return INTERRUPTED
    if written and not quiet:
        click.echo(f"written: {', '.join(written)}", err=True)
    return 0
