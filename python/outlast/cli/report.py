"""`outlast report` and `outlast compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from outlast.cli.options import path_option, print_json


@click.command(
    "report",
    epilog="""\b
Examples:
  outlast report out/demo
  outlast report out/greedy out/fifo -o policies.html""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@path_option(
    "-o", "--output", metavar="FILE", help="Output file. Default: report.html in the result, or comparison.html here."
)
def report_command(results: tuple[str, ...], output: Path | None) -> None:
    """Write the HTML report of one RESULT, or a comparison of several.

    A RESULT is a folder that `outlast run --out` wrote, or the result.json in it; or, by itself, the folder of an
    `outlast sweep`.
    """
    from outlast.output import check_file, write_file
    from outlast.report import render
    from outlast.result import load

    if output is None:
        first = Path(results[0])
        home = first if first.is_dir() else first.parent
        output = home / "report.html" if len(results) == 1 else Path("comparison.html")
    if any(_is_sweep(result) for result in results):
        if len(results) > 1:
            raise click.UsageError("a sweep is reported by itself", click.get_current_context())
        from outlast.sweeps import load_sweep

        sweep = load_sweep(results[0])
        check_file(output)
        sweep.report(output)
    else:
        loaded = [load(result) for result in results]
        check_file(output)
        write_file(output, render(loaded))
    click.echo(f"written: {output}", err=True)


def _is_sweep(result: str) -> bool:
    place = Path(result)
    return place.name == "sweep.json" or (place.is_dir() and (place / "sweep.json").is_file())


@click.command(
    "compare",
    epilog="""\b
Examples:
  outlast compare out/greedy out/fifo
  outlast compare drive.json out/mine
  outlast compare out/*/ --json""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT RESULT...")
@click.option("--json", "as_json", is_flag=True, help="Print every setting and figure that differs as JSON.")
def compare_command(results: tuple[str, ...], as_json: bool) -> None:
    """Show which settings and figures differ between results; changes are relative to the first.

    A RESULT may also be a measurement of a real drive: the JSON that fio writes with --output-
    format=json+. Rates and latencies are then compared job by job.
    """
    if len(results) < 2:
        raise click.UsageError("comparing takes two results or more", click.get_current_context())
    from outlast.compare import compare, compare_with_measured, load_any
    from outlast.result import Result

    loaded = [load_any(result) for result in results]
    simulated = [result for result in loaded if isinstance(result, Result)]
    differences = compare(simulated) if len(simulated) == len(loaded) else compare_with_measured(loaded)
    if as_json:
        print_json(differences)
    else:
        _show(differences)


def _show(differences: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    if not differences["settings"] and not differences["figures"]:
        console.print("no difference, except for what the runs cost")
        return
    for title, rows in (("setting", differences["settings"]), ("figure", differences["figures"])):
        if not rows:
            continue
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column(title, no_wrap=True)
        for name in differences["names"]:
            table.add_column(name, justify="right")
        for name, row in rows.items():
            values = row if isinstance(row, list) else row["values"]
            changes = [None] * len(values) if isinstance(row, list) else row["change"]
            pairs = zip(values, changes, strict=True)
            table.add_row(name, *(_cell(value, change, first=i == 0) for i, (value, change) in enumerate(pairs)))
        console.print(table)


def _cell(value: Any, change: float | None, *, first: bool) -> str:
    if value is None:
        text = "–"
    elif isinstance(value, bool):
        text = str(value)
    elif isinstance(value, (int, float)):
        text = f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1e4 else f"{value:,.0f}"
    elif isinstance(value, list):
        # Of a list of figures, such as the utilisation of each channel, a digit more than a person compares.
        text = ", ".join(_cell(each, None, first=True) for each in value)
    else:
        text = str(value)
    return text if first or change is None else f"{text} [dim]{change:+.1%}[/]"
