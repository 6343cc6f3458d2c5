"""`outlast compare` of repeats: a test of each figure."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.cli.options import print_json
from outlast.errors import OutputError
from outlast.repeats_compared import CONFIDENCE, FigureTest, KeptRepeats, figure_tests, load_repeats
from outlast.report.numbers import counted

LEAST_RUNS = 2
"""Runs of a set without which its scatter is unknown."""


def compare_repeats(places: Sequence[str], *, everything: bool, as_json: bool) -> None:
    """Compares each set of repeats with the first, figure by figure."""
    first, *others = [load_repeats(place) for place in places]
    for place, repeats in zip(places, (first, *others), strict=True):
        if (runs := len(repeats.columns["seed"])) < LEAST_RUNS:
            raise OutputError(f"{place}: has {counted(runs, 'run')}; a test of two sets needs two runs or more of each")
    found = [(place, other, figure_tests(first, other)) for place, other in zip(places[1:], others, strict=True)]
    if as_json:
        rows = [{"with": place, "tests": [test.to_dict() for test in made]} for place, _, made in found]
        print_json({"first": places[0], "confidence": CONFIDENCE, "compared": rows})
        return
    for place, other, made in found:
        _show(first, other, places[0], place, made, everything=everything)


def _show(
    first: KeptRepeats,
    other: KeptRepeats,
    place: str,
    other_place: str,
    made: Sequence[FigureTest],
    *,
    everything: bool,
) -> None:
    from rich.markup import escape

    from outlast.cli.paper import console, ruled, show
    from outlast.cli.repeats import SHOWN
    from outlast.report.names import heading, written

    paper = console()
    names = (first.name, other.name) if first.name != other.name else (place, other_place)
    paper.print(f"{names[1]} beside {names[0]}", style="bold", markup=False)
    table = ruled()
    table.add_column("figure", no_wrap=True)
    for column in (*names, "difference", f"± ({100 * CONFIDENCE:g} %)", "p", ""):
        table.add_column(escape(column), justify="right", no_wrap=True)
    shown = [test for test in made if everything or test.figure in SHOWN]
    for test in shown:
        values = [*(written(test.figure, mean) for mean in test.means), written(test.figure, test.difference)]
        cells = [heading(test.figure), *values, written(test.figure, test.half), f"{test.p:.2g}"]
        table.add_row(*map(escape, cells), "differs" if test.differs else "")
    show(table)
    methods = sorted({test.method for test in made})
    paper.print(
        f"{len(made)} figures tested ({', '.join(methods)}); of figures that do not differ, one in twenty seems to"
    )
