"""Do extreme values, from Python and in results, keep their meaning where they are shown?"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import outlast
from conftest import Outlast, summary_of
from outlast import api
from outlast.errors import ScenarioError
from outlast.report import findings
from outlast.report.names import written
from outlast.report.numbers import short, thinned
from outlast.sweeps.reading import read


def test_a_comparison_has_no_more_digits_than_a_person_compares(
    outlast: Outlast, tiny_result: Path, tiny: Path, tmp_path: Path
) -> None:
    outlast("run", "tiny.toml", "--seed", "2", "--out", "other", "--quiet")
    shown_figures = outlast("compare", tiny_result, "other", "--all").stdout
    assert "queue.channel_utilisation" in shown_figures
    assert not re.findall(r"\d\.\d{6,}", shown_figures)


def test_a_result_completes_its_figures(tiny_result: Path) -> None:
    result = outlast.load(tiny_result)
    assert {"latency_us", "throughput", "write_amplification"} <= set(dir(result))


def test_a_tail_is_told_of_as_many_requests_as_it_takes() -> None:
    figures = {"p50": 10.0, "p90": 20.0, "p99": 30.0, "p99_9": 40.0}
    said = {
        count: findings.latency({"latency_us": {"read": figures | {"count": count}, "write": None}})
        for count in (2, 99, 100, 999, 1_000, 9_999, 10_000)
    }
    assert "Only 2 reads were measured" in said[2]
    assert "Only 99" in said[99]
    assert "One read in ten takes longer than <b>20.0 µs</b>" in said[100]
    assert "in ten " in said[999]
    assert "in a hundred " in said[1_000]
    assert "in a hundred " in said[9_999]
    assert "in a thousand " in said[10_000]


def test_a_rate_of_errors_is_not_shown_as_zero() -> None:
    assert written("reliability.uber_exact", 2e-17) == "2.00 · 10⁻¹⁷"
    assert short(-4.5e-6) == "−4.50 · 10⁻⁶"
    assert short(0.0) == "0"
    assert short(0.00123) == "0.00123"


def test_a_short_rest_at_the_end_joins_the_window_before_it() -> None:
    start = np.array([0.0, 1.0, 2.0, 3.0])
    series = {"start_s": start, "end_s": np.array([1.0, 2.0, 3.0, 3.1]), "reads": np.array([10, 10, 10, 9])}
    series |= {"writes": np.zeros(4)}
    joined = thinned(series)
    assert joined["end_s"].tolist() == [1.0, 2.0, 3.1]
    assert joined["reads"].tolist() == [10, 10, 19]
    whole = thinned(series | {"end_s": np.array([1.0, 2.0, 3.0, 3.6])})
    assert len(whole["end_s"]) == 4
    assert len(thinned({name: values[:1] for name, values in series.items()})["end_s"]) == 1


def test_values_from_python() -> None:
    spec = {"scenario": "demo", "vary": [{"setting": "seed", "values": np.arange(1, 4)}]}
    assert read(spec).axes[0].values == (1, 2, 3)
    spaced = {"scenario": "demo", "vary": [{"setting": "precondition.round", "values": np.linspace(0.1, 0.3, 3)}]}
    assert read(spaced).axes[0].values == pytest.approx((0.1, 0.2, 0.3))
    told = api.resolve("demo", {"run.warm_up": timedelta(milliseconds=3), "device.ftl.capacity": 2e9})
    assert told["run"]["warm_up"] == "3ms"
    assert (
        api.resolve(["demo", {"device": {"ftl": {"capacity": np.float64(2e9)}}}])["device"]["ftl"]["capacity"]
        == (told["device"]["ftl"]["capacity"])
    )
    with pytest.raises(ScenarioError, match=r"device\.ftl\.capacity = 1PiB: must be below the raw capacity"):
        api.resolve("demo", {"device.ftl.capacity": "1024TiB"})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), r"device\.ftl\.over_provisioning = nan: must be a finite number"),
        (float("inf"), r"device\.ftl\.over_provisioning = inf: must be a finite number"),
        ({1, 2}, r"device\.ftl\.over_provisioning = \{1, 2\}: a set cannot be a setting"),
        (1j, r"device\.ftl\.over_provisioning = 1j: a complex cannot be a setting"),
    ],
)
def test_values_that_no_setting_takes_are_named(value: object, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        outlast.validate(["demo", {"device": {"ftl": {"over_provisioning": value}}}])
    with pytest.raises(ScenarioError, match=said):
        outlast.validate("demo", {"device.ftl.over_provisioning": value})


def test_no_setting_is_a_value_of_a_sweep(weak: Path, tmp_path: Path) -> None:
    """`"null"` takes the inherited setting away, as in --set; from Python `None` does."""
    for none in ("null", None):
        axis = {"setting": "device.scrub", "values": [none, {"age": "1d"}], "labels": ["no scrubbing", "daily"]}
        done = outlast.sweep({"name": "s", "scenario": str(weak), "vary": [axis]}, tmp_path / str(none), jobs=1)
        assert [point["values"]["device.scrub"] for point in done.points] == ["no scrubbing", "daily"]


def test_scrubbing_that_holds_room_back_is_told(weak_result: Path) -> None:
    notes = " ".join(summary_of(weak_result)["notes"])
    assert re.search(r"Scrubbing keeps \d+ of the \d+ spare superblocks for itself", notes), notes
