"""`outlast explain`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts
from outlast.cli.options import Whole, layers_of, overrides_of, path_option, scenario_options

if TYPE_CHECKING:
    from outlast.result import Result
    from outlast.why import Explanation, Gain, Trials


@click.command(
    "explain",
    epilog="""\b
Examples:
  outlast explain out/demo
  outlast explain mine.toml --set workload.synthetic.queue_depth=1
  outlast explain demo --try --set workload.synthetic.duration=2s
  outlast explain out/demo --try --repeats 5 --json""",
)
@scenario_options
@click.option("--try", "trials", is_flag=True, help="Run the scenario again with one part at a time 10 % better.")
@click.option("--repeats", type=Whole(1, 1000), metavar="N", help="Seeds used by --try. Default: 3.")
@click.option("--jobs", type=Whole(1), metavar="N", help="Parallel runs of --try. Default: one for each core.")
@path_option("--keep", metavar="DIR", help="Where --try saves its runs, which are not repeated. Default: out/explain.")
@click.option("--json", "as_json", is_flag=True, help="Print sentences, figures and gains as JSON.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def explain_command(
    scenario: str | None,
    preset: str | None,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    trials: bool,
    repeats: int | None,
    jobs: int | None,
    keep: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Explain what limits a drive, in sentences with the figures of result.json that support them.

    SCENARIO is the folder of a result, or a scenario, which is then run.
    """
    if not trials and (repeats, jobs, keep) != (None, None, None):
        raise click.UsageError("--repeats, --jobs and --keep belong to --try", click.get_current_context())
    from outlast.cli.progress import RunProgress
    from outlast.why import explain

    result = _result(scenario, preset, settings, seed, quiet=quiet)
    if interrupts.stop_requests():
        click.echo(f"stopped by {interrupts.signal_name()}: {result.reach()}", err=True)
        return interrupts.exit_code()
    last_progress = (0, 0)
    try:
        with RunProgress(shown=trials and not quiet) as bar:
            interrupts.raise_on_signal()

            def tell(done: int, wanted: int) -> None:
                nonlocal last_progress
                last_progress = (done, wanted)
                if bar is not None:
                    bar(f"run {done} of {wanted}", done / wanted, 0, 0.0)

            found = explain(result, trials=trials, repeats=repeats or 3, jobs=jobs, folder=keep, progress=tell)
    except KeyboardInterrupt:
        if last_progress == (0, 0):
            raise
        click.echo(
            f"stopped by {interrupts.signal_name()}: at least {last_progress[0]} of {last_progress[1]} runs are kept",
            err=True,
        )
        return interrupts.exit_code()
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        show(found)
    return 0


def _result(
    scenario: str | None, preset: str | None, settings: tuple[tuple[str, str], ...], seed: int | None, *, quiet: bool
) -> Result:
    """The result that is named, or that of the scenario that is."""
    if preset is None and scenario is not None and _is_result(Path(scenario)):
        if settings or seed is not None:
            raise click.UsageError(
                f"{scenario} is a result and explained as it is; --set and --seed belong to a scenario",
                click.get_current_context(),
            )
        from outlast.result import load

        return load(scenario)
    from outlast import api
    from outlast.cli.progress import RunProgress
    from outlast.why.explanation import needed_settings

    layers = layers_of(scenario, preset)
    changes = overrides_of(settings, seed)
    overrides = [*needed_settings(layers, changes), *changes]
    with RunProgress(shown=not quiet) as bar:

        def tell(phase: str, fraction: float | None, requests: int, simulated_s: float) -> bool:
            if bar is not None:
                bar(phase, fraction, requests, simulated_s)
            return not interrupts.stop_requests()

        return api.run(layers, overrides, progress=tell)


def _is_result(place: Path) -> bool:
    return (place.is_dir() and (place / "result.json").is_file()) or place.suffix == ".json"


def show(found: Explanation) -> None:
    """Prints the sentences, each with its figures, and the table of gains."""
    from rich.markup import escape

    from outlast.cli.paper import Paper

    console = Paper(highlight=False, soft_wrap=True)
    console.print(f"[bold]{escape(found.name)}[/]")
    for number, sentence in enumerate(found.sentences, 1):
        console.print(f"{number}. {escape(sentence.text)}")
        named = ", ".join(f"{name} = {_value(value)}" for name, value in sentence.figures.items())
        console.print(f"   [dim]{escape(named)}[/]")
    if found.trials is not None:
        _gains(found.trials)


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


COLUMNS = {"iops": "IOPS", "read_p99": "read p99", "write_p99": "write p99"}


def _gains(trials: Trials) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from outlast.cli.paper import Paper

    console = Paper(highlight=False, width=None if sys.stdout.isatty() else 120)
    shown = [name for name in COLUMNS if any(gains[name].mean is not None for _, gains in trials.rows)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("part, 10 % better")
    table.add_column("from")
    table.add_column("to")
    for name in shown:
        table.add_column(COLUMNS[name], justify="right", no_wrap=True)
    for change, gains in trials.rows:
        table.add_row(change.part, change.before, change.after, *(_cell(gains[name]) for name in shown))
    console.print(table)
    if trials.repeats > 1:
        console.print(
            f"± is the 95 % confidence interval over {trials.repeats} seeds; changes in brackets may be due to chance."
        )
    else:
        console.print("One seed: no confidence intervals; --repeats 3 gives them.")
    for change, why in trials.left_out:
        console.print(f"left out: {change.part}: {why}", markup=False)


def _cell(gain: Gain) -> str:
    if gain.mean is None:
        return "–"
    text = f"{gain.mean:+.1%}"
    if gain.half is None:
        return text
    text += f" ± {100 * gain.half:.1f}"
    return text if gain.beyond_chance else f"({text})"
