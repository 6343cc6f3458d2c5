"""Does a report set what the maker of a drive promises beside what was measured, where both are of the same?"""

from __future__ import annotations

from typing import Any

import pytest

import outlast
from outlast.report import render
from outlast.report.sheet import beside
from test_report import own_html

SHORT: dict[str, Any] = {
    # All of its dies, with a sixteenth of each block: a data sheet speaks of rates and times.
    "device.geometry.pages_per_block": 96,
    "run.capacity_scale": 16.0,
    "workload.synthetic.duration": "50ms",
    "run.warm_up": "0s",
    "precondition.overwrite": "none",
}


EMPTY: dict[str, Any] = SHORT | {"precondition.fill": "none"}
"""Settings of an unwritten drive, for tests that need figures beside each other and not their sizes."""


def rows(short: dict[str, Any] = SHORT, /, **changes: Any) -> dict[str, tuple[float, float, str]]:
    named = {f"workload.synthetic.{name}": value for name, value in changes.items()}
    result = outlast.run("hynix-pe8110-960g", short | named)
    return {row.name: (row.measured, row.closed, row.shown[1]) for row in beside(result.summary)}


def test_rates_are_beside_rates_as_far_as_they_were_asked_for() -> None:
    found = rows(rate_iops=40_000, read_percent=50)
    assert set(found) == {"random reads", "random writes"}
    reads, promised, shown = found["random reads"]
    assert (promised, shown) == (900_000, "900 k IOPS")
    # Half of what arrives at random: five deviations of a Poisson count over 50 ms.
    assert reads == pytest.approx(20_000, abs=5 * (20_000 / 0.05) ** 0.5)
    assert found["random writes"][1] == 70_000


def test_requests_in_order_are_beside_bandwidths() -> None:
    found = rows(pattern="sequential", size="128KiB", read_percent=100, rate_iops=10_000)
    assert set(found) == {"sequential reads"}
    rate, promised, _ = found["sequential reads"]
    assert promised == 6500
    assert rate == pytest.approx(10_000 * 0.131072, rel=0.2)


def test_one_request_at_a_time_is_beside_latencies() -> None:
    found = rows(read_percent=100, queue_depth=1, rate_iops=None)
    assert set(found) == {"random reads", "read latency, median"}
    median, promised, _ = found["read latency, median"]
    assert promised == 75
    assert 0.5 < median / promised < 1.5


def test_what_a_data_sheet_does_not_speak_of_is_beside_nothing() -> None:
    assert not rows(EMPTY, size="16KiB")
    result = outlast.run("hynix-pe8110-960g", EMPTY | {"device.data_sheet": None})
    assert not beside(result.summary)
    assert "Beside the data sheet" not in own_html(render([result]))
    result = outlast.run("hynix-pe8110-960g", EMPTY)
    assert beside(result.summary)
    assert "Beside the data sheet" in own_html(render([result]))


def test_a_promise_of_nothing_is_refused() -> None:
    told = r"device\.data_sheet\.random_read = 0: must be above 0"
    with pytest.raises(outlast.ScenarioError, match=told):
        outlast.run("hynix-pe8110-960g", SHORT | {"device.data_sheet.random_read": 0})
