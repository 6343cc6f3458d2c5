"""What a reproduction is made of: cells (runs), tables of what they gave, and statements that are judged by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from outlast.report.figure import Figure as Chart

Labels: TypeAlias = Mapping[str, Any]
"""What a row is called by; numbers are columns that are given, such as what was measured."""


@dataclass(frozen=True)
class Mode:
    """How much is simulated."""

    name: str
    """`quick` or `full`."""
    scale: int
    """The drive and the time are divided by this, so that blocks are read and written as often on average."""
    about: str
    """What was made smaller, for the reader."""


@dataclass(frozen=True)
class Setting:
    """Where a reproduction finds things and how much it runs."""

    mode: Mode
    scenarios: Path
    """The folder with the paper's scenario files."""
    traces: Path | None = None
    """The folder with real traces; `None`: there is none."""


@dataclass(frozen=True)
class Cell:
    """One run: a scenario, what is changed in it, and what it is called."""

    labels: Labels
    layers: Sequence[str | Path | Mapping[str, Any]]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    least_scale: int = 1
    """Runs at this scale at least: a cell that is too large, or only a check of an assumption."""


Row: TypeAlias = dict[str, Any]


class Table:
    """The rows of a figure: labels and figures by name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)

    def where(self, **labels: str) -> list[Row]:
        """Rows with these labels, in order."""
        return [row for row in self.rows if all(row.get(name) == value for name, value in labels.items())]

    def row(self, **labels: str) -> Row:
        """The one row with these labels.

        Raises:
            LookupError: none has them, or several do.

        """
        found = self.where(**labels)
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows with {labels}")
        return found[0]

    def has(self, **labels: str) -> bool:
        """Whether any row has these labels."""
        return bool(self.where(**labels))


RUN, CLOSED = "simulation", "closed form"
"""Where a number comes from: operations that were simulated, or a formula or recursion of Outlast's models."""
CALIBRATED, TEXT = "calibrated", "consistency of the text"
"""Kinds of statements that are judged and not counted: a number of the model was set by this figure or by one that it
follows from; or it compares the paper's numbers, or a setting, with themselves."""
COUNTED = (RUN, CLOSED)
KINDS = (*COUNTED, CALIBRATED, TEXT)
"""Kinds of statements; only those of `COUNTED` could have failed, and only they are in headlines."""

VERDICTS = ("agrees", "differs", "not judged")
Verdict: TypeAlias = dict[str, Any]
"""A statement with what was found: see `Statement.judge()`."""


@dataclass(frozen=True)
class Number:
    """A figure of the paper beside ours."""

    name: str
    ours: float
    paper: float
    unit: str = ""
    closed: float | None = None
    """The closed form of what was simulated, if there is one."""

    def to_dict(self, by: str) -> dict[str, Any]:
        """As plain data; `by` is what the statement is judged by, `RUN` or `CLOSED`."""
        return {
            "name": self.name,
            "unit": self.unit.strip(),
            "paper": self.paper,
            "closed_form": self.ours if by == CLOSED else self.closed,
            "simulation": self.ours if by == RUN else None,
            "ratio": self.ours / self.paper if self.paper else None,
        }


@dataclass(frozen=True)
class Found:
    """What the numbers say about a statement."""

    holds: bool
    words: str
    """The numbers, in words."""
    numbers: tuple[Number, ...] = ()
    """Those of the paper beside ours, where the statement has figures."""


@dataclass(frozen=True)
class Statement:
    """What the paper says, and how it is judged."""

    text: str
    where: str
    """Section or figure of the paper."""
    check: Callable[[Table], Found]
    because: str | Callable[[Table], str] = ""
    """Why it differs, if it does; from the numbers where they show it."""
    kind: str | None = None
    """One of `KINDS`, if it is not that of the figure."""
    when: Callable[[Table], bool] = lambda _: True
    """Whether it is asked at all: some need a trace that may be absent, which the paper's `skipped` then says."""

    def judge(self, table: Table, kind: str = RUN) -> Verdict:
        """The verdict: `agrees`, or `differs` with a reason, or `not judged` where cells that it needs are absent.

        `kind` is that of the figure. Numbers of the paper that the statement names are beside ours.
        """
        own = self.kind or kind
        by = CLOSED if own in (CLOSED, TEXT) else RUN
        verdict: Verdict = {"statement": self.text, "where": self.where, "kind": own, "numbers": []}
        try:
            found = self.check(table)
        except LookupError as error:
            return verdict | {"verdict": "not judged", "found": "", "because": f"a cell is absent: {error}"}
        verdict |= {"found": found.words, "numbers": [number.to_dict(by) for number in found.numbers]}
        if found.holds:
            return verdict | {"verdict": "agrees", "because": ""}
        try:
            because = self.because(table) if callable(self.because) else self.because
        except LookupError as error:
            because = f"{UNKNOWN}: a cell that would show it is absent ({error})"
        return verdict | {"verdict": "differs", "because": because or UNKNOWN}


UNKNOWN = "the reason is not known"
"""Stands where a module gives none; `incomplete()` finds it."""


def incomplete(verdict: Verdict) -> str | None:
    """What a verdict lacks to be complete: a number from a run or a closed form, or the reason of a difference."""
    if not any(letter.isdigit() for letter in verdict["found"]) and not verdict["numbers"]:
        return "no number"
    because = verdict["because"]
    if verdict["verdict"] != "agrees" and (not because or because.startswith(UNKNOWN)):
        return "no reason"
    return None


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: its cells, its columns, its charts and what the paper says of it."""

    name: str
    title: str
    about: str
    cells: Callable[[Setting], list[Cell]]
    columns: Mapping[str, str]
    """Figures shown, and what they are called in a table; the labels come first."""
    charts: Callable[[Table], list[Chart]]
    statements: Sequence[Statement]
    assumptions: Sequence[str] = ()
    rows: Callable[[Setting, Sequence[Cell], Sequence[Mapping[str, Any]]], list[Row]] | None = None
    """Makes the rows, from what the cells gave and from closed forms; else each cell gives one, as `rows.py` does."""
    kind: str = RUN
    """One of `KINDS`: that of its statements, unless they say so themselves."""

    def verdicts(self, table: Table) -> list[Verdict]:
        """Every statement judged by the rows, except for those that are not asked."""
        return [statement.judge(table, self.kind) for statement in self.statements if statement.when(table)]


@dataclass(frozen=True)
class Paper:
    """A paper: its figures and how it is run."""

    name: str
    title: str
    modes: Mapping[str, Mode]
    figures: Sequence[Figure]
    skipped: Callable[[Setting], list[str]] = lambda _: []
    """What is left out here, and why."""
    folder: str | None = None
    """The folder of its scenarios, if it is not named like the paper."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Its figures and tables that are no figure here, by their names in the paper, each with the reason."""
    against: str = "paper"
    """What numbers stand beside ours."""

    def figure(self, name: str) -> Figure | None:
        """The figure of that name."""
        return next((figure for figure in self.figures if figure.name == name), None)
