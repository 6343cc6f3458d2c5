"""Is the Python package what its documentation says: types, overrides, errors, progress, other threads?"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import outlast
from conftest import ROOT, TINY, mean_from_histograms, mean_from_queue


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> outlast.Result:
    file = tmp_path_factory.mktemp("api") / "tiny.toml"
    file.write_text(TINY)
    return outlast.run(file, {"seed": 11})


def test_figures_are_attributes_under_the_names_of_the_file(result: outlast.Result) -> None:
    assert result.seed == result.summary["seed"] == 11
    assert result.latency_us.read.p99_9 == result.summary["latency_us"]["read"]["p99_9"]
    assert result.partial is False
    assert result.stopped is False
    assert "IOPS" in repr(result)
    assert set(result.latency_us.read) == set(result.summary["latency_us"]["read"])
    with pytest.raises(AttributeError, match="p98"):
        _ = result.latency_us.read.p98
    with pytest.raises(AttributeError, match="latencies"):
        _ = result.latencies


def test_tables_are_frames(result: outlast.Result) -> None:
    for name, columns in result.tables.items():
        frame = result.table(name)
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns == list(columns)
        assert result.to_arrow(name).num_rows == frame.height
    assert isinstance(result.tables["timeseries"]["iops"], np.ndarray)
    with pytest.raises(outlast.OutputError, match="no table 'wears'"):
        result.table("wears")


def test_the_series_adds_up_to_the_summary(result: outlast.Result) -> None:
    series = result.table("timeseries")
    assert series["reads"].sum() == result.host.reads
    assert series["writes"].sum() == result.host.writes
    wear = result.table("wear").filter(pl.col("bad") == 0)
    assert wear["cycles"].max() == result.wear.max_pe
    latency = result.table("latency").filter((pl.col("op") == "read") & (pl.col("stream") == "all"))
    assert latency["quantile"].is_sorted()
    assert latency["latency_us"].is_sorted()


def test_latencies_beyond_any_expectation_are_told_as_they_are(tmp_path: Path) -> None:
    # Far more than the drive can do: requests wait for seconds, and the distribution must say so.
    flood = {"workload.synthetic.rate_iops": 200_000, "workload.synthetic.duration": "2s", "run.warm_up": "0s"}
    summary = outlast.run(tiny_file(tmp_path), flood).summary
    assert mean_from_histograms(summary) > 100_000
    assert mean_from_histograms(summary) == pytest.approx(mean_from_queue(summary), rel=0.01)


def test_a_result_can_be_written_and_loaded(result: outlast.Result, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "deep" / "out")
    loaded = outlast.load(folder)
    assert loaded.summary == result.summary
    assert loaded.scenario_toml == result.scenario_toml
    for name in result.tables:
        assert loaded.table(name).equals(result.table(name), null_equal=True) or name == "timeseries"
    with pytest.raises(outlast.OutputError, match=r"not empty; name another, or give force=True to replace a result$"):
        result.write(folder)
    result.write(folder, force=True)
    assert result.report(tmp_path / "page.html").stat().st_size > 500_000


def test_scenarios_as_dictionary_list_and_name() -> None:
    settings = {"extends": "demo", "name": "mine", "device": {"model": "x"}}
    assert outlast.resolve(settings)["name"] == "mine"
    assert outlast.resolve(["demo", {"name": "later wins"}])["name"] == "later wins"
    assert outlast.resolve("demo")["name"] == "demo"
    assert outlast.resolve("demo", {"device.ftl.gc.policy": "fifo"})["device"]["ftl"]["gc"]["policy"] == "fifo"
    phases = {"workload.synthetic.phases": [{"read_percent": 100, "requests": 10}]}
    assert outlast.resolve("demo", phases)["workload"]["synthetic"]["phases"][0]["requests"] == 10
    assert outlast.resolve("demo", {"seed": np.uint64(2**63 - 1)})["seed"] == 2**63 - 1


def test_errors_have_kinds() -> None:
    for kind in (outlast.ScenarioError, outlast.WorkloadError, outlast.DeviceError, outlast.OutputError):
        assert issubclass(kind, outlast.OutlastError)
    with pytest.raises(outlast.ScenarioError, match="did you mean"):
        outlast.resolve("demo", {"device.geometry.chanels": 3})
    with pytest.raises(outlast.WorkloadError, match=r"none\.csv"):
        outlast.trace_info("none.csv")
    with pytest.raises(outlast.ScenarioError, match="no preset"):
        outlast.show_preset("nothing-like-it")
    with pytest.raises(outlast.ScenarioError, match="fromat"):
        outlast.trace_info("none.csv", fromat="msr")


def _within_itself() -> list[Any]:
    table: dict[str, Any] = {"extends": "demo"}
    table["device"] = table
    own: list[Any] = ["demo"]
    own.append(own)
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"a": deep}
    return [table, own, deep, {"extends": "demo", "faults": own}]


@pytest.mark.parametrize("scenario", [*_within_itself(), b"demo", bytearray(b"demo"), None, 5, [3], [["demo"]]])
def test_what_is_no_scenario_is_refused_as_one(scenario: Any) -> None:
    for use in (outlast.run, outlast.validate, outlast.resolve, outlast.open, outlast.estimate):
        with pytest.raises(outlast.ScenarioError):
            use(scenario)


@pytest.mark.parametrize(
    "overrides", [5, "seed=3", [("seed",)], {3: 4}, {"name": "\udcff"}, {"faults": _within_itself()}]
)
def test_what_are_no_overrides_are_refused_as_a_scenario_is(overrides: Any) -> None:
    with pytest.raises(outlast.ScenarioError):
        outlast.resolve("demo", overrides)


@pytest.mark.parametrize("spec", [None, 5, b"s.toml", "a\0b", {"scenario": _within_itself()[1], "vary": []}])
def test_what_is_no_sweep_is_refused_and_makes_no_folder(spec: Any, tmp_path: Path) -> None:
    with pytest.raises(outlast.ScenarioError):
        outlast.sweep(spec, tmp_path / "sw")
    assert not (tmp_path / "sw").exists()


LONG = {"workload.synthetic.duration": "2000h", "precondition.overwrite": "none"}


def tiny_file(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    return file


def test_the_progress_function_may_stop_the_run(tmp_path: Path) -> None:
    calls: list[tuple[Any, ...]] = []

    def progress(*now: Any) -> bool:
        calls.append(now)
        return bool(now[2] == 0 or now[0] != "run")

    stopped = outlast.run(tiny_file(tmp_path), LONG, progress=progress)
    assert stopped.stopped
    assert stopped.partial
    phase, fraction, requests, simulated_s = calls[-1]
    assert phase == "run"
    assert fraction is None or 0 <= fraction <= 1
    assert requests > 0
    assert simulated_s > 0


def test_an_exception_of_the_progress_function_comes_through(tmp_path: Path) -> None:
    def progress(*_: Any) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        outlast.run(tiny_file(tmp_path), LONG, progress=progress)


def test_other_threads_go_on_while_it_runs(tmp_path: Path) -> None:
    ticks, over = [0], threading.Event()

    def count() -> None:
        while not over.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    last, most = [0], [0]

    def progress(*_: Any) -> bool:
        """Goes on until the other thread has between two calls: one that must wait gets a turn during a call alone."""
        last[0], most[0] = ticks[0], max(most[0], ticks[0] - last[0])
        return most[0] <= 10

    try:
        outlast.run(tiny_file(tmp_path), LONG, progress=progress)
    finally:
        over.set()
        thread.join()
    assert most[0] > 10


def test_names_that_are_offered_exist() -> None:
    for name in outlast.__all__:
        assert getattr(outlast, name) is not None
    assert set(outlast.__all__) <= set(dir(outlast))
    with pytest.raises(AttributeError, match="nothing"):
        _ = outlast.nothing


def test_the_stub_of_the_core_is_true() -> None:
    import ast

    from outlast import _core

    tree = ast.parse((ROOT / "python" / "outlast" / "_core.pyi").read_text())
    declared = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    real = {name for name in dir(_core) if not name.startswith("_")}
    assert declared == real
