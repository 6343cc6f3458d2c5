"""Reproducing a paper: its cells run, its statements judged, and everything written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast import __version__
from outlast.output import write_file
from outlast.reproduce import book
from outlast.reproduce.cells import prepare, run_all
from outlast.reproduce.model import Figure, Paper, Row, Setting, Table
from outlast.reproduce.rows import table_of

SCHEMA_NAME = "outlast-reproduction/1"


@dataclass(frozen=True)
class Reproduction:
    """What came of it."""

    paper: Paper
    setting: Setting
    parts: list[tuple[Figure, Table, list[dict[str, str]]]]
    skipped: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, without times of day or what it cost: the same whenever it is made."""
        return {
            "schema": SCHEMA_NAME,
            "version": __version__,
            "paper": self.paper.name,
            "title": self.paper.title,
            "mode": self.setting.mode.name,
            "scale": self.setting.mode.scale,
            "about": self.setting.mode.about,
            "skipped": self.skipped,
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


def reproduce(
    paper: Paper,
    figures: Sequence[Figure],
    setting: Setting,
    out: Path,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Runs what is not yet in the folder and writes tables, reproduction.json and index.html there."""
    planned = []
    for figure in figures:
        cells = figure.cells(setting)
        planned.append((figure, cells, [prepare(cell, max(setting.mode.scale, cell.least_scale)) for cell in cells]))
    every = [job for _, _, prepared in planned for job in prepared]
    records = run_all(every, out / "cells", jobs, progress)
    parts = []
    for figure, cells, prepared in planned:
        gave = [records[job.key] for job in prepared]
        table = Table(figure.rows(setting, cells, gave)) if figure.rows else table_of(cells, gave)
        parts.append((figure, table, [statement.judge(table) for statement in figure.statements]))
    done = Reproduction(paper, setting, parts, paper.skipped(setting))
    write(done, out)
    return done


def write(done: Reproduction, out: Path) -> None:
    """Writes the book, reproduction.json and a table for each figure."""
    import json

    import polars as pl

    mode = done.setting.mode
    names = [figure.name for figure, _, _ in done.parts]
    chosen = "" if len(names) == len(done.paper.figures) else " " + " ".join(names)
    command = f"outlast reproduce {done.paper.name}{chosen} --{mode.name}"
    for figure, table, _ in done.parts:
        frame = pl.DataFrame([_flat(row, figure) for row in table.rows], infer_schema_length=None)
        write_file(out / f"{figure.name}.csv", frame.write_csv())
        frame.write_parquet(out / f"{figure.name}.parquet", compression="zstd", statistics=False)
    text = json.dumps(done.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(out / "reproduction.json", text + "\n")
    write_file(out / "index.html", book.page(done.paper, mode, done.parts, done.skipped, command))


def _flat(row: Row, figure: Figure) -> Row:
    """Labels first, then the figure's own columns, then the rest; what is a list stays in the JSON."""
    labels = book.label_names([row], list(figure.columns))
    order = [*labels, *figure.columns, *row]
    return {name: row.get(name) for name in dict.fromkeys(order) if not isinstance(row.get(name), list)}
