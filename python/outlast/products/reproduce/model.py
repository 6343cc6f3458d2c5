"""Parts of a reproduction: cells (runs), tables of what they gave, and statements that are judged by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from outlast.report.figure import Figure as Chart

Labels: TypeAlias = Mapping[str, Any]
"""Labels of a row; numbers are columns that are given, such as what was measured."""


@dataclass(frozen=True)
class Mode:
    """Extent of the simulation."""

    name: str
    """`quick` or `full`."""
    scale: int
    """The drive and the time are divided by this, so that blocks are read and written as often on average."""
    about: str
    """Parts that were made smaller, for the reader."""


@dataclass(frozen=True)
class Setting:
    """Surroundings of a reproduction: its folders, and how much it runs."""

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
        """True if any row has these labels."""
        return bool(self.where(**labels))


RUN, CLOSED = "simulation", "closed form"
"""Source of a number: operations that were simulated, or a formula or recursion of Outlast's models."""
CALIBRATED, ASSUMED, TEXT = "calibrated", "assumption", "consistency of the text"
"""Kinds of statements that are judged and not counted: a number of the model was set by this figure or by one that it
follows from; or an assumption that the text leaves open decides it, and it does not hold with another one as good; or
it compares the paper's numbers, or a setting, with themselves."""
COUNTED = (RUN, CLOSED)
KINDS = (*COUNTED, CALIBRATED, ASSUMED, TEXT)
"""Kinds of statements; only those of `COUNTED` could have failed, and only they are in headlines."""
PAPER, OURS = "paper", "ours"
"""Author of a statement: a sentence, table or figure of the paper says it, or this project does, of its own model."""
AUTHORS = (PAPER, OURS)
NUMBER, ORDER = "number", "order"
"""Claim of a statement: a number of the paper, or an order, a bound in words, or a shape."""
CLAIMS = (NUMBER, ORDER)

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
        """Plain data; `by` is what the statement is judged by, `RUN` or `CLOSED`."""
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
    """Verdict of the numbers on a statement."""

    holds: bool
    words: str
    """The numbers, in words."""
    numbers: tuple[Number, ...] = ()
    """Figures of the paper beside ours, where the statement has any."""


@dataclass(frozen=True)
class Statement:
    """Statement of the paper, and how it is judged."""

    text: str
    where: str
    """Section or figure of the paper."""
    check: Callable[[Table], Found]
    because: str | Callable[[Table], str] = ""
    """Reason of a difference; from the numbers where they show it."""
    kind: str | None = None
    """One of `KINDS`, if it is not that of the figure."""
    whose: str = PAPER
    """One of `AUTHORS`."""
    claims: str | None = None
    """One of `CLAIMS`; without it, a number if the paper's number is found beside ours, else an order."""
    when: Callable[[Table], bool] = lambda _: True
    """True if it is judged at all: some need a trace that may be absent, which the paper's `skipped` then says."""

    def judge(self, table: Table, kind: str = RUN) -> Verdict:
        """The verdict: `agrees`, or `differs` with a reason, or `not judged` where cells that it needs are absent.

        `kind` is that of the figure. Numbers of the paper that the statement names are beside ours.
        """
        own = self.kind or kind
        by = CLOSED if own in (CLOSED, TEXT) else RUN
        verdict: Verdict = {"statement": self.text, "where": self.where, "whose": self.whose}
        verdict |= {"claims": self.claims or ORDER, "kind": own, "numbers": []}
        try:
            found = self.check(table)
        except LookupError as error:
            return verdict | {"verdict": "not judged", "found": "", "because": f"a cell is absent: {error}"}
        verdict |= {"found": found.words, "numbers": [number.to_dict(by) for number in found.numbers]}
        verdict["claims"] = self.claims or (NUMBER if found.numbers else ORDER)
        if found.holds:
            return verdict | {"verdict": "agrees", "because": ""}
        try:
            because = self.because(table) if callable(self.because) else self.because
        except LookupError as error:
            because = f"{UNKNOWN}: a cell that would show it is absent ({error})"
        return verdict | {"verdict": "differs", "because": because or UNKNOWN}


UNKNOWN = "the reason is not known"
"""Stands where a module gives none; `incomplete()` finds it."""


def is_counted(verdict: Verdict) -> bool:
    """True if it is the paper's statement and could have failed."""
    return bool(verdict["whose"] == PAPER and verdict["kind"] in COUNTED)


def describe(verdict: Verdict) -> str:
    """Author, claim and kind of a verdict: `ours, order, simulation`; of the paper's statements without the author."""
    words = [verdict["claims"], verdict["kind"]]
    return ", ".join([OURS, *words] if verdict["whose"] == OURS else words)


def incomplete(verdict: Verdict) -> str | None:
    """Missing part of a verdict: a number from a run or a closed form, or the reason of a difference."""
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
    """Parts that are left out, with reasons."""
    folder: str | None = None
    """The folder of its scenarios, if it is not named like the paper."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Figures and tables of the paper that are no figure here, by their names in the paper, each with the reason."""
    apart: bool = False
    """Not among the papers that Outlast grew from: it has a count of its own, and is in no sum."""
    against: str = "paper"
    """Numbers that stand beside ours."""

    def figure(self, name: str) -> Figure | None:
        """The figure of that name."""
        return next((figure for figure in self.figures if figure.name == name), None)
