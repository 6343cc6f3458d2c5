"""Do tasks that think slow collection and nobody else, and is a flash core's time for what is moved another thing?"""

from __future__ import annotations

from typing import Any

import pytest

from drives import geometry
from outlast import ScenarioError, api
from outlast.why.quantity import nanos

SMALL: dict[str, Any] = {
    "extends": "demo",
    "device": {
        "geometry": geometry(2, 128, 32),
        "ftl": {"capacity": "26MiB"},
        "controller": {"write_buffer": "64KiB", "read_cost": "0us", "write_cost": "0us", "internal_operations": 2},
    },
    "workload": {"synthetic": {"rate_iops": 800, "read_percent": 50, "pattern": "uniform", "duration": "4s"}},
}
"""Collection is at work all of the time, on two slots, and host commands cost nothing."""


def run(rate: int = 800, **controller: str) -> dict[str, Any]:
    """The summary of a run with so many requests a second and these settings of the controller."""
    changes: dict[str, Any] = {f"device.controller.{name}": value for name, value in controller.items()}
    return dict(api.run([SMALL], changes | {"workload.synthetic.rate_iops": rate}).summary)


def test_a_task_that_thinks_is_late_and_lets_the_host_go_first() -> None:
    none, some = run(), run(think_time="500us")
    assert none["write_amplification"]["gc"] > 1
    # As much is moved; it is moved later, and writes wait for it.
    assert some["write_amplification"]["gc"] == pytest.approx(none["write_amplification"]["gc"], rel=0.02)
    assert some["latency_us"]["write"]["mean"] > 1.05 * none["latency_us"]["write"]["mean"]
    # Reads do not, where no write waits that would follow in a burst: neither a die nor a core is busy for it.
    none, some = run(rate=700), run(rate=700, think_time="500us")
    assert some["latency_us"]["write"]["mean"] == none["latency_us"]["write"]["mean"]
    assert some["latency_us"]["read"]["mean"] < none["latency_us"]["read"]["mean"]


def test_a_relocation_costs_the_host_time_and_collection_none() -> None:
    none, some = run(internal_operations="8"), run(internal_operations="8", relocation_cost="200us")
    assert none["write_amplification"]["gc"] > 1
    assert some["latency_us"]["read"]["mean"] > 1.05 * none["latency_us"]["read"]["mean"]
    assert some["write_amplification"]["gc"] == pytest.approx(none["write_amplification"]["gc"], rel=0.01)


def test_a_think_time_of_more_than_a_second_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"device\.controller\.think_time = 2s: must be at most 1s"):
        run(think_time="2s")


def test_two_slots_bound_what_collection_does() -> None:
    """Two slots have two seconds a second for operations and thoughts; collection that is late uses nearly all."""
    summary = run(think_time="3ms")
    done, timing = summary["flash"], summary["scenario"]["device"]["timing"]
    reads, programs = done["by_cause"]["gc_reads"], done["by_cause"]["gc_programs"]
    each = {name: float(nanos(timing[name])) / 1e9 + 3e-3 for name in ("read", "program", "erase")}
    taken = reads * each["read"] + programs * each["program"] + done["erases"] * each["erase"]
    slots = 2 * summary["time"]["simulated_s"]
    # One operation of each slot may have begun before, and one may end after.
    assert 0.9 * slots < taken < slots + 4 * each["erase"]
