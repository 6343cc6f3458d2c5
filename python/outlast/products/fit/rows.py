"""Measurements, as rows: what the host asked, what came of it, and how far each figure can be trusted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from outlast.errors import ScenarioError
from outlast.printable import printable

GIB = float(1 << 30)
READS = ("randread", "read", "randrw")
WRITES = ("randwrite", "write", "randrw")
WORKLOADS = ("randread", "randwrite", "randrw", "read", "write")
"""The names of fio's `rw`."""
SEQUENTIAL = ("read", "write")
KEEPS_UP = 0.97
"""A drive that does less than this of a rate does not keep up with it."""
PERCENTILE = re.compile(r"p(\d{1,2}(?:[._]\d+)?)")


class MeasuredError(ScenarioError):
    """Something that was measured cannot be used; one line names file, line or field, and the reason."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message, keep="\t"))


@dataclass(frozen=True)
class Noise:
    """Scatter of measured figures, as standard deviations of their logarithms."""

    iops: float = 0.01
    """Scatter of rates between repeated runs of one job."""
    latency: float = 0.01
    """Scatter of latencies, beside the sampling error of percentiles. fio's own buckets are 1.6 % wide."""
    waf: float = 0.005
    """Scatter of write amplifications, beside the rounding of the number as it was written down."""


@dataclass(frozen=True)
class Skew:
    """Addresses of writes: all alike, a share `a` of them to a share `1 - a` of the addresses, or by Zipf's law."""

    kind: str = "uniform"
    parameter: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind == "uniform" else f"{self.kind} {self.parameter:g}"


@dataclass(frozen=True)
class Load:
    """Load of the host."""

    workload: str
    block: int
    depth: int = 1
    """Requests under way at most; 0: no bound."""
    rate: float | None = None
    """Requests a second of an open loop; absent: as many as `depth` gives."""
    by_fio: bool = False
    """The rate is what one fio job was told: with gaps in whole microseconds it gives some more."""
    read_percent: float = 0.0
    user_bytes: float | None = None
    """Share of the drive that holds data; absent: all."""
    burst: int | None = None
    """Bytes that are written after a pause, and then no more; absent: until rates are steady."""
    skew: Skew = field(default_factory=Skew)

    @property
    def sequential(self) -> bool:
        """True if addresses follow each other."""
        return self.workload in SEQUENTIAL

    @property
    def writes(self) -> bool:
        """True if anything is written."""
        return self.workload in WRITES

    def __str__(self) -> str:
        parts = [self.workload, f"{self.block >> 10} KiB", *([f"depth {self.depth}"] if self.depth else [])]
        if self.workload == "randrw":
            parts.append(f"{self.read_percent:g} % reads")
        if self.rate is not None:
            parts.append(f"{self.rate:g} a second")
        if self.skew.kind != "uniform":
            parts.append(str(self.skew))
        if self.user_bytes is not None:
            parts.append(f"{self.user_bytes / GIB:.4g} GiB full")
        if self.burst is not None:
            parts.append(f"burst of {self.burst / (1 << 20):g} MiB")
        return ", ".join(parts)


@dataclass(frozen=True)
class Figure:
    """A measured number above 0."""

    value: float
    sigma: float
    """Standard deviation of its logarithm."""


@dataclass(frozen=True)
class Row:
    """One load and what it gave."""

    place: str
    """File and line, for messages and reports."""
    load: Load
    figures: Mapping[str, Figure]
    """Figures by name: `iops`, `waf`, `read_p50`, `write_p99_9`, `read_mean`; latencies in seconds."""
    drive_writes: float | None = None
    """Times that the filled part was written over before; absent: unknown."""
    steady: bool = False
    """The file says that the drive was worn in, whatever the figures look like."""
    use: bool = True
    """True if the fit may use it; else it is held out, and predicted."""
    margin: float | None = None
    """Share by which its figures are better than a data sheet promises; absent: they were measured."""

    @property
    def keeps_up(self) -> bool:
        """True if the drive took the rate that was asked for."""
        reached = self.figures.get("iops")
        return self.load.rate is None or reached is None or reached.value >= KEEPS_UP * self.load.rate


def latency_sigmas(percentiles: Mapping[float, float], count: float | None, noise: Noise) -> dict[float, float]:
    """The standard deviation of the logarithm of each percentile.

    Of `count` requests, the share below the true quantile scatters by √(p·(1 − p)/count); the distance to the next
    percentile tells how far the latency moves with that share. Without a count it is taken as 100 000.
    """
    known = sorted(percentiles)
    sigmas = {}
    for index, percent in enumerate(known):
        share = percent / 100
        scatter = math.sqrt(share * (1 - share) / max(1.0, count or 1e5))
        slopes = []
        for other in known[max(0, index - 1) : index + 2]:
            if other != percent and percentiles[other] > 0 and percentiles[percent] > 0:
                step = abs(math.log(percentiles[other] / percentiles[percent]))
                # Tails fall by a share of what is left rather than by a share of everything.
                apart = abs(math.log((100 - other) / (100 - percent))) if share > 0.5 else abs(other - percent) / 100
                width = scatter / (1 - share) if share > 0.5 else scatter
                slopes.append(step / apart * width)
        sampling = max(slopes, default=scatter / (1 - share))
        sigmas[percent] = math.hypot(noise.latency, sampling)
    return sigmas


def name_of(percent: float) -> str:
    """`p99_9` of 99.9."""
    return f"p{percent:g}".replace(".", "_")


def check_worn_in(row: Row, capacity: float, sequential_write: float | None) -> None:
    """Refuses figures of a drive that was not worn in: they say nothing about its steady state."""
    load = row.load
    if row.steady or load.burst is not None or load.sequential or not load.writes:
        return
    share = (load.user_bytes or capacity) / capacity
    remedy = 'overwrite it at random three times first (or say "steady = true" if you know better)'
    if row.drive_writes is not None and row.drive_writes < 2:
        raise MeasuredError(f"{row.place}: drive_writes = {row.drive_writes:g}: the drive was not worn in; {remedy}")
    waf = row.figures.get("waf")
    if waf is not None and share >= 0.7 and waf.value < 1.02:
        raise MeasuredError(
            f"{row.place}: waf = {waf.value:g} with {share:.0%} of the drive full: nothing was collected yet, "
            f"so the drive was not worn in; {remedy}"
        )
    rate = row.figures.get("iops")
    if rate is None or sequential_write is None or load.rate is not None or load.read_percent or share < 0.8:
        return
    written = rate.value * load.block
    if load.skew.kind == "uniform" and load.depth >= 32 and written > 0.97 * sequential_write:
        raise MeasuredError(
            f"{row.place}: {written / 1e6:.0f} MB/s of random writes, as many as sequential ones "
            f"({sequential_write / 1e6:.0f} MB/s): the rate is above the steady one; {remedy}"
        )
