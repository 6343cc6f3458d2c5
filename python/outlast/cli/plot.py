"""`outlast plot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast.cli.options import Whole, path_option

if TYPE_CHECKING:
    from outlast.plots.saving import Source


class Length(click.ParamType[float]):
    """A length on paper, such as 3.3in or 84mm."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from outlast.plots.style import length

        try:
            return length(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(
    "plot",
    epilog="""\b
Examples:
  outlast plot out/demo
  outlast plot out/demo distribution -o latency.pdf --width 3.3in
  outlast plot out/greedy out/fifo amplification-time -o policies.svg --grey
  outlast plot out/spare throughput-iops-0 -o iops.png --font serif --bands
  outlast plot out/fleet loss-by-year -o losses.pdf""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT... [CHART]")
@path_option("-o", "--out", "--output", "output", metavar="FILE", help="Output file: .pdf, .svg or .png.")
@click.option("--width", type=Length(), default="3.3in", metavar="LENGTH", help="Width. Default: 3.3in, a column.")
@click.option("--height", type=Length(), metavar="LENGTH", help="Height. Default: 0.68 of the width.")
@click.option(
    "--font", type=click.Choice(("sans-serif", "serif", "monospace")), default="sans-serif", help="Family of type."
)
@click.option("--size", type=Whole(4, 36), default=8, metavar="POINTS", help="Size of type. Default: 8.")
@click.option("--grey", is_flag=True, help="Without colour: greys, dashes and hatching.")
@click.option("--bands", is_flag=True, help="Confidence intervals of curves as bands instead of bars.")
@click.option("--dpi", type=Whole(50, 1200), default=300, metavar="N", help="Dots to an inch of a PNG. Default: 300.")
def plot_command(
    results: tuple[str, ...],
    output: Path | None,
    width: float,
    height: float | None,
    font: str,
    size: int,
    grey: bool,
    bands: bool,
    dpi: int,
) -> None:
    """Write a CHART of a RESULT, of several, or of a sweep as a figure for a paper; without a CHART, list them.

    A RESULT is a folder that `outlast run --out`, `outlast sweep` or `outlast fleet --out` wrote, or the file that
    `outlast plan --json` printed. Charts are those of its report. --bands draws confidence intervals as bands. Needs
    matplotlib: `pip install outlast[figures]`.
    """
    *named, last = results
    is_listing = output is None and (not named or Path(last).exists())
    if not is_listing and (not named or output is None):
        raise click.UsageError(
            "name a RESULT, a CHART and -o FILE; a RESULT alone lists its charts", click.get_current_context()
        )
    from outlast.plots import Style, charts_of, save

    source = _loaded(results if is_listing else named)
    if is_listing:
        for name, title in ((name, charts_of(source).figure_of(name).title) for name in charts_of(source).names):
            click.echo(f"{name:28}{title}".rstrip())
        return
    assert output is not None
    style = Style(width_in=width, height_in=height, font=font, size_pt=size, grey=grey, dpi=dpi, bands=bands)
    click.echo(f"written: {save(source, last, output, style)}", err=True)


def _loaded(names: list[str] | tuple[str, ...]) -> Source:
    from outlast.cli.report import is_sweep
    from outlast.plots import document_at

    if any(is_sweep(name) for name in names):
        if len(names) > 1:
            raise click.UsageError("a sweep is drawn by itself", click.get_current_context())
        from outlast.sweeps import load_sweep

        return load_sweep(names[0])
    for name in names:
        if (found := document_at(name)) is not None:
            if len(names) > 1:
                raise click.UsageError(f"a {found.kind} is drawn by itself", click.get_current_context())
            return found
    if len(names) > 1:
        from outlast.comparison import compare

        return compare(*names)
    from outlast.result import load

    return load(names[0])
