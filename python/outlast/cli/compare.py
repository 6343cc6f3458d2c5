"""`outlast compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from outlast.cli.options import print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from outlast.comparison import Comparison
    from outlast.result import Result

NAME_WIDTH, VALUE_WIDTH = 34, 17
"""Columns of the terminal for a name and for a value; longer ones go on in the next line."""
Row = tuple[str, list[str], list[str]]
"""A name, a value for each result, and how each stands to the first."""


@click.command(
    "compare",
    epilog="""\b
Examples:
  outlast compare out/greedy out/fifo
  outlast compare out/greedy out/fifo --all
  outlast compare drive.json out/mine
  outlast compare out/*/ --json
  outlast compare out/greedy-repeats out/fifo-repeats""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT RESULT...")
@click.option("--all", "everything", is_flag=True, help="List every figure that differs, by its dotted name.")
@click.option("--json", "as_json", is_flag=True, help="Print every setting and figure that differs as JSON.")
def compare_command(results: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Show which settings and figures differ between results; changes are relative to the first.

    A RESULT may also be a measurement of a real drive, in the JSON that fio writes with
    --output-format=json+. Rates and latencies are then compared job by job. Folders of `outlast run --repeats` are
    compared by a test of each figure: paired where both have the same seeds, else Welch's.
    """
    if len(results) < 2:
        raise click.UsageError("comparing takes two results or more", click.get_current_context())
    from outlast.repeats_compared import is_repeats

    if any(map(is_repeats, results)):
        if not all(map(is_repeats, results)):
            raise click.UsageError("repeats are compared with repeats", click.get_current_context())
        from outlast.cli.compare_repeats import compare_repeats

        compare_repeats(results, everything=everything, as_json=as_json)
        return
    from outlast.comparison import compare

    found = compare(*results)
    if as_json:
        print_json(found.differences)
    else:
        _show(found, everything=everything)


def _show(found: Comparison, *, everything: bool) -> None:
    from outlast.cli.paper import console

    paper, differences, names = console(), found.differences, found.names
    simulated = [] if found.measured else found.runs
    if not differences["settings"] and not differences["figures"]:
        paper.print("no difference, except for what the runs cost")
        return
    if simulated:
        from outlast.report.differences import title

        paper.print(title(simulated, names), style="bold", markup=False)
    settings: list[Row] = [
        (_broken(key), [_text(value) for value in row], []) for key, row in differences["settings"].items()
    ]
    _print(paper, "setting", names, settings)
    headline = list(_headline(simulated)) if simulated else []
    alike = [name for name, _, changes in headline if set(changes) == {"the same"}]
    _print(paper, "figure", names, [row for row in headline if row[0] not in alike])
    if alike:
        paper.print(f"the same: {'; '.join(alike)}", markup=False)
    if any("≈" in change for _, _, changes in headline for change in changes):
        paper.print("≈ the confidence intervals of both runs overlap")
    figures = differences["figures"]
    if everything or not simulated:
        _print(paper, "figure", names, [_row(key, row["values"]) for key, row in figures.items()])
    elif figures:
        paper.print(f"{len(figures)} figures differ: --all lists them, --json prints them")


def _headline(simulated: Sequence[Result]) -> Iterator[Row]:
    """The rows of the report's table."""
    from outlast.report import differences
    from outlast.report.comparison import shown_rows
    from outlast.report.names import figure_of, heading, written

    summaries = [result.summary for result in simulated]
    for name in shown_rows(summaries):
        values = [figure_of(summary, name) for summary in summaries]
        first = (values[0], summaries[0])
        others = zip(values[1:], summaries[1:], strict=True)
        changes = [differences.change(name, first, compared).replace(", within error", " ≈") for compared in others]
        yield heading(name), [written(name, value) for value in values], changes


def _row(name: str, values: Sequence[Any]) -> Row:
    from outlast.report.differences import change
    from outlast.report.names import carries, unit, written

    unit_name = "" if carries(name) else unit(name)
    changes = [change(name, (values[0], {}), (value, {})) for value in values[1:]]

    def shown(value: Any) -> str:
        known = carries(name) and isinstance(value, int | float) and not isinstance(value, bool)
        return written(name, value, 4) if known else _text(value)

    return _broken(f"{name} ({unit_name})" if unit_name else name), [shown(value) for value in values], changes


def _text(value: Any) -> str:
    """A value as a person compares it."""
    from outlast.report.numbers import short

    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return short(value, 4)
    if isinstance(value, list) and len(value) > 4 and all(isinstance(each, int | float) for each in value):
        return f"{short(min(value))} to {short(max(value))}"
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _broken(name: str) -> str:
    """A dotted name on as many lines as it takes, broken after dots where it can be."""
    lines = [""]
    for part in name.replace(".", ".\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > NAME_WIDTH:
            lines.append("  ")
        lines[-1] += part
    return "\n".join(lines)


def _print(paper: Console, of: str, names: Sequence[str], rows: Sequence[Row]) -> None:
    """The rows as tables of as many results as there is room for, the first in each of them."""
    from rich.measure import Measurement

    start = 1 if rows else len(names)
    while start < len(names):
        for last in range(len(names), start, -1):
            table = _table(of, names, rows, range(start, last))
            wanted = Measurement.get(paper, paper.options.update(width=1000), table).maximum
            if last == start + 1 or wanted <= paper.width:
                break
        paper.print(table)
        start = last


def _table(of: str, names: Sequence[str], rows: Sequence[Row], others: Sequence[int]) -> Table:
    from rich.markup import escape

    from outlast.cli.paper import ruled

    table, with_changes = ruled(), any(changes for _, _, changes in rows)
    table.add_column(of, overflow="fold", max_width=NAME_WIDTH)
    table.add_column(escape(names[0]), justify="right", overflow="fold", max_width=VALUE_WIDTH)
    for number in others:
        table.add_column(escape(names[number]), justify="right", overflow="fold", max_width=VALUE_WIDTH)
        if with_changes:
            table.add_column("", style="dim", no_wrap=True)
    for name, values, changes in rows:
        cells = [name, values[0]]
        for number in others:
            cells += [values[number], *([changes[number - 1]] if with_changes else [])]
        table.add_row(*map(escape, cells))
    return table
