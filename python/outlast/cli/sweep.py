"""`outlast sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts, log
from outlast.cli import complete
from outlast.cli.options import Setting, Whole, log_options, path_option

if TYPE_CHECKING:
    from outlast.sweeps import Sweep

FAILED = 1
MOST_ROWS = 40


@click.command(
    "sweep",
    epilog="""\b
Examples:
  outlast sweep spare.toml
  outlast sweep spare.toml --out out/spare --jobs 1 --json
  outlast sweep spare.toml --set device.ftl.gc.policy=fifo --out out/fifo
  outlast sweep spare.toml --on tcp://cluster:8786
  outlast sweep spare.toml --on slurm --slurm queue=long --slurm walltime=02:00:00 --slurm jobs=20
Exit code 1: the sweep is complete and written, but some runs failed repeatedly.""",
)
@click.argument("file", metavar="FILE.toml")
@path_option("-o", "--out", metavar="DIR", help="Output folder. Default: out/NAME. Runs saved there are not repeated.")
@click.option("--jobs", type=Whole(1), metavar="N", help="Number of parallel runs. Default: one for each core.")
@click.option("--on", metavar="WHERE", help="A Dask scheduler (tcp://host:8786), or slurm. Default: this machine.")
@click.option(
    "--slurm",
    type=Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of dask_jobqueue.SLURMCluster, or jobs=N, the number of jobs to submit; repeatable.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=complete.settings,
    help="Change one setting of every point by its dotted name; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print sweep.json on standard output.")
@click.option("--quiet", is_flag=True, help="No progress bar and no summary.")
@log_options
def sweep_command(
    file: str,
    out: Path | None,
    jobs: int | None,
    on: str | None,
    slurm: tuple[tuple[str, str], ...],
    settings: tuple[tuple[str, str], ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Run a scenario with many combinations of settings, as described in FILE.toml.

    Writes sweep.parquet (a row for each run), sweep.json (means with confidence intervals, the Pareto front) and
    report.html. Each run is saved when it ends; after Ctrl-C, the same command continues.
    """
    from outlast.cli.progress import SweepProgress
    from outlast.sweeps import sweep

    last_progress = (0, 0)
    try:
        interrupts.raise_on_signal()
        with SweepProgress(shown=not quiet) as bar:

            def tell(done: int, wanted: int) -> None:
                nonlocal last_progress
                last_progress = (done, wanted)
                if bar is not None:
                    bar(done, wanted)

            options = _slurm_options(slurm) if on == "slurm" else dict(slurm)
            done = sweep(file, out, overrides=settings, jobs=jobs, on=on, slurm=options, progress=tell)
    except KeyboardInterrupt:
        if last_progress == (0, 0):
            raise
        kept = f"at least {last_progress[0]} of {last_progress[1]} runs are kept; the same command continues"
        log.say(f"stopped by {interrupts.signal_name()}: {kept}", level=log.WARNING)
        return interrupts.exit_code()
    if as_json:
        click.echo(done.to_json(), nl=False)
    elif not quiet:
        _show(done)
    folder = out or Path("out") / done.summary["name"]
    for run in done.failed:
        point, repeat, error = run["point"], run["repeat"], run["error"]
        text = f"failed: point {point}, repeat {repeat}: {error}"
        log.say(text, "run failed", level=log.ERROR, point=point, repeat=repeat, error=error)
    if (not quiet and not as_json) or log.is_on():
        log.written(*(folder / name for name in ("sweep.parquet", "sweep.json", "report.html")))
    return FAILED if done.failed else 0


def _slurm_options(given: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Options that --slurm gave, checked before points are resolved; Dask and its queues are loaded only here."""
    from outlast.points.slurm import options_of

    return options_of(given) if given else {}


def _show(done: Sweep) -> None:
    """Prints the points with their figures, and which of them no other beats."""
    from outlast.cli import paper
    from outlast.report import sweep_search
    from outlast.report.names import spoken
    from outlast.report.sweep_points import is_any_best, notes, points_table

    summary, varied = done.summary, len(done.summary["sweep"]["vary"])
    titles, rows = points_table(summary, MOST_ROWS)
    left = [index < varied or title == "front" for index, title in enumerate(titles)]
    for table in paper.whole(titles, rows, left, varied, paper.room()):
        paper.show(table)
    console = paper.console()
    if is_any_best(summary):
        console.print("* the best, ~ within error of the best")
    if len(done.points) > MOST_ROWS:
        console.print(f"and {len(done.points) - MOST_ROWS} more points")
    if done.front:
        figures = ", ".join(spoken(each["figure"]) for each in summary["pareto"]["figures"])
        console.print(f"front: no other point is at least as good in every figure ({figures}) and better in one")
    if best := sweep_search.sentence(summary):
        console.print(best, markup=False)
    if refused := summary.get("search", {}).get("refused"):
        first = refused[0]
        console.print(f"{len(refused)} points refused, the first ({first['point']}): {first['error']}", markup=False)
    for remark in notes(summary):
        console.print(remark, markup=False)
