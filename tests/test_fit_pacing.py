"""Space that bursts of collection keep free, which a fit must not count as spare space."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import outlast
from drives import geometry
from outlast.policies import Collecting, View
from outlast.products.fit.choices import HIGH_MARK, LOW_MARK, SHARES, kept_free

BLOCKS = 256
SUPERBLOCK = 2048
"""Mapping units."""
OPEN = 2
SPARE = 0.2


def _drive(blocks: int, gc: dict[str, Any], *, timed: bool, writes: int) -> dict[str, Any]:
    """A drive of so many superblocks that holds what one of `BLOCKS` would with its spare space."""
    units = int((BLOCKS - OPEN) * SUPERBLOCK / (1 + SPARE))
    return {
        "name": "kept",
        "seed": 7,
        "device": {
            "geometry": geometry(8, blocks, 64, 16384),
            "timing": {"read": "50us", "program": "700us", "erase": "200us", "bus": "1600MB/s"},
            "ftl": {"mapping_unit": 4096, "capacity": units * 4096, "gc": gc},
            "controller": {"write_buffer": "4MiB"},
        },
        "precondition": {"overwrite": "random", "min_drive_writes": 4.0},
        "run": {"timing": "full" if timed else "none"},
        "workload": {
            "synthetic": {
                "pattern": "uniform",
                "read_percent": 0,
                "size": 4096,
                "queue_depth": 64,
                "requests": writes * SUPERBLOCK,
            }
        },
    }


def _burst(low: int, high: int, share: float) -> dict[str, Any]:
    return {"pacing": "burst", "start_free": low, "stop_free": high, "host_share": share}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("low", "high"), [(LOW_MARK, HIGH_MARK), (8, 12), (2, 6), (6, 20)])
def test_the_space_that_bursts_keep_free_is_what_marks_imply(low: int, high: int, share: float, timed: bool) -> None:
    """Counted whenever a victim is taken: free superblocks, and the room of the host's own."""
    bursts: list[list[float]] = []

    def count(asked: Collecting) -> None:
        if not bursts or (asked.free == low and max(bursts[-1]) > low + 1.5):
            bursts.append([])
        bursts[-1].append(asked.free + asked.room / asked.units)

    outlast.run(_drive(BLOCKS, _burst(low, high, share), timed=timed, writes=200), policies={"pacing": count})
    whole = [free for burst in bursts[1:-1] for free in burst]
    # Where the host's superblock stands when a burst ends is not known: anywhere from empty to full, half a superblock
    # to either side of the middle, and half of that on average over the burst. Later victims gain less and are
    # therefore more, which adds up to 0.2 where a burst is a third of the spare space.
    assert np.mean(whole) - _smooth_space(timed=timed)[0] == pytest.approx(kept_free(low, high, share), abs=0.25)


@cache
def _smooth_space(*, timed: bool) -> tuple[float, float]:
    """The mean of the same count with smooth pacing, and the write amplification."""
    seen: list[float] = []

    def count(asked: Collecting) -> None:
        seen.append(asked.free + asked.room / asked.units)

    result = outlast.run(_drive(BLOCKS, {}, timed=timed, writes=200), policies={"pacing": count})
    return float(np.mean(seen[len(seen) // 2 :])), float(result.summary["write_amplification"]["total"])


@pytest.mark.parametrize("timed", [False, True])
def test_smooth_pacing_takes_its_victims_while_the_host_fills_its_superblock(timed: bool) -> None:
    """One superblock is free; of W victims the first finds the host's own empty, and the last a W-th of it."""
    space, amplification = _smooth_space(timed=timed)
    assert space == pytest.approx(1 + (amplification + 1) / (2 * amplification), abs=0.05)


def test_smooth_pacing_takes_its_victims_with_one_free_superblock() -> None:
    seen = []

    def emptiest(view: View) -> int | None:
        seen.append(int(np.count_nonzero(view.state == 0)))
        return view.least(view.valid)

    outlast.run(_drive(BLOCKS, {}, timed=False, writes=20), policies={"gc": emptiest})
    assert set(seen) == {1}


@cache
def _smooth(fewer: int) -> float:
    return _amplification(BLOCKS - fewer, {})


def _amplification(blocks: int, gc: dict[str, Any]) -> float:
    result = outlast.run(_drive(blocks, gc, timed=False, writes=1280))
    total: float = result.summary["write_amplification"]["total"]
    return total


@pytest.mark.parametrize("share", SHARES)
def test_bursts_amplify_writes_as_if_what_they_keep_free_were_not_there(share: float) -> None:
    """The superblocks that a drive with smooth pacing may lack until it amplifies as much."""
    found = _amplification(BLOCKS, _burst(LOW_MARK, HIGH_MARK, share))
    fewer = range(4, 12)
    equal = float(np.interp(found, [_smooth(each) for each in fewer], fewer))
    # With 40 to 160 cycles of burst and pause in 1280 superblocks of writes, what is found is off by 0.2 % (COUNTED_S
    # of fitted.py), and a superblock less makes 2 %: a tenth of one. Three of these, and the quarter above.
    assert equal == pytest.approx(kept_free(LOW_MARK, HIGH_MARK, share), abs=0.3 + 0.25)


def test_write_amplification_of_a_few_bursts_is_off_as_the_guide_says() -> None:
    """Error bound (1 - s)(1 - 1/W)/n over n cycles of burst and pause, and 0.41 of that on the mean square."""
    share = 0.5
    layer = _drive(BLOCKS, _burst(LOW_MARK, HIGH_MARK, share), timed=True, writes=400)
    layer["run"]["window"] = "20ms"
    table = outlast.run(layer).tables["timeseries"]
    host, moved = (np.concatenate(([0.0], np.cumsum(table[f"{name}_units"]))) for name in ("host", "gc"))
    whole = 1 + moved[-1] / host[-1]
    parts = []
    for cycles in np.arange(2, 4, 0.125):
        # From the end of each window on, as many writes as make so many cycles.
        span = cycles * (HIGH_MARK - LOW_MARK) / (1 - share) * SUPERBLOCK
        begins = host[host <= host[-1] - span]
        found = 1 + (np.interp(begins + span, host, moved) - np.interp(begins, host, moved)) / span
        parts.append((found / whole - 1) * cycles / ((1 - share) * (1 - 1 / whole)))
    off = np.concatenate(parts)
    # 25 bursts, of which each moves some percent more or less than others.
    assert np.max(np.abs(off)) == pytest.approx(1.0, abs=0.2)
    assert np.sqrt(np.mean(off**2)) == pytest.approx(math.sqrt(1 / 6), abs=0.05)
