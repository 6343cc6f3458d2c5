"""Are SLC caches, heat, handles and zones drawn, with the numbers of their tables?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlast
from conftest import ROOT
from outlast.plots import Style, charts_of, save
from outlast.report import mechanisms
from outlast.result import Result

EXAMPLES = ROOT / "scenarios" / "examples"


@pytest.fixture(scope="module")
def cached() -> Result:
    return outlast.run(EXAMPLES / "slc-cache.toml", {"workload.synthetic.duration": "2s"})


def test_the_curve_of_an_slc_cache_is_what_was_written(cached: Result, tmp_path: Path) -> None:
    curve = charts_of(cached).figure_of("slc-curve")
    (trace,) = curve.data
    series = cached.tables["timeseries"]
    # A point lies in the middle of its window, of which neighbours are joined.
    assert trace["x"][-1] == pytest.approx(np.sum(series["write_mib"]) * 2**20 / 1e9, rel=0.05)
    rate = series["write_mib"][0] * 2**20 / 1e6 / (series["end_s"][0] - series["start_s"][0])
    assert trace["y"][0] == pytest.approx(rate, rel=1e-3)
    fill = charts_of(cached).figure_of("slc-cache-fill")
    used = next(each for each in fill.data if each["name"] == "holds")
    assert used["y"][-1] == pytest.approx(cached.tables["slc_cache_over_time"]["used_bytes"][-1] / 2**30, rel=1e-3)
    for name in ("slc-curve", "slc-cache-fill"):
        assert save(cached, name, tmp_path / f"{name}.pdf", Style(grey=True)).stat().st_size > 1000


def test_temperatures_and_power_are_those_of_the_table() -> None:
    table = {"at_s": [0.1, 0.2], "watts": [4.0, 5.0], "controller_celsius": [50.0, 60.0], "case_celsius": [40.0, 45.0]}
    heat, power = mechanisms._temperatures(table), mechanisms._power(table)
    assert heat is not None and power is not None
    assert [each["y"] for each in heat.data] == [[50, 60], [40, 45]]
    assert power.data[0]["y"] == [4, 5]
    assert mechanisms._temperatures({"at_s": [0.1], "watts": [4.0]}) is None


def test_handles_have_a_curve_each_and_those_that_wrote_nothing_have_none() -> None:
    table = {
        "at_s": np.repeat([1.0, 2.0], 3),
        "handle": np.tile([0, 1, 2], 2),
        "host_bytes": np.array([10, 0, 4, 20, 0, 8]),
        "moved_bytes": np.array([5, 0, 0, 20, 0, 2]),
    }
    chart = mechanisms.handles(table)
    assert chart is not None
    assert {each["name"]: each["y"] for each in chart.data} == {"handle 0": [1.5, 2], "handle 2": [1, 1.25]}
    assert mechanisms.handles({}) is None


def test_zones_are_counted_by_state_and_a_drive_without_them_has_no_chart() -> None:
    figures = {"states": {"empty": 3, "full": 2, "offline": 0}, "refused": {"Zone Is Full": 1}, "reset": 4}
    chart = mechanisms._zones(figures)
    assert chart is not None
    (bars,) = chart.data
    shown = dict(zip(bars["y"], bars["x"], strict=True))
    assert shown == {"empty": 3, "full": 2, "reset (commands)": 4, "refused: Zone Is Full": 1}
    assert mechanisms._zones(None) is None
