"""The result on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from outlast.products.torture.check_request import LIAR
from outlast.products.torture.junit import why
from outlast.products.torture.probability import Risk
from outlast.products.torture.result import Failure, Result
from outlast.report.numbers import percent, seconds, short

MOST_FAILURES = 5
MOST_LINES = 6
"""Lost writes, and lines of output, that are shown of a failure."""
ALLOWED = {
    "contract": "any drive that keeps its promises may be left in this state",
    "drive": "this drive is left in this state",
    **dict.fromkeys(LIAR, "only a drive that breaks its promises is left in this state"),
}
"""Meaning of a bad state, by model."""

NOTHING = "no write is lost: the program had sent no other write before the power was lost"


def show(result: Result, console: Console | None = None) -> None:
    """Prints what a person wants to know first."""
    from outlast.cli.paper import Paper

    console = console or Paper(highlight=False, soft_wrap=True)
    bad = len(result.bad)
    colour, what = ("red", f"{bad} bad") if bad else ("green", "none bad")
    stop = f"; stopped by {_stopper(result.stopped)}" if result.stopped else ""
    left = sum(result.planned.values()) - len(result.verdicts)
    rest = f", {left} not checked{stop}" if left else ""
    console.print(f"[bold {colour}]{what}[/] of {len(result.verdicts)} states{rest}   {speed(result)}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    for name in ("states", "checked", "bad"):
        table.add_column(name, justify="right")
    table.add_column("power loss at a random instant")
    for model, counts in result.by_model().items():
        risks = [f"{named(group, model)}{risk_text(risk)}" for group, risk in result.risks_of(model).items()]
        cells = [str(counts[name]) for name in ("planned", "checked", "bad")]
        table.add_row(model, *cells, "\n".join(risks) or "–")
    console.print(table)
    for failure in result.failures[:MOST_FAILURES]:
        _failure(failure, result, console)
    if len(result.failures) > MOST_FAILURES:
        console.print(f"and {len(result.failures) - MOST_FAILURES} more distinct failures")


def speed(result: Result) -> str:
    """States a second, over what and by how many."""
    workers = f"{result.request.jobs} worker{'s' if result.request.jobs > 1 else ''}"
    where = "in process" if result.request.in_process else f"{result.request.fs}, {result.backend}"
    if not result.checked_now:
        return f"all checked earlier; {where}"
    return f"{short(result.rate)} states/s ({seconds(result.seconds)}, {workers}; {where})"


def _stopper(stopped: str | None) -> str:
    return "the budget" if stopped == "budget" else str(stopped)


def named(group: str, model: str) -> str:
    """Prefix of lines about a group: its name, unless it is the model's."""
    return "" if group == model else f"{group}: "


def risk_text(risk: Risk) -> str:
    """The probability, with its interval where it is not exact."""
    if risk.exact:
        return f"{percent(risk.value)} (exact)"
    if risk.value is None:
        return f"{percent(risk.low)} to {percent(risk.high)}"
    return f"{percent(risk.value)} ({percent(risk.low)} to {percent(risk.high)})"


def _failure(failure: Failure, result: Result, console: Console) -> None:
    smallest, count = failure.smallest, len(failure.states)
    meaning = ALLOWED.get(failure.states[0].model)
    console.print(
        f"[bold]{escape(why(smallest))}[/]   {count} state{'s' if count > 1 else ''} of {failure.states[0].group}"
        f"{f': {meaning}' if meaning else ''}"
    )
    for line in smallest.output.strip().splitlines()[-MOST_LINES:]:
        console.print(f"  [dim]│[/] {escape(line)}")
    first = failure.states[0]
    how = "the fewest possible" if failure.minimal else "fewer might be enough"
    by = f"{failure.checks} check{'s' if failure.checks != 1 else ''}"
    shrunk = f" ({by} reduced {first.lost} lost to {smallest.lost})" if smallest.lost < first.lost else ""
    console.print(f"  lost, {how}{shrunk}:" if smallest.lost else f"  {NOTHING}{shrunk}")
    for entry in smallest.witness[:MOST_LINES]:
        console.print(f"    {escape(str(entry['text']))}")
    if smallest.lost > MOST_LINES:
        console.print(f"    and {smallest.lost - MOST_LINES} more")
    console.print(f"  again: {escape(result.request.reproduce(smallest.state))}\n")


def files(folder: Path) -> list[Path]:
    """Files of the complete result."""
    return [folder / name for name in ("report.html", "junit.xml", "result.json")]
