"""`outlast run --corners`: sequential and random reads and writes of one drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts, log

if TYPE_CHECKING:
    from outlast.sweeps import Sweep

COLUMNS = ("corner", "IOPS", "MB/s", "mean", "99 %", "99.9 %", "write amplification", "data sheet", "difference")
FAILED = 1
LONG_S = 60.0
"""Processor time of all corners, in seconds, from which on it is said beforehand."""


def run_corners(
    layers: list[Any],
    overrides: list[tuple[str, str]],
    jobs: int | None,
    of_one_run: Mapping[str, bool],
    *,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Runs the four corners as a sweep and prints them as a table, or its sweep.json.

    `of_one_run`: options that make no sense with corners, and whether they were given.
    """
    if given := [name for name, is_given in of_one_run.items() if is_given]:
        raise click.UsageError(f"{given[0]} belongs to one run, not to --corners", click.get_current_context())
    import tempfile

    from outlast import api, corners
    from outlast.cli.progress import SweepProgress
    from outlast.costs import span
    from outlast.sweeps import sweep

    interrupts.raise_on_signal()
    whole = api.resolve(layers, overrides)
    spec = corners.spec(whole, layers, overrides)
    if not quiet and (told := corners.cost(layers, spec)) >= LONG_S:
        smaller = "with fewer device.geometry.pages_per_block the drive is smaller, and as fast"
        log.say(f"four runs, {span(told)} of processor time; {smaller}", "long corners", cpu_s=told)
    with (
        tempfile.TemporaryDirectory() if out is None else nullcontext(out) as place,
        SweepProgress(shown=not quiet) as tell,
    ):
        done = sweep(spec, place, jobs=jobs, progress=tell)
    if as_json:
        click.echo(done.to_json(), nl=False)
    elif not quiet:
        _show(done, whole)
    for run in done.failed:
        name = corners.CORNERS[run["point"]].name
        log.say(f"failed: {name}: {run['error']}", "run failed", level=log.ERROR, corner=name, error=run["error"])
    if out is not None and (not quiet or log.is_on()):
        log.written(*(out / name for name in ("sweep.parquet", "sweep.json", "report.html")))
    return FAILED if done.failed else 0


def _show(done: Sweep, whole: Mapping[str, Any]) -> None:
    from outlast.cli import paper

    console = paper.console()
    console.print(f"{whole['name']}: {whole['device']['model']}", style="bold", markup=False)
    rows = list(rows_of(done.points, whole))
    used = [index for index in range(len(COLUMNS)) if any(row[index] != "–" for row in rows)]
    titles = [COLUMNS[index] for index in used]
    shown = [[row[index] for index in used] for row in rows]
    for table in paper.whole(titles, shown, [index == 0 for index in used], 1, paper.room()):
        paper.show(table)


def rows_of(points: Sequence[Mapping[str, Any]], whole: Mapping[str, Any]) -> list[list[str]]:
    """A row of `COLUMNS` for each corner that was measured."""
    from outlast.corners import CORNERS, promise, rate
    from outlast.report.names import written

    rows = []
    for point in points:
        corner, figures = CORNERS[point["point"]], point["figures"]

        def shown(name: str, figures: Mapping[str, Any] = figures) -> str:
            mean = (figures.get(name) or {}).get("mean")
            return "–" if mean is None else written(name, mean)

        reached, promised = rate(figures, corner), promise(whole, corner)
        rows.append([
            corner.name,
            shown("throughput.iops"),
            _megabytes(figures, corner.op),
            *(shown(f"latency_us.{corner.op}.{key}") for key in ("mean", "p99", "p99_9")),
            shown("write_amplification.total") if corner.op == "write" else "–",
            "–" if promised is None else _rate(promised, is_random=corner.is_random),
            "–" if promised is None or reached is None else f"{reached / promised - 1:+.0%}",
        ])  # fmt: skip
    return rows


def _megabytes(figures: Mapping[str, Any], op: str) -> str:
    from outlast.report.numbers import short

    mean = (figures.get(f"throughput.{op}_mib_s") or {}).get("mean")
    return "–" if mean is None else short(mean * 2**20 / 1e6)


def _rate(value: float, *, is_random: bool) -> str:
    from outlast.report.numbers import short

    return f"{short(value)} IOPS" if is_random else f"{short(value / 1e6)} MB/s"
