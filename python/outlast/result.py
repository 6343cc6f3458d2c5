"""Result of a run: summary, tables, and the scenario that led to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import __version__, foreign, frames, shapes
from outlast.errors import OutputError
from outlast.inputs import is_folder, mode_of
from outlast.plain_values import name_of, path_of, place_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from outlast.notebook.plots import ResultPlots
    from outlast.requests import RequestLog
    from outlast.tables import Values

SCHEMA_NAME = "outlast-result/1"
TABLES = (
    "timeseries",
    "latency",
    "wear",
    "precondition",
    "jobs",
    "errors",
    "decisions",
    "dies_over_time",
    "channels_over_time",
    "controller_over_time",
    "valid_over_time",
    "cycles_over_time",
    "superblocks_over_time",
    "placement_over_time",
    "slc_cache_over_time",
    "energy_over_time",
    "victims",
    "array_events",
    "array_states",
    "array_lost",
)


class Figures(Mapping[str, Any]):
    """A read-only part of the summary whose keys are attributes too: `figures.read.p99` is `figures["read"]["p99"]`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __reduce__(self) -> tuple[type[Figures], tuple[Mapping[str, Any]]]:
        # A copy is made without values at first, which attributes must not ask for.
        return Figures, (self._values,)

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._values[key])

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self._values)
            raise AttributeError(f"no figure '{name}' here; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*self._values, "items", "keys", "values", "get"]

    def __repr__(self) -> str:
        return f"Figures({dict(self._values)!r})"


def _wrapped(value: Any) -> Any:
    return Figures(value) if isinstance(value, dict) else value


class Result:
    """The summary of a run, its tables and the scenario that gives it again.

    Top-level figures are attributes: `result.throughput.iops`, `result.latency_us.read.p99`, `result.partial`.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        tables: Mapping[str, Mapping[str, Values]],
        scenario_toml: str,
        *,
        stopped: bool = False,
        log: RequestLog | None = None,
    ) -> None:
        self.summary = summary
        """Everything that `result.json` holds, under the same names."""
        self.tables = tables
        """Columns by table and name, as numpy arrays (texts as lists)."""
        self.scenario_toml = scenario_toml
        """The resolved scenario: every default and inherited setting written out."""
        self.stopped = stopped
        """True if Ctrl-C or the progress function ended the run early."""
        self.log = log
        """Every request as a row, where the scenario asks for that: `log.scan()` is a polars LazyFrame."""
        self.folder: Path | None = None
        """The folder from which it was read; `None` where it was not read from one."""

    def __getattr__(self, name: str) -> Any:
        summary = self.__dict__.get("summary", {})
        if name in summary:
            return _wrapped(summary[name])
        raise AttributeError(f"a Result has no '{name}'; its summary has {', '.join(summary)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__dict__.get("summary", {})]

    def reach(self) -> str:
        """Scope of the figures of a run that was stopped, as a clause."""
        from outlast.why.parts import was_asked

        if was_asked(self.summary):
            return "the figures cover the run up to then"
        return "nothing was measured yet"

    def __repr__(self) -> str:
        name, partial = self.summary["name"], ", partial" if self.summary["partial"] else ""
        iops = self.summary["throughput"]["iops"]
        rate = "no requests" if iops is None else f"{iops:,.0f} IOPS"
        return f"<Result {name}: {rate}{partial}; tables {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        from outlast.notebook.shown import result

        return result(self)

    @property
    def plot(self) -> ResultPlots:
        """Charts as plotly figures: `plot.latency()`, or any of the report's by `plot(name)`."""
        from outlast.notebook.plots import ResultPlots

        return ResultPlots(self)

    def table(self, name: str) -> pl.DataFrame:
        """The table as a polars DataFrame: `timeseries`, `latency`, `wear` or `precondition`. Needs polars.

        With `run.utilisation` there are `dies_over_time`, `channels_over_time`, `controller_over_time`,
        `valid_over_time`, `cycles_over_time`, `superblocks_over_time` and `victims`, `placement_over_time` of a drive
        with handles, `slc_cache_over_time` of one with an SLC cache, `energy_over_time` of one that counts energy. A
        run of fio jobs has `jobs`, too, a drive that can fail `decisions`, one whose flash errs `errors`, and an array
        `array_events`, `array_states` and `array_lost`.
        """
        return frames.to_polars(self.columns(name))

    def to_polars(self, name: str) -> pl.DataFrame:
        """The same as `table(name)`. Whatever reads the Arrow C stream interface takes it without a copy."""
        return self.table(name)

    def to_pandas(self, name: str) -> Any:
        """The table as a pandas DataFrame. Needs pandas and pyarrow, which Outlast itself does without."""
        return frames.to_pandas(self.table(name))

    def to_arrow(self, name: str) -> pa.Table:
        """The table as a pyarrow Table. Needs pyarrow, which Outlast itself does without."""
        return frames.to_arrow(self.table(name))

    def columns(self, name: str) -> Mapping[str, Values]:
        """Columns of a table by name, as arrays or lists. Raises `OutputError` with the tables that there are."""
        if name_of(name, "a table", OutputError) not in self.tables:
            known = ", ".join(self.tables) or "none"
            raise OutputError(f"no table '{name}' in this result; there are: {known}")
        return self.tables[name]

    def to_json(self) -> str:
        """The text of `result.json`."""
        return json.dumps(self.summary, indent=2, allow_nan=False) + "\n"

    def write(self, directory: str | Path, *, force: bool = False) -> Path:
        """Writes result.json, the tables as Parquet, scenario.toml and report.html into a new folder.

        The folder appears only when all data is in it; the report is drawn into it last. It may exist if it is empty;
        `force` replaces an earlier result.
        """
        from outlast.output import OutputFolder

        instead = ", or give force=True to replace a result"
        return OutputFolder(place_of(directory), force=force, instead=instead).write(self)

    def report(self, path: str | Path) -> Path:
        """Writes one self-contained HTML page that needs no network."""
        from outlast.output import write_file
        from outlast.report import render

        return write_file(place_of(path), render([self]))


def load(path: str | Path) -> Result:
    """Reads a result back: its folder, or the result.json in it. A table or log that is absent there is absent here."""
    place = path_of(path, "a result is the path of its folder", OutputError)
    folder = place if is_folder(place) else place.parent
    file = place / "result.json" if folder == place else place
    if mode_of(file) is None and mode_of(folder / "repeats.json") is not None:
        raise OutputError(
            f"{folder}: repeats, which keep the figures of each run and no curves: `outlast table {folder}` prints "
            "them, `outlast compare` tests two of them; for reports and charts, run one seed without --repeats"
        )
    try:
        summary = foreign.read(file)
    except OSError as error:
        raise OutputError(f"{file}: cannot read a result: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{file}: {error}") from error
    schema = summary.get("schema") if isinstance(summary, dict) else None
    if schema != SCHEMA_NAME:
        raise OutputError(f'{file}: schema is {json.dumps(schema)}, this version reads "{SCHEMA_NAME}"')
    # Keys are added by newer versions: one that another version wrote may lack some.
    whole = summary.get("version") == __version__
    shapes.check(file, summary, "result", whole=whole)
    foreign.rely_on(file)
    result = Result(summary, _tables(folder, whole), toml := _scenario(folder), log=_log(toml, folder))
    result.folder = folder
    return result


def _scenario(folder: Path) -> str:
    file = folder / "scenario.toml"
    if not file.is_file():
        return ""
    try:
        text: str = foreign.read(file, str)
        foreign.toml_of(text)
    except OSError as error:
        raise OutputError(f"{file}: cannot read the scenario: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{file}: {error}") from error
    return text


def _log(toml: str, folder: Path) -> RequestLog | None:
    # Few results have one, and what reads it is imported for them alone.
    if not re.search(r"^log *=", toml, re.M):
        return None
    from outlast.requests import of_result

    return of_result(toml, folder)


def _tables(folder: Path, whole: bool) -> dict[str, Mapping[str, Values]]:
    files = [folder / f"{name}.parquet" for name in TABLES]
    present = [file for file in files if file.is_file()]
    if not present:
        return {}
    from outlast.tables import read

    tables: dict[str, Mapping[str, Values]] = {}
    for file in present:
        tables[file.stem] = read(file)
        shapes.check(file, shapes.samples(tables[file.stem]), "tables", table=file.stem, whole=whole)
    return tables
