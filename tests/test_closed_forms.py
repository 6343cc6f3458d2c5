"""Are figures that theory foretells where it says, and does the report set both side by side?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast.report import render
from outlast.report.closed import beside
from sample import sample_result
from test_report import own_html

LEAST = 0.001
"""Histograms have three digits."""


def test_the_demos_figures_are_beside_their_closed_forms(demo_result: Path) -> None:
    result = outlast.load(demo_result)
    rows = {row.name: row for row in beside(result.summary)}
    interval = result.summary["gc"]["write_amplification_interval"]
    known = (interval["high"] - interval["low"]) / 2 / result.summary["write_amplification"]["total"]
    # Of 1 / (1 - v), by which v is off is off by the amplification's share over (amplification - 1).
    assert rows["write amplification"].off == pytest.approx(0, abs=known + 0.03)
    assert rows["valid units of a victim"].off == pytest.approx(0, abs=(known + 0.03) / 2)
    assert rows["programs of all causes"].measured < rows["programs of all causes"].closed
    assert "Beside closed forms" in own_html(render([result]))


WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "page types": {"device.timing.read": ["50us", "70us", "90us"]},
    "costs": {
        "device.controller.master_cost": "2us",
        "device.controller.read_cost": "1us",
        "device.timing.command": "1us",
    },
    "host": {"device.controller.host_latency": {"submit": "1us", "complete": "7us"}},
    "no link": {"device.controller.link": None},
    "decoder": {"device.controller.decode": {"hard": "3us"}},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_read_that_waits_for_nothing_takes_what_its_way_takes(tiny: Path, way: str) -> None:
    alone: dict[str, Any] = {
        "workload.synthetic.rate_iops": None,
        "workload.synthetic.arrival": None,
        "workload.synthetic.queue_depth": 1,
        "workload.synthetic.read_percent": 100,
        "workload.synthetic.duration": "50ms",
    }
    result = outlast.run(tiny, alone | WAYS[way])
    (row,) = (row for row in beside(result.summary) if row.name == "fastest read")
    assert row.off == pytest.approx(0, abs=LEAST)


def test_what_a_result_does_not_tell_is_left_out() -> None:
    assert "fastest read" not in {row.name for row in beside(sample_result().summary)}
