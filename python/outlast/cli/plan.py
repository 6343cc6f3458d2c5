"""`outlast plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast.cli.options import path_option, print_json

if TYPE_CHECKING:
    from outlast.planning import LayoutPlan


@click.command(
    "plan",
    epilog="""\b
Examples:
  outlast plan eight-drives.toml
  outlast plan eight-drives.toml -o plan.html
  outlast plan eight-drives.toml --json > plan.json
A plan file:
  years = 5
  [drives]
  preset = "solidigm-p5336-7680g"
  count = 8
  capacity = "7.68TB"
  price = 800
  dwpd = 0.5
  [workload]
  written_per_day = "2TB"
  [[layout]]
  level = "raid6\"""",
)
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN")
@click.option("--json", "as_json", is_flag=True, help="Print the plan and its figures as JSON.")
@path_option("-o", "--out", "--output", "output", metavar="FILE", help="Write a page to be printed (.html), too.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def plan_command(plan: Path, as_json: bool, output: Path | None, quiet: bool) -> None:
    """Compare layouts of an array over years: capacity, risk, rebuild, endurance and price.

    Each [[layout]] of the PLAN is simulated twice under its load, healthy and while a failed drive is rebuilt;
    without any, RAID-5, RAID-6 and RAID-10 are compared.
    """
    from outlast import planning
    from outlast.output import check_file, write_file

    if output is not None:
        if output.suffix.lower() not in (".html", ".htm"):
            raise click.UsageError(f"-o {output}: the page is HTML: name it {output.with_suffix('.html').name}")
        check_file(output)

    def tell(name: str) -> None:
        if not quiet:
            click.echo(f"simulating {name}", err=True)

    found = planning.plan(plan, told=tell)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _show(found)
    if output is not None:
        write_file(output, found.html())
        click.echo(f"written: {output}", err=True)


def _show(found: LayoutPlan) -> None:
    from outlast.cli import paper
    from outlast.planning import words

    console = paper.console()
    console.print(f"{found.spec.name}: {words.title(found)}", style="bold", markup=False)
    names = [layout.name for layout in found.layouts]
    left = [True, *[False] * len(names)]
    rows: list[list[str]] = []
    for title, group in words.groups(found):
        rows += [[title.upper(), *[""] * len(names)], *([f"  {name}", *values] for name, values in group)]
    for table in paper.whole(["", *names], rows, left, 1, paper.room()):
        paper.show(table)
    for note in words.notes(found):
        console.print(note, markup=False)
