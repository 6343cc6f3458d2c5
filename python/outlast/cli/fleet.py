"""`outlast fleet`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from outlast import interrupts, log
from outlast.cli.options import log_options, path_option

if TYPE_CHECKING:
    from outlast.fleet.reading import Settings


@click.command(
    "fleet",
    epilog="""\b
Examples:
  outlast fleet scenarios/fleet/ten-thousand.toml
  outlast fleet fleet.toml --json
  outlast fleet fleet.toml --out out/fleet            # result.json, report.html, fleet.parquet
  outlast fleet fleet.toml --set drive.die_repair=true --set code.parity=4
  outlast fleet fleet.toml --vary code.parity=2,3 --vary drive.afr=0.01,0.02 --out out/grid
  outlast fleet --presets                             # failures as field studies found them
A fleet file in short:
  [cluster]                  [drive]               [code]           [repair]
  racks = 10                 capacity = "32TB"     data = 8         drive_mb_s = 100
  nodes = 10; drives = 100   afr = 0.01            parity = 3       detection_hours = 0.25""",
)
@click.argument("file", metavar="FILE.toml", required=False)
@path_option("-o", "--out", metavar="DIR", help="Write result.json, report.html and fleet.parquet here.")
@click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE", help="Change one setting by its dotted name; repeatable."
)
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME=VALUE,VALUE",
    help="A study for each value; repeatable, for each combination. With --out, those that are there are kept.",
)
@click.option(
    "--on", default="", metavar="WHERE", help="A Dask scheduler (tcp://host:8786) that simulates whole fleets."
)
@click.option("--force", is_flag=True, help="Overwrite a result in DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on standard output.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
@click.option("--presets", "show_presets", is_flag=True, help="List presets of field studies with sources, and end.")
@click.option("--settings", "show_settings", is_flag=True, help="List all settings of a fleet file, and end.")
@log_options
def fleet_command(
    file: str | None,
    out: Path | None,
    changes: tuple[str, ...],
    vary: tuple[str, ...],
    on: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    show_presets: bool,
    show_settings: bool,
) -> None:
    """Find how probable a loss of data is in a cluster over years, and what would change it.

    FILE.toml describes sites, racks, nodes and drives, a code and a placement, failures and repair. Groups of drives
    that a Markov chain describes are solved exactly; else losses are found by rare-event simulation. Whole fleets are
    played for what a year brings: failures, days degraded, rebuild traffic, cost.
    """
    if show_presets or show_settings:
        click.echo(_presets() if show_presets else _settings())
        return
    if file is None:
        raise click.UsageError("name a fleet file: outlast fleet FILE.toml", click.get_current_context())
    from outlast.cli.progress import StagesProgress
    from outlast.fleet.reading import read, with_changes
    from outlast.fleet.study import study

    interrupts.raise_on_signal()
    settings = with_changes(read(file), changes)
    if out is not None:
        from outlast.output import check_writable

        check_writable(out / "result.json")
    if vary:
        _sweep(settings, vary, out, on, as_json=as_json, quiet=quiet)
        return
    target = None if out is None else out / "result.json"
    if target is not None and target.exists() and not force:
        raise click.UsageError(f"{target} exists; --force overwrites it", click.get_current_context())
    with StagesProgress(shown=not (quiet or as_json)) as tell:
        result = study(settings, tell, on=on)
    text = json.dumps(result, indent=1, allow_nan=False) + "\n"
    if target is not None and out is not None:
        from outlast.fleet.points import packed
        from outlast.fleet.report import page
        from outlast.output import write_file

        write_file(out / "report.html", page(result))
        write_file(out / "fleet.parquet", packed([result]))
        write_file(target, text)
    if as_json:
        click.echo(text, nl=False)
    elif not quiet:
        from outlast.fleet.words import summary

        click.echo(summary(result))
    if target is not None and out is not None and (log.is_on() or not (as_json or quiet)):
        log.written(target, out / "report.html", out / "fleet.parquet")


def _sweep(settings: Settings, vary: tuple[str, ...], out: Path | None, on: str, *, as_json: bool, quiet: bool) -> None:
    from outlast.cli.progress import StagesProgress
    from outlast.fleet.points import sweep, table, varied

    with StagesProgress(shown=not (quiet or as_json)) as tell:
        results = sweep(settings, varied(vary), out, tell, on=on)
    if as_json:
        click.echo(json.dumps(results, indent=1, allow_nan=False))
    elif not quiet:
        click.echo(table(results))
    if out is not None and (log.is_on() or not (as_json or quiet)):
        log.written(out / "fleet.parquet", out / "points")


def _presets() -> str:
    from outlast.fleet.presets import PRESETS

    lines = []
    for name, preset in PRESETS.items():
        lines += [f"{name}: {preset.meaning}", f"  source: {preset.source}"]
        lines += [f"  {note}" for note in preset.notes]
    return "\n".join(lines)


def _settings() -> str:
    from outlast.fleet.keys import LISTS, TABLES, TOP, Key

    def row(name: str, key: Key) -> str:
        default: Any = key.default
        choices = f" ({', '.join(key.choices)})" if key.choices else ""
        return f"{name} = {json.dumps(default)}  # {key.meaning}{choices}"

    lines = [row(name, key) for name, key in TOP.items()]
    for table, keys in TABLES.items():
        lines += ["", f"[{table}]", *(row(name, key) for name, key in keys.items())]
    for table, keys in LISTS.items():
        lines += ["", f"[[{table}]]", *(row(name, key) for name, key in keys.items())]
    return "\n".join(lines)
