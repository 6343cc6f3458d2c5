"""Tables for other libraries: pandas and pyarrow, which Outlast itself does without."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outlast.errors import OutputError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """The table as a pyarrow Table; raises `OutputError` where pyarrow is not installed."""
    _need("to_arrow", "pyarrow")
    return frame.to_arrow()


def to_pandas(frame: pl.DataFrame) -> Any:
    """The table as a pandas DataFrame; raises `OutputError` where pandas or pyarrow, its bridge, is not installed."""
    _need("to_pandas", "pandas", "pyarrow")
    return frame.to_pandas()


def _need(what: str, *modules: str) -> None:
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise OutputError(f"{what} needs {module}: pip install {' '.join(modules)}") from error
