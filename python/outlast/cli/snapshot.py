"""`outlast snapshot`."""

from __future__ import annotations

from pathlib import Path

import click

from outlast import interrupts, log
from outlast.cli.options import layers_of, log_options, overrides_of, path_option, print_json, scenario_options

SCHEMA = "outlast-snapshot/1"


@click.command(
    "snapshot",
    epilog="""\b
Examples:
  outlast snapshot demo -o aged.outlast
  outlast run demo --set precondition.from=aged.outlast --set workload.synthetic.read_percent=0
  outlast snapshot mine.toml -o worn.outlast --set precondition.min_drive_writes=50""",
)
@scenario_options
@path_option("--out", "-o", metavar="FILE", required=True, help="Write the snapshot to this file.")
@click.option("--any-memory", is_flag=True, help="Continue even if there is not enough free memory.")
@click.option("--json", "as_json", is_flag=True, help="Print the file, its size and what it holds as JSON.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@log_options
def snapshot_command(
    scenario: str | None,
    preset: str | None,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    out: Path,
    any_memory: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Precondition the drive or array of SCENARIO and save its state to a file.

    A scenario with the same [device] and [array] can start from it with `precondition.from`, under any
    workload, as if it had done the preconditioning itself.
    """
    layers, overrides = layers_of(scenario, preset), overrides_of(settings, seed)
    from outlast import api
    from outlast.cli.progress import RunProgress

    with RunProgress(shown=not quiet) as bar:
        interrupts.defer_signals()

        def tell(phase: str, fraction: float | None, requests: int, simulated_s: float) -> bool:
            if bar is not None:
                bar(phase, fraction, requests, simulated_s)
            return not interrupts.stop_requests()

        written = api.snapshot(layers, out, overrides, progress=tell, any_memory=any_memory)
    if written is None:
        log.say(f"stopped by {interrupts.signal_name()}: nothing was written", level=log.WARNING)
        return interrupts.exit_code()
    if as_json:
        scenario_name = api.resolve(layers, overrides)["name"]
        print_json({"schema": SCHEMA, "scenario": scenario_name, "file": str(written), "bytes": written.stat().st_size})
    if not quiet or log.is_on():
        log.written(out)
    return 0
