"""Results beside each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import frames
from outlast.differences import load_any, of_runs, with_measured
from outlast.errors import OutputError
from outlast.plain_values import name_of, place_of, shown

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from outlast.fio import Measured
    from outlast.notebook.plots import ComparisonPlots
    from outlast.result import Result

TABLES = ("figures", "settings")


def compare(*results: Result | Measured | str | Path) -> Comparison:
    """Differences between results, as `outlast compare` shows them; changes are relative to the first.

    Each is a result, the folder of one, or a measurement of a real drive: the file that fio writes with
    `--output-format=json+`. Raises `OutputError` for fewer than two, and for what is neither.
    """
    return Comparison([load_any(str(each)) if isinstance(each, str | Path) else each for each in results])


class Comparison:
    """Two results or more; the first is what the others are compared with."""

    def __init__(self, results: Sequence[Result | Measured]) -> None:
        from outlast.fio import Measured
        from outlast.report.comparison import labels, numbered
        from outlast.result import Result

        if len(results) < 2:
            raise OutputError(f"a comparison of {len(results)}: it takes two results or more")
        for result in results:
            if not isinstance(result, (Result, Measured)):
                raise OutputError(f"{shown(result)}: a comparison is of results, their folders and files of fio")
        self.results = list(results)
        """The results, in the order in which they were given."""
        self.runs: list[Result] = [result for result in results if isinstance(result, Result)]
        """Results that are runs. Where some are measurements, only rates and latencies are compared."""
        self.measured = len(self.runs) < len(self.results)
        """True if some are measurements of a real drive."""
        self.differences: dict[str, Any] = with_measured(self.results) if self.measured else of_runs(self.runs)
        """Output of `outlast compare --json`: `settings` and `figures` that differ, by dotted name."""
        self.names = numbered(self.differences["names"]) if self.measured else labels(self.runs)
        """A name for each; where names repeat, with what differs, the folder or a number."""

    def __repr__(self) -> str:
        counts = " and ".join(f"{len(self.differences[kind])} {kind}" for kind in reversed(TABLES))
        return f"<Comparison of {', '.join(self.names)}: {counts} differ>"

    def _repr_html_(self) -> str:
        from outlast.notebook.shown import compared

        return compared(self)

    @property
    def plot(self) -> ComparisonPlots:
        """Charts as plotly figures: `plot.latency()`, or any of the report's by `plot(name)`."""
        from outlast.notebook.plots import ComparisonPlots

        self._only_runs("plots")
        return ComparisonPlots(self)

    def table(self, name: str = "figures") -> pl.DataFrame:
        """`figures` or `settings` that differ as a polars DataFrame: a row for each, a column for each result.

        Of figures, those that are numbers; settings are texts as a scenario file has them. Absent ones are null.
        """
        if name_of(name, "a table", OutputError) not in TABLES:
            raise OutputError(f"no table '{name}' of a comparison; there are: {', '.join(TABLES)}")
        rows = self.differences[name]
        if name == "figures":
            rows = {key: row["values"] for key, row in rows.items() if all(map(_is_number, row["values"]))}
        columns: dict[str, list[Any]] = {name.removesuffix("s"): list(rows)}
        for index, label in enumerate(self.names):
            column = [_cell(values[index], texts=name == "settings") for values in rows.values()]
            columns[label if label not in columns else f"{label} (result)"] = column
        return frames.to_polars(columns)

    def to_polars(self, name: str = "figures") -> pl.DataFrame:
        """The same as `table(name)`."""
        return self.table(name)

    def to_pandas(self, name: str = "figures") -> Any:
        """The table as a pandas DataFrame. Needs pandas and pyarrow, which Outlast itself does without."""
        return frames.to_pandas(self.table(name))

    def to_arrow(self, name: str = "figures") -> pa.Table:
        """The table as a pyarrow Table. Needs pyarrow, which Outlast itself does without."""
        return frames.to_arrow(self.table(name))

    def report(self, path: str | Path) -> Path:
        """Writes one self-contained HTML page that needs no network."""
        from outlast.output import write_file
        from outlast.report import render

        self._only_runs("a report")
        return write_file(place_of(path), render(self.runs))

    def _only_runs(self, wanted: str) -> None:
        if self.measured:
            raise OutputError(
                f"{wanted} of a comparison with a measured drive: there are none; .table() has its figures"
            )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _cell(value: Any, *, texts: bool) -> Any:
    if value is None:
        return None
    if texts:
        return value if isinstance(value, str) else json.dumps(value)
    return float(value)
