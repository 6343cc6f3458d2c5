"""Does a handle cost what its closed form says, and do the published experiments show what handles do to each other?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import outlast
from conftest import ROOT
from outlast import models
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.model import Setting
from outlast.products.reproduce.warp.streams import three_streams

SCENARIOS = ROOT / "scenarios"
OBJECTS = SCENARIOS / "cachelib-fdp" / "objects.toml"
PAGES = 1024
"""Mapping units to a superblock of that scenario."""

JOB = """
[global]
ioengine=io_uring_cmd
cmd_type=nvme
fdp=1
bs=4K
iodepth=64
{map}
[small]
rw=randwrite
offset={from_}%
size={percent}%
io_size={mib}m
fdp_pli={handle}
"""


def small_objects(percent: int, *, draws: str = "norandommap", handle: int = 1) -> tuple[float, float]:
    """Write amplification at rest of random writes to a part of a full drive; the drive's effective spare space."""
    job = JOB.format(map=draws, from_=100 - percent, percent=percent, mib=80 * percent, handle=handle)
    writes = 4.0 * percent / 100
    before = {"fill": "sequential", "overwrite": "workload", "min_drive_writes": writes, "max_drive_writes": writes}
    summary = outlast.run([OBJECTS, {"precondition": before, "workload": {"fio": {"job": job}}}]).summary
    return summary["write_amplification"]["total"], summary["device"]["effective_spare_factor"]


def test_one_handle_is_a_drive_under_independent_writes() -> None:
    found, spare = small_objects(100)
    assert found == pytest.approx(models.waf(spare, pages=PAGES), rel=0.02)
    # A permutation costs much less: no form of independent writes describes it.
    permuted, _ = small_objects(100, draws="")
    assert permuted < 0.7 * found


@pytest.mark.parametrize("percent", [20, 40])
def test_an_isolated_handle_is_within_its_bound(percent: int) -> None:
    found, spare = small_objects(percent)
    bound = float(models.waf_isolated(spare, space=percent / 100))
    assert found == pytest.approx(bound, rel=0.03)
    # The share p of a victim that is still valid, from the equation as it is printed.
    valid = 1 - 1 / bound
    assert percent / 100 / (percent / 100 + spare) == pytest.approx((1 - valid) / -np.log(valid), rel=1e-9)


def test_what_is_isolated_weighs_by_its_share_of_the_bytes() -> None:
    own = models.waf_isolated(0.185, space=[0.2, 0.4])
    assert models.waf_isolated(0.185, space=[0.2, 0.4], writes=0.5) == pytest.approx((1 + own) / 2)
    with pytest.raises(models.ModelError, match="space = 0: must be above 0"):
        models.waf_isolated(0.1, space=0.0)


@pytest.mark.parametrize("name", ["warp", "cachelib-fdp"])
def test_runs_write_what_the_published_ones_wrote(name: str) -> None:
    known = paper(name)
    for figure in known.figures:
        setting = Setting(known.modes["quick"], SCENARIOS / name)
        for cell in figure.cells(setting):
            scenario = cells.prepare(cell, 1).scenario
            assert scenario["device"]["geometry"]["blocks_per_plane"] >= 900
            assert cell.labels.get("span", "all") in ("all", "four fifths")


ZIPF: dict[str, Any] = {"writes": "zipf 1.2", "bytes": [3, 1, 1], "drive_writes": 6}


def of_streams(placement: str, **names: str) -> list[float]:
    """Write amplification by handle of WARP's three streams under zipf, on a 256th of the drive."""
    setting = Setting(paper("warp").modes["quick"], SCENARIOS / "warp")
    run = ZIPF | {"placement": placement, "vars": {"DISTRIBUTION": "zipf:1.2"} | names}
    *_, cell = three_streams(setting, scenario="three-streams.toml", divided={"quick": 256}, runs=[run], burst_mib=64)
    handles = outlast.run(cells.prepare(cell, 1).scenario).summary["placement"]["handles"]
    return [handle["write_amplification"] for handle in handles]


def test_a_noisy_handle_raises_the_cost_of_another() -> None:
    quiet, noisy = of_streams("a handle each"), of_streams("shared", JUMPER="0")
    # Neither the tail's writes nor its handle are others.
    assert noisy[1] > 1.5 * quiet[1]


def test_collection_takes_data_of_a_sequential_stream_before_it_is_stale_as_a_whole() -> None:
    sequential, *_ = of_streams("a handle each", DISTRIBUTION="random")
    assert sequential > 1.3
