"""`outlast report`."""

from __future__ import annotations

from pathlib import Path

import click

from outlast.cli.options import path_option


@click.command(
    "report",
    epilog="""\b
Examples:
  outlast report out/demo
  outlast report out/greedy out/fifo -o policies.html""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@path_option(
    "-o",
    "--out",
    "--output",
    "output",
    metavar="FILE",
    help="Output file. Default: report.html in the result, or comparison.html here.",
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
    if output.suffix.lower() not in ("", ".html", ".htm"):
        named = output.with_suffix(".html").name
        limit = f"a report is HTML: name it {named}; `outlast plot` writes single charts as PDF, SVG or PNG"
        raise click.UsageError(f"-o {output}: {limit}", click.get_current_context())
    if any(is_sweep(result) for result in results):
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


def is_sweep(result: str) -> bool:
    """True if it is the folder of a sweep, or the sweep.json in it."""
    place = Path(result)
    return place.name == "sweep.json" or (place.is_dir() and (place / "sweep.json").is_file())
