"""Loads of a rate, with a bound on what is under way, as fio jobs."""

from __future__ import annotations

import math

from outlast.products.fit.rows import Load

REQUESTS, LONGEST = 300_000, 60.0
"""Requests of a run at a rate, and its longest time in seconds."""
GAP_US = 100
"""fio's gaps are cut off to whole microseconds, half of one on average: jobs are so many that gaps are this long."""


def job(load: Load, ramp: float) -> str:
    """The job file. What one fio job was measured with is repeated as it was; any other rate is met."""
    assert load.rate is not None
    reads = load.rate * load.read_percent / 100
    sides = [reads, load.rate - reads] if 0 < load.read_percent < 100 else [load.rate]
    clones = 1 if load.by_fio else max(1, math.ceil(max(sides) * GAP_US * 1e-6))
    told = [round(side) if load.by_fio else _fio_rate(side / clones) for side in sides]
    lines = ["[rate]", "ioengine=io_uring", "norandommap=1", f"rw={load.workload}", f"bs={load.block}", "rwmixread=10"]
    lines += [f"iodepth={math.ceil(load.depth / clones)}", f"rate_iops={','.join(map(str, told))}"]
    if not load.by_fio:
        lines += [f"numjobs={clones}", "io_submit_mode=offload"]
    runtime = round(1e3 * min(REQUESTS / load.rate, LONGEST))
    lines += ["rate_process=poisson", "time_based=1", f"runtime={runtime}ms", f"ramp_time={round(1e6 * ramp)}us"]
    return "\n".join([*lines, ""])


def _fio_rate(rate: float) -> int:
    """Setting of fio for so many requests a second: its mean gap is a whole number of microseconds, less a half."""
    return max(1, 10**6 // max(1, round(1e6 / rate + 0.5)))
