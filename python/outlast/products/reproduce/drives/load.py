"""The loads at which latency was measured, as a fio job: seven queues of 64 commands.

One thread asks for 10 000 requests a second at constant intervals, half of them reads; it is the one that is measured.
Six others ask for the rest of the rate as Poisson processes, 99 % of it writes. All is uniform over the drive, 4 KiB
each. A thread submits when its time has come and one of its 64 places is free, and catches up on arrears.
"""

from __future__ import annotations

from collections.abc import Sequence

MEASURED, OTHERS = "measured", "load"
OWN_RATE, THREADS, DEPTH, READS = 5_000, 6, 64, 0.01
"""The measured thread's reads a second, and as many writes; the others, their places, and their share of reads."""


def rates(rate: int) -> tuple[int, int]:
    """Reads and writes a second of each of the other threads."""
    rest = (rate - OWN_RATE) / THREADS
    return max(1, round(READS * rest)), round((1 - READS) * rest)


def job(loads: Sequence[int], ramp: str, runtime: str) -> str:
    """One load after the other, on the same drive."""
    lines = [
        "[global]",
        "ioengine=io_uring",
        "io_submit_mode=offload",
        "bs=4k",
        "rw=randrw",
        "norandommap",
        f"iodepth={DEPTH}",
    ]
    lines += ["time_based", f"ramp_time={ramp}", f"runtime={runtime}"]
    for index, rate in enumerate(loads):
        reads, writes = rates(rate)
        lines += [f"[{MEASURED}-{rate}]", *(["stonewall"] if index else [])]
        lines += ["rwmixread=50", f"rate_iops={OWN_RATE},{OWN_RATE}"]
        lines += [f"[{OTHERS}-{rate}]", f"numjobs={THREADS}", f"rwmixread={round(100 * READS)}"]
        lines += ["rate_process=poisson", f"rate_iops={reads},{writes}"]
    return "\n".join(lines) + "\n"
