"""`outlast new`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    "new",
    epilog="""\b
Examples:
  outlast new study
  outlast new study victims --extends solidigm-p5520-1920g
  cd study && make && make accept && make check""",
)
@click.argument("kind", type=click.Choice(["study"]))
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--extends", default="demo", show_default=True, metavar="PRESET", help="Preset that the study begins with."
)
def new_command(kind: str, folder: Path | None, extends: str) -> None:
    """Make a folder for a study: scenario, sweep, figures, checks and the version that it was made with.

    What an artifact needs: `make` runs all of it, `make accept` keeps the numbers, and `make check` runs it again and
    compares them, anywhere and years later. The FOLDER is new; its name, by default "study", is the study's.
    """
    from outlast import study

    place = folder or Path(kind)
    for file in study.write(place, extends):
        click.echo(f"written: {place / file}", err=True)
