"""The log of requests: every request of a run as a row of a Parquet file, of which little is in memory at any time."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from outlast import _core
from outlast.errors import ScenarioError
from outlast.output import cannot_write, check_file, parquet, staged_file
from outlast.result import TABLES

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROW_GROUP = 1 << 18
"""Rows of a row group of the file."""


class RequestLog:
    """Rows as the core hands them out, in files of their own until the log is put in its place."""

    def __init__(self, name: str, near: Path | None = None) -> None:
        """`name`: what the scenario calls the file; `near`: a folder on the disk that the log is to be on."""
        self.name = name
        if self.is_absolute:
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
        self._parts: list[Path] = []
        # Whoever forgets the result forgets the rows.
        self.discard = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @property
    def is_absolute(self) -> bool:
        """Whether its place does not depend on where the result goes."""
        return Path(self.name).is_absolute()

    def take(self, columns: dict[str, NDArray[np.uint64]]) -> None:
        """Rows that follow those before."""
        part = self._folder / f"{len(self._parts):06}.parquet"
        try:
            part.write_bytes(parquet(_frame(columns)))
        except OSError as error:
            raise cannot_write(part, error) from error
        self._parts.append(part)

    def scan(self) -> pl.LazyFrame:
        """All rows, read as they are asked for."""
        import polars as pl

        return pl.scan_parquet(self._parts)

    def write(self, path: Path) -> None:
        """Writes the file, whole or not at all; from then on it has the rows."""
        with staged_file(path) as staging:
            self.fill(staging)
        self._parts = [path]
        self.discard()

    def fill(self, path: Path) -> None:
        """Writes the file as it goes on."""
        try:
            self.scan().sink_parquet(path, compression="zstd", statistics=False, row_group_size=ROW_GROUP)
        except OSError as error:
            raise cannot_write(path, error) from error


def of_scenario(toml: str, near: Path | None = None) -> RequestLog | None:
    """The log that a resolved scenario asks for."""
    name = tomllib.loads(toml).get("run", {}).get("log")
    return None if name is None else RequestLog(name, near)


def _frame(columns: dict[str, NDArray[np.uint64]]) -> pl.DataFrame:
    import polars as pl

    kinds, outcomes = _core.request_names()
    named = {"kind": kinds, "outcome": outcomes}

    def series(name: str, values: NDArray[np.uint64]) -> pl.Series:
        if name in named:
            own = pl.Enum(named[name])
            return pl.Series(name, named[name], dtype=own).gather(values)
        return pl.Series(name, values)

    return pl.DataFrame([series(name, values) for name, values in columns.items()])
