"""What the terminal is written on: 80 columns, or as many more as are there and legible."""

from __future__ import annotations

import sys

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

LEAST, MOST = 80, 110
"""Columns: a terminal of fewer breaks lines by itself; longer lines are hard to follow."""


def console() -> Console:
    """A console for tables and sentences, 80 columns wide where nobody looks."""
    wide = min(max(Console().width, LEAST), MOST) if sys.stdout.isatty() else LEAST
    return Console(highlight=False, width=wide)


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
