"""Do tables reach other libraries as they are, and is the absence of one told in a line?"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import TINY
from outlast import Comparison, OutputError, frames, tables


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


ROWS = st.shared(st.integers(0, 40), key="rows")
U64, I64 = st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1)
LISTS = [st.booleans(), I64, st.floats(allow_nan=False), st.text(st.characters(exclude_categories=["Cs"]))]


def _columns(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return ROWS.flatmap(lambda rows: st.lists(of, min_size=rows, max_size=rows))


@given(st.data())
def test_tables_in_parquet_are_what_polars_reads_and_writes(data: st.DataObject) -> None:
    columns: dict[str, Any] = {
        "a.count": np.array(data.draw(_columns(U64)), np.uint64),
        "real": np.array(data.draw(_columns(st.floats(allow_nan=False))), np.float64),
    }
    for number, values in enumerate(LISTS):
        columns[f"all {number}"] = data.draw(_columns(values))
        columns[f"some {number}"] = data.draw(_columns(st.none() | values))
    frame = frames.to_polars(columns)
    assert pl.read_parquet(io.BytesIO(tables.packed(columns))).equals(frame)
    theirs = io.BytesIO()
    frame.write_parquet(theirs, compression="zstd", statistics=False)
    # A file of an earlier version.
    assert frames.to_polars(outlast._core.read_parquet(theirs.getvalue())).equals(frame)


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    with pytest.raises(OutputError, match=r"x.parquet: cannot read the table: No such file"):
        tables.read(file)
    whole = tables.packed({"a": np.arange(1000, dtype=np.uint64)})
    for length in (0, 3, 11, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(OutputError, match=r"x.parquet: cannot read the table: \S"):
            tables.read(file)
    pl.DataFrame({"a": [[1, 2]]}).write_parquet(file)
    with pytest.raises(
        OutputError, match=r"cannot read the table: column 'item|cannot read the table: column 'element"
    ):
        tables.read(file)


WITHOUT = """\
import sys
sys.modules["polars"] = None
import outlast
from outlast import OutputError
result = outlast.run("tiny.toml", {"run.log": "requests.parquet"})
result.write("out")
assert len(result.log.columns()["kind"]) > 100
outlast.load("out").report("page.html")
vary = [{"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}]
sweep = outlast.sweep({"name": "two", "scenario": "tiny.toml", "vary": vary}, "swept", jobs=1)
both = outlast.Comparison([outlast.load("out"), outlast.load("out")])
assert outlast.load_sweep("swept").difference("throughput.iops", 0, 1).mean is not None
for what in (lambda: result.table("wear"), sweep.table, result.log.scan, both.table):
    try:
        what()
    except OutputError as error:
        print(error)
"""


def test_all_but_data_frames_works_without_polars(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = ["a table", "a table", "a log's scan", "a table"]
    assert done.stdout.splitlines() == [f"{what} needs polars: pip install 'outlast[tables]'" for what in told]
