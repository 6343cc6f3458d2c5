"""HTML of a result, of a comparison, and of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlast.notebook.html import framed, note, table
from outlast.report import comparison, latency, single, tiles
from outlast.report.numbers import short, text

if TYPE_CHECKING:
    from outlast.comparison import Comparison
    from outlast.result import Result
    from outlast.sweeps import Sweep

MOST_WINDOWS = 120
"""Points of a small curve."""
MOST_ROWS = 40
"""Rows of a table, beyond which a note says how many there are more."""


def result(shown: Result) -> str:
    """The headline figures of a result with what a reader must know before believing them, and its percentiles."""
    summary = shown.summary
    return framed(
        summary["name"],
        single.about(summary),
        f"<p>{single.badges(summary)}</p>",
        f'<div class="tiles">{tiles.tiles(shown, MOST_WINDOWS)}</div>',
        latency.percentile_table(summary),
        note(f"tables: {', '.join(shown.tables) or 'none'}"),
    )


def compared(shown: Comparison) -> str:
    """The figures that a person compares first, and the settings that differ."""
    if shown.measured:
        return _with_measured(shown)
    rows = [(name, *map(_setting, values)) for name, values in shown.differences["settings"].items()]
    settings = [table(["setting", *shown.names], rows[:MOST_ROWS])] if rows else [note("all settings are the same")]
    return framed(
        " against ".join(shown.names),
        f"changes are against {text(shown.names[0])}",
        comparison.headline(shown.runs),
        *settings,
        _more(len(rows), "settings"),
    )


def _with_measured(shown: Comparison) -> str:
    """Rates and latencies, job by job."""
    figures = shown.differences["figures"]
    rows = [
        (name, *("–" if value is None else short(value, 4) for value in row["values"])) for name, row in figures.items()
    ]
    return framed(
        " against ".join(shown.names),
        "rates and latencies as fio names them",
        table(["figure", *shown.names], rows[:MOST_ROWS]),
        _more(len(rows), "figures"),
    )


def sweep(shown: Sweep) -> str:
    """The points of a sweep with the means of their figures and how sure these are."""
    from outlast.report.sweep_points import points_table

    summary = shown.summary
    titles, rows = points_table(summary)
    about = f"{len(shown.points)} points, {summary['runs']} runs"
    for count, state in ((len(shown.failed), "failed"), (summary["not_steady"], "not in steady state")):
        about += f", {count} {state}" if count else ""
    varied = len(summary["sweep"]["vary"])
    front = [
        note(
            "* the best, ~ within error of the best; front: no other point is at least as good in "
            "every figure and better in one"
        )
    ]
    return framed(
        summary["name"], about, table(titles, rows[:MOST_ROWS], texts=varied), _more(len(rows), "points"), *front
    )


def _more(count: int, noun: str) -> str:
    return note(f"and {count - MOST_ROWS} {noun} more") if count > MOST_ROWS else ""


def _setting(value: Any) -> str:
    return "–" if value is None else str(value)
