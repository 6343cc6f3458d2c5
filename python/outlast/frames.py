"""Tables for other libraries: polars, pandas and pyarrow, which Outlast itself does without."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import OutputError
from outlast.tables import Columns, Kind, column_of

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def to_polars(columns: Columns) -> pl.DataFrame:
    """The columns as a polars DataFrame; raises `OutputError` where polars is not installed."""
    _need("a table", "polars", install="outlast[tables]")
    import polars as pl

    types: dict[Kind, Any] = {
        "u64": pl.UInt64,
        "i64": pl.Int64,
        "f64": pl.Float64,
        "bool": pl.Boolean,
        "text": pl.String,
    }
    typed = {name: column_of(values) for name, values in columns.items()}
    return pl.DataFrame([pl.Series(name, values, types[kind]) for name, (kind, _, values) in typed.items()])


def scan(file: Path) -> pl.LazyFrame:
    """The rows of a Parquet file, read as they are asked for; raises `OutputError` where polars is not installed."""
    _need("a log's scan", "polars", install="outlast[tables]")
    import polars as pl

    return pl.scan_parquet(file)


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """The table as a pyarrow Table; raises `OutputError` where pyarrow is not installed."""
    _need("to_arrow", "pyarrow")
    return frame.to_arrow()


def to_pandas(frame: pl.DataFrame) -> Any:
    """The table as a pandas DataFrame; raises `OutputError` where pandas or pyarrow, its bridge, is not installed."""
    _need("to_pandas", "pandas", "pyarrow")
    return frame.to_pandas()


def _need(purpose: str, *modules: str, install: str = "") -> None:
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            install_arguments = repr(install) if install else " ".join(modules)
            raise OutputError(f"{purpose} needs {module}: pip install {install_arguments}") from error
