"""Does a fleet of one array lose data as often as the array that is simulated, with rebuilds paced as md paces them?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import outlast
from outlast import fleet
from outlast.fleet.lives import wilson

MEMBERS, SPARES = 5, 6
SECONDS = 30.0
"""Seconds of the array that are a year of the fleet."""
RATE = 0.02
"""Failures of a member per second."""
RUNS = 48
SMALL = {
    "device.geometry.channels": 2,
    "device.geometry.blocks_per_plane": 16,
    "device.ftl.capacity": "48MiB",
    "workload.synthetic.duration": f"{SECONDS}s",
    "workload.synthetic.rate_iops": 60,
    "array.spares": SPARES,
    "array.background.max_rate": "12MB/s",
    "array.background.min_rate": "1MB/s",
}


def failures(seed: int, rebuild_s: float) -> list[dict[str, str | int]]:
    """Whole members that fail at random, each only while it is there: one that is rebuilt does not fail."""
    chance = np.random.default_rng(seed)
    free_at, at = [0.0] * MEMBERS, 0.0
    faults: list[dict[str, str | int]] = []
    while (at := at + chance.exponential(1.0 / (MEMBERS * RATE))) < SECONDS and len(faults) < SPARES:
        slot = int(chance.integers(MEMBERS))
        if at < free_at[slot]:
            continue
        faults.append({"at": f"{at:.6f}s", "device": slot, "kind": "device"})
        free_at[slot] = at + rebuild_s
        if sum(at < free for free in free_at) > 1:
            break
    return faults


def test_a_fleet_of_one_array_is_lost_as_often_as_the_array(tmp_path: Path) -> None:
    one = outlast.run("array-raid5-5", SMALL | {"faults": [{"at": "5s", "device": 2, "kind": "device"}]})
    one.write(tmp_path / "rebuild")
    array = one.summary["array"]
    rebuild_s = array["rebuild"]["finished_s"] - array["rebuild"]["started_s"]
    assert array["state"] == "clean" and rebuild_s > 4.0
    year = 8760.0 * 3600.0
    said = {
        "years": 1,
        "cluster": {"drives": MEMBERS},
        # As many bytes more as a year has more seconds: rebuilds take the same share of it.
        "drive": {
            "capacity": array["rebuild"]["bytes_written"] * year / SECONDS,
            "used": 1.0,
            "afr": -math.expm1(-RATE * SECONDS),
        },
        "code": {"data": MEMBERS - 1, "parity": 1},
        "placement": {"kind": "aligned"},
        "repair": {"result": str(tmp_path / "rebuild"), "detection_hours": 0.0},
        "study": {"engine": "splitting", "relative_error": 0.03, "elasticities": False, "lives": 3},
    }
    result = fleet.study(said)
    assert result["fleet"]["rebuild_hours"] == pytest.approx(rebuild_s * 8760.0 / SECONDS, rel=1e-6)
    found = result["loss_by_year"][0]["group"]
    lost = 0
    for seed in range(RUNS):
        played = outlast.run("array-raid5-5", SMALL | {"seed": seed + 1, "faults": failures(seed, rebuild_s)})
        lost += played.summary["array"]["state"] == "failed"
    low, high = wilson(lost, RUNS)
    assert 10 < lost < RUNS - 10
    assert low < found["mean"] < high, f"{lost} of {RUNS} arrays, {found['mean']:.3f} of fleets"
