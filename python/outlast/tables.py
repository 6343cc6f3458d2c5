"""Tables as columns by name: what kind of values each has, and the way to Parquet and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from outlast import _core
from outlast.errors import OutputError

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["u64", "i64", "f64", "bool", "text"]
Values: TypeAlias = "np.ndarray[Any, Any] | Sequence[Any]"
"""An array, or a list, in which `None` stands for no value."""
Columns: TypeAlias = "Mapping[str, Values]"


class LaterTables(Mapping[str, "Columns"]):
    """Tables of a run by name, each made of arrays when it is first asked for: who does not ask does without numpy."""

    def __init__(self, held: _core.HeldTables) -> None:
        self._held = held
        self._names = held.names()
        self._made: dict[str, Columns] = {}

    def __getitem__(self, name: str) -> Columns:
        if name not in self._made:
            self._made[name] = self._held.take(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Columns]], tuple[dict[str, Columns]]]:
        return dict, (dict(self),)


ARRAYS: dict[str, Kind] = {"uint64": "u64", "int64": "i64", "float64": "f64", "bool": "bool"}


def column_of(values: Values) -> tuple[Kind, bool, Values]:
    """Kind of a column's values, True if rows may lack one, and the values converted to that kind.

    Of a list the values say: whole numbers beside others become numbers, and what has no kind in common texts.
    """
    if (dtype := getattr(values, "dtype", None)) is not None:
        return ARRAYS[str(dtype)], False, values
    kinds: set[type] = set(map(type, values))
    nullable = type(None) in kinds
    kinds.discard(type(None))
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
