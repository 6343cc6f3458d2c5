"""Tables as columns by name: what kind of values each has, and the way to Parquet and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from outlast import _core
from outlast.errors import OutputError

Kind = Literal["u64", "i64", "f64", "bool", "text"]
Values: TypeAlias = np.ndarray[Any, Any] | Sequence[Any]
"""An array, or a list, in which `None` stands for no value."""
Columns: TypeAlias = Mapping[str, Values]

ARRAYS: dict[str, Kind] = {"uint64": "u64", "int64": "i64", "float64": "f64", "bool": "bool"}


def column_of(values: Values) -> tuple[Kind, bool, Values]:
    """Kind of a column's values, True if rows may lack one, and the values converted to that kind.

    Of a list the values say: whole numbers beside others become numbers, and what has no kind in common texts.
    """
    if isinstance(values, np.ndarray):
        return ARRAYS[str(values.dtype)], False, values
    kinds = {type(value) for value in values if value is not None}
    nullable = any(value is None for value in values)
    if kinds == {bool}:
        return "bool", nullable, values
    if kinds == {int}:
        return "i64", nullable, values
    if kinds and kinds <= {int, float}:
        return "f64", nullable, [None if value is None else float(value) for value in values]
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return "text", nullable, texts


def packed(columns: Columns) -> bytes:
    """The bytes of the table as Parquet."""
    writer = _core.ParquetWriter()
    return writer.write([(name, *column_of(values)) for name, values in columns.items()]) + writer.close()


def read(file: str | Path) -> dict[str, Values]:
    """The columns of a Parquet file that Outlast wrote: a table of a result, a sweep's runs or a log of requests.

    Numbers are numpy arrays; texts, and columns in which rows have no value, are lists. Raises `OutputError`.
    """
    try:
        return _core.read_parquet(Path(file).read_bytes())
    except OSError as error:
        raise OutputError(f"{file}: cannot read the table: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{file}: cannot read the table: {str(error).splitlines()[0]}") from error
