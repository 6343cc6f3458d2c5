"""Do tables reach other libraries as they are, and is the absence of one told in a line?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import outlast
from conftest import TINY
from outlast import Comparison, OutputError, frames


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> outlast.Sweep:
    """A sweep of two points."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "tiny.toml").write_text(TINY)
    vary = [{"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}]
    return outlast.sweep({"name": "two", "scenario": str(folder / "tiny.toml"), "vary": vary}, folder / "out", jobs=2)


def test_tables_of_a_result_are_the_same_everywhere(tiny_result: Path) -> None:
    result = outlast.load(tiny_result)
    for name, columns in result.tables.items():
        frame, arrow = result.to_polars(name), result.to_arrow(name)
        assert frame.equals(result.table(name))
        streamed = pa.table(frame)
        assert frame.columns == arrow.column_names == list(columns)
        for column, values in columns.items():
            mine = np.asarray(values)
            for theirs in (arrow.column(column), streamed.column(column)):
                assert np.array_equal(mine, theirs.to_numpy(), equal_nan=mine.dtype.kind == "f"), (name, column)
        assert nw.from_native(frame).columns == list(columns)


def test_a_sweep_gives_an_arrow_stream(swept: outlast.Sweep) -> None:
    frame = swept.to_polars()
    assert frame.equals(swept.table()) and len(frame) == 2
    streamed = pa.table(swept)
    assert streamed.to_pydict() == swept.to_arrow().to_pydict()
    assert pl.DataFrame(swept).equals(frame)
    assert streamed.column("device.ftl.gc.policy").to_pylist() == ["greedy", "fifo"]
    schema = pa.schema([(name, streamed.schema.field(name).type) for name in streamed.column_names])
    assert pa.RecordBatchReader.from_stream(swept, schema=schema).read_all().num_rows == 2


def test_a_comparison_gives_tables(tiny_result: Path, weak_result: Path) -> None:
    both = Comparison([outlast.load(tiny_result), outlast.load(weak_result)])
    assert both.to_polars().equals(both.table("figures"))
    assert both.to_arrow("settings").column_names == ["setting", "tiny", "weak"]


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_what_is_not_installed_is_named(missing: str, monkeypatch: pytest.MonkeyPatch, tiny_result: Path) -> None:
    result = outlast.load(tiny_result)
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == "pyarrow":
        monkeypatch.setitem(sys.modules, "pandas", sys)  # stands for one that is there
        with pytest.raises(OutputError, match=r"^to_arrow needs pyarrow: pip install pyarrow$"):
            result.to_arrow("wear")
    with pytest.raises(OutputError, match=f"^to_pandas needs {missing}: pip install pandas pyarrow$"):
        result.to_pandas("wear")


def test_pandas_has_the_same_table(tiny_result: Path, swept: outlast.Sweep) -> None:
    pandas: Any = pytest.importorskip("pandas", reason="pandas is not installed")
    result = outlast.load(tiny_result)
    latency = result.to_pandas("latency")
    assert isinstance(latency, pandas.DataFrame)
    assert latency["latency_us"].tolist() == result.table("latency")["latency_us"].to_list()
    assert frames.to_pandas(swept.table())["point"].tolist() == [0, 1]
