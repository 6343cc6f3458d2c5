"""`outlast reproduce`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from outlast.cli.options import path_option


@click.command(
    "reproduce",
    epilog="""\b
Examples:
  outlast reproduce hrm
  outlast reproduce msapl
  outlast reproduce flexible rebuild
  outlast reproduce hrm fig05 fig08 --out out/hrm --jobs 1
  outlast reproduce hrm --full --out out/hrm-full
  outlast reproduce diff-raid fig06 table2""",
)
@click.argument("paper")
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@click.option("--quick/--full", default=True, help="A smaller drive and less time (the default), or all of it.")
@path_option(
    "--out", metavar="DIR", help="Where to; else out/PAPER-quick or out/PAPER-full. Cells kept there are not run again."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Cells that run at a time; else one for each core."
)
@path_option("--traces", metavar="DIR", help="A folder with real traces; else OUTLAST_TRACES, or ../shared/traces.")
@path_option("--scenarios", metavar="DIR", help="The folder with the papers' scenarios; else that of this checkout.")
def reproduce_command(
    paper: str,
    figures: tuple[str, ...],
    quick: bool,
    out: Path | None,
    jobs: int | None,
    traces: Path | None,
    scenarios: Path | None,
) -> None:
    """Run the figures of PAPER again and judge what the paper says of them.

    PAPER is diff-raid, flexible, hrm or msapl. Each FIGURE, such as fig05, is a table and charts beside the paper's
    statements; all of them if none is named. Writes index.html, reproduction.json and a table for each figure; after a
    stop it goes on where it was.
    """
    from outlast.cli.progress import RunProgress
    from outlast.errors import ScenarioError
    from outlast.reproduce import paper as paper_of
    from outlast.reproduce.model import Setting
    from outlast.reproduce.write import reproduce

    known = paper_of(paper)
    chosen = list(known.figures)
    if figures:
        for name in figures:
            if known.figure(name) is None:
                have = ", ".join(figure.name for figure in known.figures)
                raise ScenarioError(f'no figure "{name}" of {paper}; there are {have}')
        chosen = [figure for figure in known.figures if figure.name in figures]
    mode = known.modes["quick" if quick else "full"]
    folder = (scenarios or Path(__file__).resolve().parents[3] / "scenarios") / (known.folder or known.name)
    if not folder.is_dir():
        raise ScenarioError(f"{folder}: no such folder; name that of the papers' scenarios with --scenarios")
    setting = Setting(mode, folder, traces or _traces())
    out = out or Path("out") / f"{known.name}-{mode.name}"
    with RunProgress() as bar:

        def tell(done: int, wanted: int) -> None:
            if bar is not None:
                bar("cells", done / wanted if wanted else 1.0, 0, 0.0)

        done = reproduce(known, chosen, setting, out, jobs=jobs or os.cpu_count() or 1, progress=tell)
    for figure, _, verdicts in done.parts:
        agree = sum(verdict["verdict"] == "agrees" for verdict in verdicts)
        click.echo(f"{click.style(figure.title, bold=True)}: {agree} of {len(verdicts)} statements agree")
        for verdict in verdicts:
            if verdict["verdict"] != "agrees":
                click.echo(f"  {verdict['verdict']}: {verdict['statement']} {verdict['found']}")
    for left in done.skipped:
        click.echo(f"left out: {left}")
    click.echo(f"written: {out / 'index.html'}, {out / 'reproduction.json'}", err=True)


def _traces() -> Path | None:
    place = Path(os.environ.get("OUTLAST_TRACES", Path(__file__).resolve().parents[4] / "shared" / "traces"))
    return place if place.is_dir() else None
