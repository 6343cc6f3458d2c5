"""Does what collection costs a flash core delay the host alone, so that it is no pause of collection itself?"""

from __future__ import annotations

from typing import Any

import pytest

from outlast import api

SMALL: dict[str, Any] = {
    "extends": "demo",
    "device": {
        "geometry": {
            "channels": 2,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 128,
            "pages_per_block": 32,
            "page_size": "4KiB",
        },
        "ftl": {"capacity": "26MiB"},
        "controller": {"write_buffer": "64KiB", "read_cost": "0us", "write_cost": "0us", "internal_operations": 8},
    },
    "workload": {"synthetic": {"rate_iops": 1500, "read_percent": 50, "pattern": "uniform", "duration": "4s"}},
}
"""Collection is at work all of the time, and host commands cost nothing."""


def test_a_relocation_costs_the_host_time_and_collection_none() -> None:
    none, some = (
        dict(api.run([SMALL], {"device.controller.relocation_cost": cost}).summary) for cost in ("0us", "200us")
    )
    assert none["write_amplification"]["gc"] > 1
    assert some["latency_us"]["read"]["mean"] > 1.05 * none["latency_us"]["read"]["mean"]
    # A task that paused would relocate more slowly, and writes would wait for it.
    assert some["write_amplification"]["gc"] == pytest.approx(none["write_amplification"]["gc"], rel=0.01)
    assert some["latency_us"]["write"]["mean"] < 1.01 * none["latency_us"]["write"]["mean"]
