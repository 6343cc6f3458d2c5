"""Result of a sweep: points, their means, and the files in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from outlast import __version__, foreign, frames, shapes, tables
from outlast.errors import OutputError, ScenarioError
from outlast.inputs import is_folder
from outlast.output import write_file
from outlast.plain_values import path_of, place_of
from outlast.points import Outcome
from outlast.report import risk, served
from outlast.sweeps import figures
from outlast.sweeps.plan import Plan, axis_label
from outlast.sweeps.statistics import Mean, front, mean_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from outlast.notebook.plots import SweepPlots
    from outlast.tables import Columns

SCHEMA_NAME = "outlast-sweep/1"
FILES = ("sweep.json", "sweep.parquet", "report.html", "points", "optuna.journal")
"""Files in a sweep's folder."""
MEASURED = ("reads", "writes", "trims", "flushes", "errors")
"""Counts of requests, below `host`, one of which is more than 0 where anything was measured."""
CODE = "policies"
"""Folder of pickled policies, for those that are in no file of their own."""

Row = dict[str, Any]


class Sweep:
    """The points of a sweep with the means of their figures, its Pareto front, and a table of all runs."""

    def __init__(self, summary: dict[str, Any], columns: Columns) -> None:
        self.summary = summary
        """Everything that `sweep.json` holds, under the same names."""
        self.columns = columns
        """A row for each run, as `table()` has them: arrays or lists by column."""

    @classmethod
    def of(cls, plan: Plan, outcome: Outcome) -> Sweep:
        """Puts together the figures that the runs gave, by `figures.of_run`, in the order of the plan."""
        rows = _rows(plan, outcome)
        return cls(_summary(plan, rows), _columns(rows))

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<Sweep {self.summary['name']}: {len(self.points)} points, {self.summary['runs']} runs{failed}>"

    def _repr_html_(self) -> str:
        from outlast.notebook.shown import sweep

        return sweep(self)

    @property
    def plot(self) -> SweepPlots:
        """Charts as plotly figures: `plot.figure(name)`, `plot.front()`, or any of the report's by `plot(name)`."""
        from outlast.notebook.plots import SweepPlots

        return SweepPlots(self)

    @property
    def points(self) -> list[dict[str, Any]]:
        """Each point: its number, its `values` by axis, and `figures` by name: `count`, `mean`, `sd`, `half`."""
        listed: list[dict[str, Any]] = self.summary["points"]
        return listed

    @property
    def front(self) -> list[int]:
        """The numbers of the points that no other beats in every figure of the Pareto front."""
        listed: list[int] = self.summary["pareto"]["front"]
        return listed

    @property
    def best(self) -> list[int]:
        """The numbers of the best points of a search: the best of one aim, the front of several; else none."""
        listed: list[int] = self.summary.get("search", {}).get("best", [])
        return listed

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The runs that gave nothing: `point`, `repeat`, `error`."""
        listed: list[dict[str, Any]] = self.summary["failed"]
        return listed

    def table(self) -> pl.DataFrame:
        """A row for each run: point, repeat, what varies, every setting (`scenario.…`) and every figure.

        A polars DataFrame. Needs polars.
        """
        return frames.to_polars(self.columns)

    def to_polars(self) -> pl.DataFrame:
        """The same as `table()`."""
        return self.table()

    def to_pandas(self) -> Any:
        """The table of all runs as a pandas DataFrame. Needs pandas and pyarrow, which Outlast itself does without."""
        return frames.to_pandas(self.table())

    def to_arrow(self) -> pa.Table:
        """The table of all runs as a pyarrow Table. Needs pyarrow, which Outlast itself does without."""
        return frames.to_arrow(self.table())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table of all runs for whatever reads the Arrow C stream interface, such as `pyarrow.table(sweep)`."""
        return self.table().__arrow_c_stream__(requested_schema)

    def difference(self, figure: str, point: int, other: int) -> Mean:
        """The mean of a figure at `point` less that at `other`, taken repeat by repeat.

        Within a repeat both had the same seed. What that did to both alike is gone from the difference, so that its
        interval is narrower than those of the two means.
        """
        confidence = self.summary["sweep"]["confidence"]
        if figure not in self.columns:
            raise ScenarioError(f"no figure {figure} in this sweep; {figures.hint(figure)}")
        one, two = (self._by_repeat(figure, number) for number in (point, other))
        pairs = [(one[repeat], two[repeat]) for repeat in one if one[repeat] is not None and two[repeat] is not None]
        return mean_of([float(a) - float(b) for a, b in pairs], confidence)

    def _by_repeat(self, figure: str, point: int) -> dict[int, Any]:
        if not 0 <= point < len(self.points):
            raise ScenarioError(f"point = {point}: must be within 0 to {len(self.points) - 1}")
        rows = zip(self.columns["point"], self.columns["repeat"], self.columns[figure], strict=True)
        return {repeat: value for number, repeat, value in rows if number == point}

    def to_json(self) -> str:
        """The text of `sweep.json`: a line for each point, as the fast encoder of `json` cannot indent."""
        members = []
        for name, value in self.summary.items():
            if name == "points":
                points = ",\n  ".join(_dumped(point) for point in value)
                text = f"[\n  {points}\n ]" if value else "[]"
            else:
                text = _dumped(value, indent=1).replace("\n", "\n ")
            members.append(f" {_dumped(name)}: {text}")
        return "{\n" + ",\n".join(members) + "\n}\n"

    def report(self, path: str | Path) -> Path:
        """Writes one self-contained HTML page that needs no network."""
        from outlast.report.sweep import page

        return write_file(place_of(path), page(self))


def _dumped(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def write(done: Sweep, folder: Path) -> None:
    """Writes the data set, sweep.json and the report."""
    write_data(done, folder)
    done.report(folder / "report.html")


def write_data(done: Sweep, folder: Path) -> None:
    """Writes the data set and sweep.json."""
    write_file(folder / "sweep.parquet", tables.packed(done.columns))
    write_file(folder / "sweep.json", done.to_json())


def load_sweep(path: str | Path) -> Sweep:
    """Reads a sweep back from its folder, or from the sweep.json in it."""
    place = path_of(path, "a sweep is the path of its folder", OutputError)
    file = place / "sweep.json" if is_folder(place) else place
    try:
        summary = foreign.read(file)
    except OSError as error:
        raise OutputError(f"{file}: cannot read a sweep: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{file}: {error}") from error
    schema = summary.get("schema") if isinstance(summary, dict) else None
    if schema != SCHEMA_NAME:
        raise OutputError(f'{file}: schema is {json.dumps(schema)}, this version reads "{SCHEMA_NAME}"')
    shapes.check(file, summary, "sweep")
    foreign.rely_on(file)
    return Sweep(summary, tables.read(file.parent / "sweep.parquet"))


def _values(plan: Plan, point: int) -> Row:
    return {axis.name: axis_label(axis, value) for axis, value in zip(plan.spec.axes, plan.points[point], strict=True)}


def _rows(plan: Plan, outcome: Outcome) -> list[Row]:
    rows = []
    for run in plan.runs:
        row: Row = {"point": run.point, "repeat": run.repeat} | _values(plan, run.point)
        row["error"] = outcome.failures.get(run.job.key)
        whole = row | outcome.records.get(run.job.key, {})
        if _is_without_measurement(whole):
            # No request in no time is no rate.
            whole |= {name: None for name in whole if name.startswith("throughput.")}
        # The plan's scenario, since a record may have been made under another name.
        figures.add(whole, "scenario", run.job.scenario)
        # What varies has a column of its own, whatever else is called like it.
        whole |= row
        rows.append(whole)
    return rows


def _columns(rows: list[Row]) -> Columns:
    first = list(rows[0])
    if all(list(row) == first for row in rows):
        columns: Iterable[Sequence[Any]] = zip(*(row.values() for row in rows), strict=True)
        return {name: tables.column_of(list(values))[2] for name, values in zip(first, columns, strict=True)}
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tables.column_of([row.get(name) for row in rows])[2] for name in names}


def _summary(plan: Plan, rows: list[Row]) -> dict[str, Any]:
    spec = plan.spec
    names = dict.fromkeys((*spec.figures, *(name for name, _ in (*spec.pareto, *spec.aims))))
    rows_by_point: list[list[Row]] = [[] for _ in plan.points]
    for row in rows:
        rows_by_point[row["point"]].append(row)
    listed = []
    for number, rows_of_point in enumerate(rows_by_point):
        means = {}
        for name in names:
            known = [value for row in rows_of_point if (value := figures.number(row, name)) is not None]
            means[name] = vars(mean_of(known, spec.confidence))
        own = {"point": number, "values": _values(plan, number), "not_steady": _not_steady(rows_of_point)}
        listed.append(own | {"figures": means})
    found = {} if plan.found is None else {"search": plan.found | {"best": _front(spec.aims, listed, least=1)["front"]}}
    return {
        "schema": SCHEMA_NAME,
        "version": __version__,
        "name": spec.name,
        "sweep": spec.to_dict(),
        "runs": len(rows),
        "not_steady": _not_steady(rows),
        "not_served": sum(bool(row.get("host.errors")) for row in rows),
        "not_collected": sum(served.is_row_uncollected(row) for row in rows),
        "not_measured": sum(_is_without_measurement(row) for row in rows),
        "absent": _absent(spec.figures, rows),
        "assumed_rebuild": risk.assumed(rows),
        "failed": [{key: row[key] for key in ("point", "repeat", "error")} for row in rows if row["error"]],
        "points": listed,
        "pareto": _front(spec.pareto, listed),
    } | found


def _is_without_measurement(row: Row) -> bool:
    """True if no request of a run was measured: it ended within its warm-up."""
    return "host.reads" in row and not any(row.get(f"host.{kind}") for kind in MEASURED)


def _absent(names: tuple[str, ...], rows: list[Row]) -> dict[str, str]:
    """Figures that were asked for and that no run has, each with the reason."""
    if names == figures.USUAL:
        return {}
    return {name: why for name in names if (why := figures.why_absent(name, rows)) is not None}


def _not_steady(rows: list[Row]) -> int:
    """Number of runs not in steady state; runs that failed or were not judged do not count."""
    return sum(row.get("steady_state.measured.reached") is False for row in rows)


def _front(wanted: tuple[tuple[str, str], ...], listed: list[dict[str, Any]], least: int = 2) -> dict[str, Any]:
    """Points that no other beats in the means of every figure; none of fewer figures than `least`.

    A figure that no point has is left out, as is a point that lacks one of the others.
    """

    def mean(point: Mapping[str, Any], name: str) -> float | None:
        value: float | None = point["figures"][name]["mean"]
        return value

    used = [(name, best) for name, best in wanted if any(mean(point, name) is not None for point in listed)]
    whole = [point for point in listed if all(mean(point, name) is not None for name, _ in used)]
    best: list[int] = []
    if len(used) >= least and whole:
        costs = [
            [(mean(point, name) or 0.0) * (1 if direction == "lowest" else -1) for name, direction in used]
            for point in whole
        ]
        best = [whole[row]["point"] for row in front(np.array(costs))]
    kept = {point["point"] for point in whole}
    return {
        "figures": [{"figure": name, "best": direction} for name, direction in used] if len(used) >= least else [],
        "left_out": [point["point"] for point in listed if point["point"] not in kept] if len(used) >= least else [],
        "front": best,
    }
