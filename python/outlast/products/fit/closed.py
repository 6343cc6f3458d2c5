"""Closed forms of what loads give, in the order of a microsecond: start values of the fit, and its slopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from outlast import models
from outlast.products.fit.machine import Shape
from outlast.products.fit.parameters import Theta
from outlast.products.fit.rows import Load
from outlast.products.fit.waits import Busy, tail

LARGEST_DEPTH = 4096
"""The mean-value recursion goes over depths one by one."""
SHARPNESS = 16.0
"""Sharpness of the change from one of two bounds to the other."""


def figure(theta: Theta, shape: Shape, capacity: float, load: Load, name: str) -> float | None:
    """The figure of a load; `None` where there is no closed form of it."""
    if name == "waf":
        waf = amplification(theta, capacity, load)
        return None if waf is None else theta["metadata"] * waf
    if load.burst is not None:
        return burst(theta, shape, capacity, load) if name == "iops" else None
    if load.rate is not None:
        return read_tail(theta, shape, capacity, load, name)
    if load.workload == "randread":
        if name == "iops":
            return read_rate(theta, shape, load)
        return read_latency(theta, shape, load) if name in ("read_p50", "read_mean") and load.depth == 1 else None
    if load.depth == 1 and load.workload == "randwrite":
        return floor(theta, load) if name in ("write_p50",) else None
    if name != "iops":
        return None
    if load.workload == "read":
        return least(theta["link"], reading(theta, shape)) / load.block
    if load.workload == "write":
        return least(theta["link"], programming(theta, shape)) / load.block
    if load.workload == "randwrite":
        waf = amplification(theta, capacity, load)
        return None if waf is None else written(theta, shape, waf) / load.block
    return None


def amplification(theta: Theta, capacity: float, load: Load) -> float | None:
    """Greedy collection's, of uniform writes, without the drive's own data."""
    if load.skew.kind != "uniform":
        return None
    spare = theta["effective"] / (load.user_bytes or capacity) - 1
    return _greedy(max(spare, 1e-3))


@lru_cache(maxsize=1024)
def _greedy(spare: float) -> float:
    """Asked for again and again: most numbers that a fit moves leave spare space as it is."""
    return float(models.waf(spare))


def least(*bounds: float) -> float:
    """The smallest of some bounds, and somewhat less where two are near each other: there neither is reached."""
    top = min(bounds)
    total: float = sum((top / each) ** SHARPNESS for each in bounds)
    return float(top * total ** (-1 / SHARPNESS))


def floor(theta: Theta, load: Load) -> float:
    """A write that the buffer takes at once."""
    total: float = theta["host"] + theta["command"] + load.block / theta["link"]
    return total


def sensing(theta: Theta, shape: Shape, load: Load) -> float:
    """Time for which a read occupies a die."""
    total: float = theta["read"] + min(load.block, shape.page) / shape.bus
    return total


def read_latency(theta: Theta, shape: Shape, load: Load) -> float:
    """A read that meets nobody."""
    return floor(theta, load) + sensing(theta, shape, load)


def read_rate(theta: Theta, shape: Shape, load: Load) -> float:
    """Mean-value analysis of a closed network: dies that are alike, in one of which each request spends its time.

    A request finds on average half of the service of the one before it left, since reads take equally long.
    """
    service = sensing(theta, shape, load)
    network = _network(service, read_latency(theta, shape, load) - service, theta["dies"])
    rate = network.rate(min(load.depth, LARGEST_DEPTH))
    ceiling: float = 1 / theta["command"]
    return least(rate, theta["link"] / load.block, ceiling)


@dataclass
class _Network:
    """A closed network, and its rates by depth as far as they were asked for: those of few lie on the way to many."""

    service: float
    away: float
    dies: float
    rates: list[float] = field(default_factory=lambda: [0.0])
    at_dies: float = 0.0

    def rate(self, most: int) -> float:
        """The rate with so many requests."""
        rates, at_dies = self.rates, self.at_dies
        for depth in range(len(rates), most + 1):
            each, busy = at_dies / self.dies, rates[-1] * self.service / self.dies
            # Written out, since a fit comes here millions of times.
            if busy > 1.0:
                busy = 1.0
            response = self.service * (1 + (each - busy if each > busy else 0.0) + busy / 2)
            rates.append(depth / (self.away + response))
            at_dies = rates[-1] * response
        self.at_dies = at_dies
        return rates[most]


_network = lru_cache(maxsize=1024)(_Network)


def reading(theta: Theta, shape: Shape) -> float:
    """Bytes a second out of all dies, bounded by their channels."""
    of_die = shape.page * shape.planes / (theta["read"] + shape.page * shape.planes / shape.bus)
    return least(shape.channels * shape.bus, float(theta["dies"] * of_die))


def programming(theta: Theta, shape: Shape) -> float:
    """Bytes a second into all dies, bounded by their channels."""
    unit = shape.page * shape.planes * shape.shot
    of_die = unit / (theta["program"] + unit / shape.bus)
    return least(shape.channels * shape.bus, float(theta["dies"] * of_die))


def written(theta: Theta, shape: Shape, waf: float) -> float:
    """Bytes a second of host writes: each takes its part of programs, of the reads that collect, and of erasures.

    For each row that is programmed, a row is collected: sensed once on all planes if anything in it is still valid.
    """
    row = shape.page * shape.planes
    unit = row * shape.shot
    program = theta["program"] + unit / shape.bus
    stale = waf ** -(row / shape.unit)
    collected = shape.shot * (1 - stale) * theta["read"] + (1 - 1 / waf) * unit / shape.bus
    erase = shape.erase * shape.shot / shape.pages(theta)
    return least(float(theta["dies"] * unit / (waf * (program + collected + erase))), float(theta["link"]))


def read_tail(theta: Theta, shape: Shape, capacity: float, load: Load, name: str) -> float | None:
    """A percentile of reads beside random writes at a rate."""
    waf = amplification(theta, capacity, load)
    if waf is None or load.rate is None or not name.startswith("read_p") or load.sequential:
        return None
    row = shape.page * shape.planes
    written_share = 1 - load.read_percent / 100
    programs = load.rate * written_share * load.block * waf / (row * shape.shot) / theta["dies"]
    collected = programs * shape.shot * (1 - waf ** -(row / shape.unit))
    reads = load.rate * (1 - written_share) / theta["dies"]
    service = sensing(theta, shape, load)
    busy = Busy(programs * theta["program"], (collected + reads) * service, service)
    return read_latency(theta, shape, load) + tail(theta, busy, float(name[6:].replace("_", ".")))


def burst(theta: Theta, shape: Shape, capacity: float, load: Load) -> float | None:
    """The mean rate of a burst: as fast as the link until the buffer is full, then as fast as flash takes it."""
    assert load.burst is not None
    waf = amplification(theta, capacity, load) if not load.sequential else 1.0
    if waf is None:
        return None
    drained, fast = written(theta, shape, waf), 1 / (1 / theta["link"] + theta["command"] / load.block)
    at_once = min(load.burst, theta["buffer"] / max(1e-9, 1 - drained / fast)) if drained < fast else load.burst
    return float(load.burst / (at_once / fast + (load.burst - at_once) / drained) / load.block)
