"""Console of 80 columns, or of more if the terminal has them and lines stay legible."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from outlast.printable import printable

LEAST, MOST = 80, 110
"""Columns: a terminal of fewer breaks lines by itself; longer lines are hard to follow."""


def console() -> Console:
    """A console for tables and sentences, 80 columns wide where nobody looks."""
    wide = min(max(Console().width, LEAST), MOST) if sys.stdout.isatty() else LEAST
    return Paper(highlight=False, width=wide)


class Paper(Console):
    """A console that shows control characters in names and notes, which foreign files may have, and obeys none."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as a console does, with characters that the terminal cannot print replaced."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def on_broken_pipe(self) -> None:
        """Leaves a closed pipe to the caller; a console itself would end the program with the code of a failure."""
        raise BrokenPipeError


def room() -> int | None:
    """The columns for a table: those of the terminal, or of COLUMNS; `None` where nobody looks, so that all fit."""
    if sys.stdout.isatty():
        return console().width
    variable = os.environ.get("COLUMNS", "")
    return int(variable) if variable.isdecimal() and int(variable) else None


def whole(
    titles: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool], fixed: int, most: int | None
) -> Iterator[Table]:
    """Rows as tables whose values stay in one line, while titles break at spaces, dots and underscores.

    Columns for which `most` characters have no room follow in a further table, after the first `fixed` ones again.
    `left`: which columns begin at their left.
    """
    least = [
        max(*(cell_len(word) for word in _words(title)), *(cell_len(row[index]) for row in rows), 1)
        for index, title in enumerate(titles)
    ]
    keys, start = list(range(fixed)), fixed
    while start < len(titles):
        end = start + 1
        while end < len(titles) and (most is None or _wide(least[:fixed] + least[start : end + 1]) <= most):
            end += 1
        shown = [*keys, *range(start, end)]
        widths = _widths([titles[at] for at in shown], [least[at] for at in shown], most or LEAST)
        table = ruled()
        for at, width in zip(shown, widths, strict=True):
            title = Text(broken(titles[at], width))
            table.add_column(title, no_wrap=True, min_width=width, justify="left" if left[at] else "right")
        for row in rows:
            table.add_row(*(Text(row[at]) for at in shown))
        yield table
        start = end


def show(table: Table) -> None:
    """Prints a table as wide as it is, even beyond the paper."""
    paper = console()
    paper.width = max(paper.width, paper.measure(table, options=paper.options.update(max_width=10_000)).maximum)
    paper.print(table)


def broken(title: str, width: int) -> str:
    """A title in lines of a width, which a single word may exceed."""
    lines = [""]
    for word in _words(title):
        if lines[-1] and cell_len(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)


def _words(title: str) -> list[str]:
    """The parts of a title between which a line may break, each with what it ends with."""
    return re.findall(r"[^ ._]*[ ._]*", title)[:-1] or [""]


def _wide(widths: Sequence[int]) -> int:
    """Width of columns with the gaps between them and the edges of the table, in characters."""
    return sum(widths) + 2 * len(widths)


def _widths(titles: Sequence[str], least: Sequence[int], most: int) -> list[int]:
    """Widths of columns: as the titles want them, but no more altogether than `most` where that can be."""
    widths = [max(low, cell_len(title)) for title, low in zip(titles, least, strict=True)]
    while _wide(widths) > most and widths != list(least):
        loose = [at for at, width in enumerate(widths) if width > least[at]]
        widths[max(loose, key=lambda at: widths[at])] -= 1
    return widths


def ruled() -> Table:
    """A table with a line under its head and narrow gaps."""
    return Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def beside() -> Table:
    """Rows of a name, a value and what is to be said of it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=22, max_width=26)
    table.add_column(min_width=12, no_wrap=True, style="bold")
    table.add_column()
    return table
