"""`outlast table`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast.cli.options import path_option

if TYPE_CHECKING:
    from outlast.plots.tabular import Tabular


@click.command(
    "table",
    epilog="""\b
Examples:
  outlast table out/demo
  outlast table out/demo latency --format latex
  outlast table out/greedy out/fifo --figure throughput.iops --figure write_amplification.total
  outlast table out/spare --format csv -o points.csv
  outlast table out/demo timeseries --format csv
  outlast table out/repeats runs --format csv
  outlast table out/fleet causes
  outlast table plan.json -o plan.tex""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT... [WHAT]")
@click.option(
    "--format",
    "form",
    type=click.Choice(("csv", "markdown", "latex")),
    help="Default: the ending of the output file (.csv, .md, .tex), else markdown.",
)
@click.option("--figure", "names", multiple=True, metavar="NAME", help="A figure by its dotted name; repeatable.")
@path_option("-o", "--out", "--output", "output", metavar="FILE", help="Output file. Default: standard output.")
def table_command(results: tuple[str, ...], form: str | None, names: tuple[str, ...], output: Path | None) -> None:
    """Print figures of one RESULT or of several beside each other, or the points of a sweep.

    WHAT is figures (the default), latency (its percentiles), or a table of one result, such as timeseries; of repeats
    figures or runs; of a fleet losses, changes, causes, year or cost. A plan is the file that `outlast plan --json`
    printed. CSV has all digits and the names of result.json; Markdown and LaTeX have rounded values with units and
    intervals.
    """
    from outlast.cli.report import is_sweep
    from outlast.output import check_file, write_file
    from outlast.plots import document_at, tabular
    from outlast.repeats_compared import is_repeats
    from outlast.result import load

    form = form or _form_of(output)
    what = results[-1] if len(results) > 1 and not Path(results[-1]).exists() else "figures"
    named = results if what == "figures" and results[-1] != what else results[:-1]
    if names and what != "figures":
        raise click.UsageError("--figure belongs to figures", click.get_current_context())
    documents = [found for name in named if (found := document_at(name)) is not None]
    if documents:
        if len(named) > 1 or names:
            raise click.UsageError(f"the table of a {documents[0].kind} is its own", click.get_current_context())
        table = documents[0].table("" if what == "figures" else what)
    elif any(is_sweep(name) for name in named):
        if len(named) > 1 or what != "figures":
            raise click.UsageError("the table of a sweep is that of its points", click.get_current_context())
        from outlast.sweeps import load_sweep

        table = tabular.of_sweep(load_sweep(named[0]), names)
    elif all(is_repeats(name) for name in named):
        table = _of_repeats(named, what, names)
    else:
        loaded = [load(name) for name in named]
        if what == "figures":
            table = tabular.of_results(loaded, names)
        elif what == "latency":
            table = tabular.latency_of(loaded)
        elif len(loaded) > 1:
            raise click.UsageError(f"{what} is a table of one result", click.get_current_context())
        else:
            table = tabular.columns_of(loaded[0], what)
    if output is None:
        click.echo(table.text(form), nl=False)
        return
    check_file(output)
    write_file(output, table.text(form))
    click.echo(f"written: {output}", err=True)


def _of_repeats(named: tuple[str, ...], what: str, names: tuple[str, ...]) -> Tabular:
    from outlast.plots import tabular
    from outlast.repeats_compared import load_repeats

    loaded = [load_repeats(name) for name in named]
    if what == "figures":
        return tabular.of_repeats(loaded, names)
    if what != "runs" or len(loaded) > 1:
        raise click.UsageError(
            f"{what}: repeats have figures, and one set of them has runs, a row for each", click.get_current_context()
        )
    return tabular.runs_of(loaded[0])


def _form_of(output: Path | None) -> str:
    """Format by the ending of the output file."""
    endings = {".csv": "csv", ".md": "markdown", ".tex": "latex", "": "markdown"}
    if output is None:
        return "markdown"
    if output.suffix.lower() not in endings:
        raise click.UsageError(
            f"{output}: the ending must be .csv, .md or .tex, or --format say what it is", click.get_current_context()
        )
    return endings[output.suffix.lower()]
