"""Reproducing papers: their cells run, their statements judged, and everything written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast import __version__
from outlast.output import write_file
from outlast.products.reproduce import PAPERS, book
from outlast.products.reproduce.cells import prepare, run_all
from outlast.products.reproduce.model import (
    CLAIMS,
    COUNTED,
    KINDS,
    OURS,
    PAPER,
    VERDICTS,
    Figure,
    Paper,
    Row,
    Setting,
    Table,
    Verdict,
    incomplete,
    is_counted,
)
from outlast.products.reproduce.rows import table_of
from outlast.tables import Columns

SCHEMA_NAME = "outlast-reproduction/4"


@dataclass(frozen=True)
class Chosen:
    """Parts of a paper that are reproduced."""

    paper: Paper
    figures: Sequence[Figure]
    setting: Setting


@dataclass(frozen=True)
class Chapter:
    """Outcome of a paper."""

    paper: Paper
    setting: Setting
    parts: list[tuple[Figure, Table, list[Verdict]]]
    skipped: list[str]

    @property
    def verdicts(self) -> list[Verdict]:
        """Verdicts of all figures, in order."""
        return [verdict for _, _, judged in self.parts for verdict in judged]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "apart": self.paper.apart,
            "scale": self.setting.mode.scale,
            "about": self.setting.mode.about,
            "counts": counts(self.verdicts),
            "skipped": self.skipped,
            "elsewhere": dict(self.paper.elsewhere),
            "figures": [
                {
                    "name": figure.name,
                    "title": figure.title,
                    "statements": verdicts,
                    "assumptions": list(figure.assumptions),
                    "rows": table.rows,
                }
                for figure, table, verdicts in self.parts
            ],
        }


@dataclass(frozen=True)
class Reproduction:
    """Outcome of all papers."""

    chapters: list[Chapter]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, without times of day or what it cost: the same whenever it is made."""
        return {
            "schema": SCHEMA_NAME,
            "version": __version__,
            "mode": self.chapters[0].setting.mode.name,
            "counts": counts(summed(self.chapters)),
            "papers": [chapter.to_dict() for chapter in self.chapters],
        }

    def incomplete(self) -> list[str]:
        """Statements without a number, and those that differ without a reason."""
        return [
            f"{chapter.paper.name}/{figure.name}: {verdict['statement']}: {lack}"
            for chapter in self.chapters
            for figure, _, verdicts in chapter.parts
            for verdict in verdicts
            if (lack := incomplete(verdict)) is not None
        ]


def summed(chapters: Sequence[Chapter]) -> list[Verdict]:
    """Verdicts of the papers that sums are of; of those that stand apart only if there are no others."""
    own = [chapter for chapter in chapters if not chapter.paper.apart] or chapters
    return [verdict for chapter in own for verdict in chapter.verdicts]


def counts(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Number of the paper's statements that could have failed, of each verdict.

    The same stand under `number` and `order` by kind. Beside them is what is not counted: `aside` has the paper's
    other statements by kind, and `ours` the statements of this project.
    """

    def of(kind: str, claims: Sequence[str] = CLAIMS) -> dict[str, int]:
        own = [verdict for verdict in verdicts if verdict["whose"] == PAPER and verdict["kind"] == kind]
        return _tally([verdict for verdict in own if verdict["claims"] in claims])

    claimed = {claim: {kind: of(kind, [claim]) for kind in COUNTED} for claim in CLAIMS}
    return {
        **_tally([verdict for verdict in verdicts if is_counted(verdict)]),
        **claimed,
        "aside": {kind: of(kind) for kind in KINDS if kind not in COUNTED},
        "ours": _tally([verdict for verdict in verdicts if verdict["whose"] == OURS]),
    }


def _tally(verdicts: Sequence[Verdict]) -> dict[str, int]:
    number = Counter(verdict["verdict"] for verdict in verdicts)
    return {"statements": len(verdicts)} | {name: number[name] for name in VERDICTS}


def reproduce(
    chosen: Sequence[Chosen],
    out: Path,
    *,
    jobs: int = 1,
    kept: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Runs what has not run before and writes tables, reproduction.json and the book into `out`.

    What cells gave is kept in `kept`, else in `out/cells`: a cell that is there is not run again, whichever paper or
    reproduction it was run for. Cells of all papers share the processes.
    """
    planned = [
        [
            (figure, cells, [prepare(cell, max(own.setting.mode.scale, cell.least_scale)) for cell in cells])
            for figure, cells in ((figure, figure.cells(own.setting)) for figure in own.figures)
        ]
        for own in chosen
    ]
    every = [job for paper in planned for _, _, prepared in paper for job in prepared]
    records = run_all(every, kept or out / "cells", jobs, progress)
    chapters = []
    for own, figures in zip(chosen, planned, strict=True):
        parts = []
        for figure, cells, prepared in figures:
            gave = [records[job.key] for job in prepared]
            table = Table(figure.rows(own.setting, cells, gave)) if figure.rows else table_of(cells, gave)
            parts.append((figure, table, figure.verdicts(table)))
        chapters.append(Chapter(own.paper, own.setting, parts, own.paper.skipped(own.setting)))
    done = Reproduction(chapters)
    write(done, out)
    return done


def write(done: Reproduction, out: Path) -> None:
    """Writes the book, reproduction.json and a table for each figure."""
    import json

    from outlast import tables

    for chapter in done.chapters:
        for figure, table, _ in chapter.parts:
            if not table.rows:
                continue
            columns = _columns([_flat(row, figure) for row in table.rows])
            file = out / chapter.paper.name / f"{figure.name}.csv"
            write_file(file, _csv(columns))
            write_file(file.with_suffix(".parquet"), tables.packed(columns))
    text = json.dumps(done.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(out / "reproduction.json", text + "\n")
    command = command_of(done)
    for chapter in done.chapters:
        page = book.page(chapter.paper, chapter.setting.mode, chapter.parts, chapter.skipped, command)
        write_file(out / f"{chapter.paper.name}.html", page)
    write_file(out / "index.html", book.front(done.chapters, command))


def command_of(done: Reproduction) -> str:
    """The command line that makes this."""
    words = []
    for chapter in done.chapters:
        names = [figure.name for figure, _, _ in chapter.parts]
        whole = len(names) == len(chapter.paper.figures)
        words += [chapter.paper.name] if whole else [f"{chapter.paper.name}/{name}" for name in names]
    if words == list(PAPERS):
        words = []
    return " ".join(["outlast", "reproduce", *words, f"--{done.chapters[0].setting.mode.name}"])


def _flat(row: Row, figure: Figure) -> Row:
    """Labels first, then the figure's own columns, then the rest; what is a list stays in the JSON."""
    labels = book.label_names([row], list(figure.columns))
    order = [*labels, *figure.columns, *row]
    return {name: row.get(name) for name in dict.fromkeys(order) if not isinstance(row.get(name), list)}


def _columns(rows: list[Row]) -> Columns:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _csv(columns: Columns) -> str:
    import csv
    import io

    def cell(value: Any) -> Any:
        return str(value).lower() if isinstance(value, bool) else value

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return text.getvalue()
