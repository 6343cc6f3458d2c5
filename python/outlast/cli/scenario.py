"""`outlast validate`, `outlast scenario`, `outlast schema`, `outlast presets`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast.cli import complete
from outlast.cli.options import Group, layers_of, overrides_of, print_json, scenario_options, warn_of

if TYPE_CHECKING:
    from outlast.costs import Estimate


@click.command(
    "validate",
    epilog="""\b
Examples:
  outlast validate mine.toml
  outlast validate demo --set device.geometry.channels=16
  outlast validate mine.toml --estimate --json
  outlast validate mine.toml --toml     # with everything inherited and every default written out""",
)
@scenario_options
@click.option("--estimate", is_flag=True, help="Print what a run will probably cost, figure by figure.")
@click.option("--toml", "as_toml", is_flag=True, help="Print the whole scenario as TOML.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole scenario, or the estimate, as JSON.")
@click.option("--load", is_flag=True, help="Load the code that [policies] names, which runs it: only if you trust it.")
def validate_command(
    scenario: str | None,
    preset: str | None,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    estimate: bool,
    as_toml: bool,
    as_json: bool,
    load: bool,
) -> None:
    """Check SCENARIO, a file or the name of a preset, as `run` would before it starts.

    It also estimates the memory and processor time that a run needs. Nothing that a file names is run: of code in
    [policies], the form is checked.
    """
    layers, overrides = layers_of(scenario, preset), overrides_of(settings, seed)
    from outlast import _core, api, suspicious
    from outlast.costs import estimate as estimate_of

    if estimate and as_toml:
        raise click.UsageError("--estimate or --toml, not both", click.get_current_context())
    found = estimate_of(layers, overrides, load=load)
    warn_of(_core.beyond_range(api.layers(layers), overrides))
    warn_of(_core.void_settings(api.layers(layers), overrides))
    if estimate and as_json:
        print_json(asdict(found))
    elif as_json:
        print_json(api.resolve(layers, overrides))
    elif as_toml:
        click.echo(_core.resolve(api.layers(layers), overrides, "toml"), nl=False)
    else:
        warn_of(suspicious.notes(api.resolve(layers, overrides)))
        click.echo(f"{scenario or preset}: ok; {found}")
        if estimate:
            click.echo(_counted(found))


def _counted(found: Estimate) -> str:
    """The counts behind the estimate."""
    from outlast.costs import span

    rows = (
        ("requests", f"{found.requests:,}"),
        ("mapping units programmed in preconditioning", f"{found.prepared_units:,}, {span(found.precondition_cpu_s)}"),
        ("pages read from flash", f"{found.flash_reads:,}"),
        ("pages programmed", f"{found.flash_programs:,}"),
    )
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name.ljust(width)}  {value}" for name, value in rows)


@click.group(
    "scenario",
    cls=Group,
    epilog="""\b
Example:
  outlast scenario migrate old.toml > new.toml""",
)
def scenario_command() -> None:
    """Work on scenario files."""


@scenario_command.command(
    "migrate",
    epilog="""\b
Examples:
  outlast scenario migrate old.toml > new.toml
  outlast scenario migrate old.toml --in-place""",
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--in-place", is_flag=True, help="Write FILE instead of printing it.")
def migrate_command(file: Path, in_place: bool) -> None:
    """Rewrite FILE, a scenario of an earlier version, with the settings of this one, and print it.

    Settings that were renamed get their new names; those that are always the same now go. The rest of the file,
    with its comments, stays as it is. A line on standard error tells of each change by which the scenario may mean
    something else, and of what has to be changed by hand.
    """
    from outlast import _core
    from outlast.errors import ScenarioError
    from outlast.output import write_file

    try:
        old = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{file}: cannot be read: {error}") from error
    text, notes = _core.migrate(str(file), old)
    for note in notes:
        click.echo(note, err=True)
    if in_place:
        write_file(file, text)
    else:
        click.echo(text, nl=False)


RESULTS = {"result.json": "result", "sweep.json": "sweep"}
"""Files that Outlast writes, with the names of their forms."""


@click.command(
    "schema",
    epilog="""\b
Examples:
  outlast schema > scenario.schema.json
  outlast schema --sweep > sweep.schema.json
  outlast schema --of result.json > result.schema.json""",
)
@click.option("--sweep", is_flag=True, help="Print the schema of sweep files.")
@click.option(
    "--of",
    type=click.Choice(tuple(RESULTS)),
    help="Print the schema of a file that Outlast writes, as far as it is checked when it is read.",
)
def schema_command(sweep: bool, of: str | None) -> None:
    """Print the JSON Schema of scenario files, for editors that complete and check them, or of results."""
    from outlast.schemas import scenario_schema, sweep_schema
    from outlast.shapes import json_schema

    if sweep and of is not None:
        raise click.UsageError("--sweep or --of, not both", click.get_current_context())
    if of is not None:
        print_json(json_schema(RESULTS[of], of))
    else:
        print_json(sweep_schema() if sweep else scenario_schema())


@click.group(
    "presets",
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  outlast presets
  outlast presets show demo > mine.toml""",
)
@click.option("--json", "as_json", is_flag=True, help="Print names and titles as JSON.")
@click.pass_context
def presets_command(ctx: click.Context, as_json: bool) -> None:
    """List the built-in scenarios, or show one."""
    if ctx.invoked_subcommand is None:
        _list(as_json)


@presets_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print names and titles as JSON.")
def list_command(as_json: bool) -> None:
    """List the built-in scenarios."""
    _list(as_json)


@presets_command.command("show")
@click.argument("name", shell_complete=complete.presets)
def show_command(name: str) -> None:
    """Print the scenario file of preset NAME, with the source of each number."""
    from outlast.api import show_preset

    click.echo(show_preset(name), nl=False)


def _list(as_json: bool) -> None:
    from outlast.api import presets

    titles = presets()
    if as_json:
        print_json(titles)
        return
    width = max(len(name) for name in titles)
    for name, title in titles.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {title}")
