"""`outlast run --repeats`: means over seeds on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts, log
from outlast.cli.options import warn_of

if TYPE_CHECKING:
    from outlast.repeats import Repeats

SHOWN = (
    "throughput.iops",
    "throughput.read_mib_s",
    "throughput.write_mib_s",
    *(
        f"latency_us.{op}.{name}"
        for op in ("read", "write", "trim", "flush")
        for name in ("mean", "p50", "p99", "p999")
    ),
    "write_amplification.total",
    "wear.mean_pe",
    "endurance.tbw_bytes",
    "reliability.exact.after_stripe.log10_uber",
)
"""Figures of the table, where they are known; `--json` has all."""


def run_repeats(
    layers: list[Any],
    overrides: list[tuple[str, str]],
    repeats: int | None,
    jobs: int | None,
    of_one_run: Mapping[str, bool],
    *,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Runs the scenario under several seeds and prints the table, or JSON.

    `of_one_run`: options that make no sense with repeats, and whether they were given.
    """
    if repeats is None:
        raise click.UsageError("--jobs belongs to --repeats", click.get_current_context())
    if given := [name for name, is_given in of_one_run.items() if is_given]:
        raise click.UsageError(f"{given[0]} belongs to one run, not to --repeats", click.get_current_context())
    from outlast.cli.progress import SweepProgress
    from outlast.repeats import repeat

    last_progress = (0, 0)
    try:
        interrupts.raise_on_signal()
        with SweepProgress(shown=not quiet) as progress:

            def tell(done: int, wanted: int) -> None:
                nonlocal last_progress
                last_progress = (done, wanted)
                if progress is not None:
                    progress(done, wanted)

            found = repeat(layers, overrides, repeats=repeats, jobs=jobs, out=out, progress=tell)
    except KeyboardInterrupt:
        if last_progress == (0, 0):
            raise
        kept = "; the same command continues" if out is not None else "; nothing is kept without --out"
        done = f"{last_progress[0]} of {last_progress[1]} runs were complete{kept}"
        log.say(f"stopped by {interrupts.signal_name()}: {done}", level=log.WARNING)
        return interrupts.exit_code()
    if as_json:
        click.echo(found.to_json(), nl=False)
    elif not quiet:
        _show(found)
    warn_of(_remarks(found))
    if out is not None and (not quiet or log.is_on()):
        log.written(out / "repeats.json", out / "repeats.parquet")
    return 0


def _remarks(found: Repeats) -> list[str]:
    runs, remarks = found.summary["runs"], []
    if count := found.summary["not_steady"]:
        remarks.append(f"{count} of {runs} runs not in steady state")
    if count := found.summary["not_served"]:
        remarks.append(f"{count} of {runs} runs with requests that failed")
    return remarks


def _show(found: Repeats) -> None:
    from rich.markup import escape

    from outlast.cli.paper import console, ruled
    from outlast.report.names import heading, spread, written

    paper = console()
    summary = found.summary
    paper.print(f"{summary['name']}, {summary['runs']} runs with different seeds", style="bold", markup=False)
    table = ruled()
    table.add_column("figure")
    for column in ("mean", f"± ({100 * summary['confidence']:g} %)", "least", "most"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in SHOWN:
        figure = summary["figures"].get(name)
        if figure is None:
            continue
        values = [value for value in found.columns[name] if value is not None]
        half = spread(name, figure["half"], figure["mean"]) if figure["half"] is not None else "–"
        cells = (
            heading(name),
            written(name, figure["mean"]),
            half,
            written(name, min(values)),
            written(name, max(values)),
        )
        table.add_row(*map(escape, cells))
    paper.print(table)
