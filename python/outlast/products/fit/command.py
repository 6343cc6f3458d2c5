"""`outlast fit`."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast import interrupts, log
from outlast.cli.options import Seconds, Whole, log_options, path_option, print_json

if TYPE_CHECKING:
    from outlast.products.fit.engine import Fit


@click.command(
    "fit",
    epilog="""\b
Examples:
  outlast fit measured.toml -o drive.toml
  outlast fit measured.toml -o drive.toml --report drive.html --jobs 2
  outlast fit --plan /dev/nvme0n1 -o plan
  outlast fit --plan /mnt/drive/fit.dat --size 100GB -o plan
  outlast fit --curve bandwidth.csv""",
)
@click.argument("file", metavar="MEASURED.toml", required=False)
@path_option("-o", "--out", metavar="PATH", help="The preset to write; with --plan, the folder.")
@click.option("--plan", metavar="DEVICE", help="Write the fio jobs that measure a device, or a file. Runs nothing.")
@path_option(
    "--curve",
    metavar="CSV",
    help="Find the SLC cache and phases in bandwidth over bytes written: columns gb, gb_s. Writes nothing.",
)
@click.option("--size", metavar="SIZE", help="With --plan for a file: its maximum size.")
@click.option(
    "--seconds", type=Seconds(), default="60s", show_default=True, help="With --plan: duration of each measurement."
)
@path_option(
    "--report",
    metavar="FILE",
    help="Output file of the report. Default: beside the preset, with the extension .html.",
)
@path_option("--points", metavar="DIR", default=Path("out/fit"), help="Where to save runs. Default: out/fit.")
@click.option("--jobs", type=Whole(1), metavar="N", help="Number of parallel runs. Default: one for each core.")
@click.option("--json", "as_json", is_flag=True, help="Print the fit as JSON instead of the summary.")
@click.option("--quiet", is_flag=True, help="No progress bar and no summary.")
@log_options
def fit_command(
    file: str | None,
    out: Path | None,
    plan: str | None,
    curve: Path | None,
    size: str | None,
    seconds: float,
    report: Path | None,
    points: Path,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Fit a drive to measurements and write it as a preset.

    MEASURED.toml gives the size of the drive and the files with its measurements: results of fio, CSV,
    or figures of its data sheet. Each number of the preset is marked as fitted, with its interval and
    the measurement used, or as assumed.
    """
    if as_json and (curve is not None or plan is not None):
        other = "--curve" if curve is not None else "--plan"
        raise click.UsageError(f"--json: not with {other}, which fits nothing", click.get_current_context())
    if curve is not None:
        return _curve(curve)
    if out is None or (file is None) == (plan is None):
        wanted = "name a MEASURED.toml and with -o the preset to write, or with --plan what is to be measured"
        raise click.UsageError(wanted, click.get_current_context())
    if plan is not None:
        return _plan(plan, out, size, seconds, quiet=quiet)
    assert file is not None
    return _fit(file, out, report, points, jobs, as_json=as_json, quiet=quiet)


def _curve(file: Path) -> int:
    from outlast.products.fit.curve import phases, read, text

    click.echo(text(phases(read(file))), nl=False)
    return 0


def _plan(target: str, out: Path, size: str | None, seconds: float, *, quiet: bool) -> int:
    from outlast.products.fit.plan import write

    written = write(target, out, seconds=seconds, size=size)
    if not quiet:
        text = f"written: {len(written) - 1} job files and {out / 'README.md'}, which says how to go on"
        log.say(text, "written", files=[str(each) for each in written])
    return 0


def _fit(
    file: str, out: Path, report: Path | None, points: Path, jobs: int | None, *, as_json: bool, quiet: bool
) -> int:
    from outlast.cli.progress import RunProgress
    from outlast.output import check_file, write_file
    from outlast.products.fit import fit
    from outlast.products.fit.check import check_preset
    from outlast.products.fit.page import page
    from outlast.products.fit.preset import to_toml
    from outlast.products.fit.record import to_dict
    from outlast.schemas import hint

    page_file = report or out.with_suffix(".html")
    for place in (out, page_file):
        check_file(place)
    interrupts.raise_on_signal()
    with RunProgress(shown=not quiet) as bar:

        def tell(stage: str, done: int, wanted: int) -> None:
            if bar is not None:
                bar.count(stage, done, wanted)

        done = fit(file, jobs=jobs or os.cpu_count() or 1, points=points, tell=tell)
    preset = to_toml(done)
    check_preset(done, preset)
    write_file(out, hint() + preset)
    write_file(page_file, page(done))
    if as_json:
        print_json(to_dict(done, out, page_file))
    elif not quiet:
        _show(done)
    if not quiet or log.is_on():
        log.written(out, page_file)
    return 0


def _show(done: Fit) -> None:
    """Prints what was found, and how far the fitted drive is off."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from outlast.cli.paper import Paper
    from outlast.products.fit.page import rows
    from outlast.products.fit.parameters import stage_named
    from outlast.products.fit.words import (
        NOT_TOLD,
        fitted_figures,
        format_figure,
        format_value,
        given,
        interval,
        percent,
        title,
        trust,
    )

    console = Paper(highlight=False, width=None if sys.stdout.isatty() else 160)
    table = Table("number", "value", "90 % interval", "fitted to", box=SIMPLE_HEAD, pad_edge=False)
    for found in done.found.values():
        table.add_row(
            title(found.name), format_value(found.name, found.value), interval(found), fitted_figures(found, done)
        )
    console.print(table)
    head = ("load", "figure", "given", "simulated", "error", "error if left out", "role")
    table = Table(*head, box=SIMPLE_HEAD, pad_edge=False)
    for seen, kind, measured, value in rows(done):
        off = "–" if value is None else percent(value / measured - 1, signed=True)
        alone = done.left_out.get(f"{seen.row.place} {seen.name}")
        without = "–" if alone is None else percent(alone, signed=True)
        table.add_row(str(seen.row.load), seen.name, given(seen), format_figure(seen.name, value), off, without, kind)
    console.print(table)
    if done.scale > 1.05:
        noise = f"{math.sqrt(done.scale):.1f} times the measurement noise"
        console.print(f"residuals are {noise}; intervals are widened by that factor")
    for name, choice in done.choices.items():
        console.print(f"{stage_named(name).title}: {choice.taken}; errors of {choice.words()}")
    for name, why in done.missing.items():
        console.print(f"not identified: {stage_named(name).title}: {why}")
    for each in NOT_TOLD:
        console.print(f"not identifiable from outside: {each}")
    console.print(trust(done))
