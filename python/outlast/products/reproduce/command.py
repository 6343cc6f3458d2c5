"""`outlast reproduce`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast import interrupts
from outlast.cli.options import Whole, path_option

if TYPE_CHECKING:
    from outlast.products.reproduce.model import Figure, Paper, Verdict
    from outlast.products.reproduce.write import Reproduction


@click.command(
    "reproduce",
    epilog="""\b
Examples:
  outlast reproduce
  outlast reproduce --full --out out/all
  outlast reproduce hrm msapl
  outlast reproduce hrm/fig05 hrm/fig08 --jobs 1
  outlast reproduce drives
  outlast reproduce warp cachelib-fdp
  outlast reproduce diff-raid fig06 table2""",
)
@click.argument("selection", nargs=-1, metavar="[PAPER[/FIGURE]]...")
@click.option("--quick/--full", default=True, help="Smaller drives and shorter runs (the default), or full size.")
@path_option(
    "-o",
    "--out",
    metavar="DIR",
    help="Output folder. Default: out/reproduction-quick, or out/PAPER-quick if one paper is named.",
)
@path_option(
    "--cells",
    metavar="DIR",
    help="Where runs are saved, so that they are not repeated. Default: DIR/cells of --out, or out/cells.",
)
@click.option("--jobs", type=Whole(1), metavar="N", help="Number of parallel runs. Default: one for each core.")
@path_option(
    "--traces",
    metavar="DIR",
    help="A folder with real traces. Default: $OUTLAST_TRACES; else shared/traces beside a checkout, if there.",
)
@path_option(
    "--scenarios", metavar="DIR", help="The folder with the scenarios of the papers. Default: that of the package."
)
def reproduce_command(
    selection: tuple[str, ...],
    quick: bool,
    out: Path | None,
    cells: Path | None,
    jobs: int | None,
    traces: Path | None,
    scenarios: Path | None,
) -> None:
    """Reproduce figures of published papers and check the papers' statements about them.

    Without arguments all papers: diff-raid, flexible, hrm, lfs, msapl, reparo. PAPER/FIGURE, such as
    hrm/fig05, selects one figure; figures may also be listed after their paper.
    "drives", "warp", "cachelib-fdp", "zn540", "client-drives" and "heat" compare real drives with simulated
    ones.
    Writes index.html with every statement beside closed form and simulation, a page for each
    paper, reproduction.json and a table for each figure.
    After an interruption it continues where it stopped.
    """
    from outlast.cli.progress import RunProgress
    from outlast.errors import ScenarioError
    from outlast.products.reproduce.model import RUN, Setting
    from outlast.products.reproduce.write import Chosen, reproduce

    chosen = []
    root = scenarios or Path(__file__).resolve().parents[2] / "scenarios"
    for paper, figures in select(selection):
        mode = paper.modes["quick" if quick else "full"]
        folder = root / (paper.folder or paper.name)
        if not folder.is_dir() and any(figure.kind == RUN for figure in figures):
            raise ScenarioError(f"{folder}: no such folder; name that of the papers' scenarios with --scenarios")
        chosen.append(Chosen(paper, figures, Setting(mode, folder, traces or _traces())))
    if out is None:
        cells = cells or Path("out") / "cells"
        name = chosen[0].paper.name if len(chosen) == 1 else "reproduction"
        out = Path("out") / f"{name}-{chosen[0].setting.mode.name}"
    interrupts.raise_on_signal()
    with RunProgress() as bar:
        told = -1

        def tell(done: int, wanted: int) -> None:
            nonlocal told
            share = done / wanted if wanted else 1.0
            if bar is not None:
                bar("cells", share, 0, 0.0)
            elif int(10 * share) > told:
                told = int(10 * share)
                click.echo(f"{done} of {wanted} cells", err=True)

        made = reproduce(chosen, out, jobs=jobs or os.cpu_count() or 1, kept=cells, progress=tell)
    _show(made)
    click.echo(f"written: {out / 'index.html'}, {out / 'reproduction.json'}", err=True)


def select(selection: Sequence[str]) -> list[tuple[Paper, list[Figure]]]:
    """The papers and figures that the arguments name, in order; all of them if there are none."""
    from outlast.errors import ScenarioError
    from outlast.products.reproduce import DRIVES, PAPERS
    from outlast.products.reproduce import paper as paper_of

    # Figures by paper; none stands for all of them.
    named: dict[str, list[str]] = {}
    last: str | None = None
    for word in selection or PAPERS:
        paper, slash, figure = word.partition("/")
        if not slash and paper not in (*PAPERS, *DRIVES) and last is not None:
            paper, figure = last, word
        last = paper
        known = paper_of(paper)
        own = named.setdefault(paper, [])
        if slash or figure:
            if known.figure(figure) is None:
                have = ", ".join(each.name for each in known.figures)
                raise ScenarioError(f'no figure "{figure}" of {paper}; there are {have}')
            own.append(figure)
    papers = [(paper_of(name), figures) for name, figures in named.items()]
    return [(known, [each for each in known.figures if not own or each.name in own]) for known, own in papers]


def _show(made: Reproduction) -> None:
    """Summary for the terminal: statements that do not agree, and counts of what could have failed."""
    from outlast.products.reproduce.model import describe
    from outlast.products.reproduce.write import summed

    for chapter in made.chapters:
        for figure, _, verdicts in chapter.parts:
            title = f"{chapter.paper.name}: {figure.title}" if len(made.chapters) > 1 else figure.title
            click.echo(f"{click.style(title, bold=True)}: {_counts(verdicts)}")
            for verdict in verdicts:
                if verdict["verdict"] != "agrees":
                    kind = f" [{describe(verdict)}]"
                    click.echo(f"  {verdict['verdict']}{kind}: {verdict['statement']} {verdict['found']}")
        for left in chapter.skipped:
            click.echo(f"left out: {left}")
    if len(made.chapters) > 1:
        for chapter in made.chapters:
            click.echo(f"{chapter.paper.name}: {_counts(chapter.verdicts)}")
        apart = [chapter.paper.name for chapter in made.chapters if chapter.paper.apart]
        name = f"all but {', '.join(apart)}" if 0 < len(apart) < len(made.chapters) else "all"
        click.echo(f"{name}: {_counts(summed(made.chapters))}")
    for line in made.incomplete():
        click.echo(f"incomplete: {line}", err=True)


def _counts(verdicts: Sequence[Verdict]) -> str:
    """`5 of 6 statements agree (numbers: 1 of 2 by simulation; orders: 4 of 4 by closed form; not counted: 1 ours)`."""
    from outlast.products.reproduce.model import CLAIMS
    from outlast.products.reproduce.write import counts

    if not verdicts:
        return "nothing is judged here"
    found = counts(verdicts)
    said = []
    for claim in CLAIMS:
        kinds = {kind: own for kind, own in found[claim].items() if own["statements"]}
        parts = [f"{own['agrees']} of {own['statements']} by {kind}" for kind, own in kinds.items()]
        said += [f"{claim}s: {', '.join(parts)}"] if parts else []
    kinds = {kind: own["statements"] for kind, own in (*found["aside"].items(), ("ours", found["ours"]))}
    aside = [f"{many} {kind}" for kind, many in kinds.items() if many]
    said += [f"not counted: {', '.join(aside)}"] if aside else []
    return f"{found['agrees']} of {found['statements']} statements agree ({'; '.join(said)})"


def _traces() -> Path | None:
    place = Path(os.environ.get("OUTLAST_TRACES", Path(__file__).resolve().parents[5] / "shared" / "traces"))
    return place if place.is_dir() else None
