"""The log of requests: every request of a run as a row of a Parquet file, of which little is in memory at any time."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from outlast import _core, foreign, frames, tables
from outlast.errors import ScenarioError
from outlast.output import cannot_write, check_file, staged_file
from outlast.result import TABLES

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from outlast.tables import Kind, Values


class RequestLog:
    """Every request of a run, in a file."""

    def __init__(self, name: str, path: Path) -> None:
        """`name`: what the scenario calls the file at `path`."""
        self.name = name
        self._path = path

    @property
    def is_absolute(self) -> bool:
        """True if its path does not depend on the folder of the result."""
        return Path(self.name).is_absolute()

    def scan(self) -> pl.LazyFrame:
        """All rows, read as they are asked for. Needs polars: `pip install 'outlast[tables]'`."""
        return frames.scan(self._whole())

    def columns(self) -> dict[str, Values]:
        """All rows in memory: arrays by column, and lists of texts."""
        return tables.read(self._whole())

    def write(self, path: Path) -> None:
        """Writes the file, whole or not at all."""
        with staged_file(path) as staging:
            self.fill(staging)

    def fill(self, path: Path) -> None:
        """Writes the file as it goes on."""
        try:
            shutil.copyfile(self._whole(), path)
        except OSError as error:
            raise cannot_write(path, error) from error

    def _whole(self) -> Path:
        return self._path


class GrowingLog(RequestLog):
    """Rows as the core hands them out, in a file of their own until the log is put in its place."""

    def __init__(self, name: str, near: Path | None = None) -> None:
        """`near`: a folder on the disk that the log is to be on."""
        if Path(name).is_absolute():
            check_file(Path(name))
            near = Path(name).parent
        elif ".." in Path(name).parts:
            raise ScenarioError(f"run.log = {name!r}: must not leave the folder of the result; give an absolute path")
        elif Path(name).stem in TABLES:
            raise ScenarioError(f"run.log = {name!r}: is the name of a table of the result; give another")
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=".outlast-log.", dir=near))
        except OSError as error:
            raise cannot_write(near or Path(tempfile.gettempdir()), error) from error
        super().__init__(name, self._folder / "requests.parquet")
        self._file = _core.ParquetWriter()
        # Whoever forgets the result forgets the rows.
        self.discard = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def take(self, columns: dict[str, NDArray[np.uint64]]) -> None:
        """Rows that follow those before."""
        self._append(self._file.write(_typed(columns)))

    def _append(self, packed: bytes) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(packed)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def _whole(self) -> Path:
        """The file with its end, after which it takes no rows."""
        if packed := self._file.close():
            self._append(packed)
        return self._path

    def write(self, path: Path) -> None:
        """Writes the file, whole or not at all; from then on it has the rows."""
        super().write(path)
        self._path = path
        self.discard()


def of_scenario(toml: str, near: Path | None = None) -> GrowingLog | None:
    """The log that a resolved scenario asks for, of a run that begins."""
    # Most scenarios ask for none, and to parse one takes longer than many a run.
    name = _name(toml) if "log = " in toml else None
    return None if name is None else GrowingLog(name, near)


def of_result(toml: str, folder: Path) -> RequestLog | None:
    """The log of a result in its folder, where it is still there."""
    name = _name(toml)
    # An absolute name is its own place.
    return RequestLog(name, folder / name) if name is not None and (folder / name).is_file() else None


def _name(toml: str) -> str | None:
    run = foreign.toml_of(toml).get("run")
    name = run.get("log") if isinstance(run, dict) else None
    return name if isinstance(name, str) else None


def _typed(columns: dict[str, NDArray[np.uint64]]) -> list[tuple[str, Kind, bool, Values]]:
    kinds, outcomes = _core.request_names()
    named = {"kind": kinds, "outcome": outcomes}
    return [
        (name, "text", False, [named[name][value] for value in values.tolist()])
        if name in named
        else (name, "u64", False, values)
        for name, values in columns.items()
    ]
