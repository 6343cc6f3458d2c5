"""Figures that each stage uses, and what the simulator gives for them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from outlast.products.fit import closed
from outlast.products.fit.machine import Machine, figure_of, timed
from outlast.products.fit.parameters import Theta
from outlast.products.fit.rows import Figure, Row
from outlast.products.fit.runs import Runs
from outlast.products.fit.solve import Vector

SATURATING = 32
"""Depth from which writes keep the flash busy."""
SIMULATED = {"waf": 0.004, "iops": 0.004}
"""Standard deviation of the logarithm of what runs of this length give, for as many superblocks as a drive may have."""
SIMULATED_LATENCY = 0.002


@dataclass(frozen=True)
class Observation:
    """One figure of a row."""

    row: Row
    name: str
    stage: str
    """Stage that uses it; "" where it is only predicted."""

    @property
    def figure(self) -> Figure:
        """Measured value."""
        return self.row.figures[self.name]

    @property
    def sigma(self) -> float:
        """The standard deviation of its logarithm, that of the simulator's runs included."""
        return math.hypot(self.figure.sigma, SIMULATED.get(self.name, SIMULATED_LATENCY))


def observations(rows: Sequence[Row]) -> list[Observation]:
    """All figures, each with the stage that uses it."""
    return [Observation(row, name, stage_of(row, name) if row.use else "") for row in rows for name in row.figures]


def stage_of(row: Row, name: str) -> str:
    """The stage that uses a figure; "" if none does."""
    load = row.load
    plain = load.rate is None and load.burst is None
    if load.burst is not None:
        return "buffer" if name == "iops" else ""
    if load.rate is not None and load.writes and not load.sequential and load.skew.kind == "uniform":
        return _beside(row, name)
    if load.workload == "randwrite" and plain and load.depth == 1:
        return "host" if name == "write_p50" else ""
    if load.workload == "randread" and plain:
        if load.depth == 1:
            return "read" if name == "read_p50" else ""
        return "dies" if name == "iops" else ""
    if load.sequential and plain and name == "iops" and load.depth * load.block >= 1 << 20:
        return "link" if load.workload == "read" else "program"
    if load.workload == "randwrite" and plain:
        if load.skew.kind != "uniform":
            return "policy" if name == "waf" else ""
        return "waf" if name == "waf" or (name == "iops" and load.depth >= SATURATING) else ""
    return ""


def _beside(row: Row, name: str) -> str:
    """Figures of random writes at a rate, and of reads beside them."""
    if name in ("write_p50", "write_p99"):
        return "pacing"
    mixed = 0 < row.load.read_percent < 100 and row.keeps_up
    return "suspend" if mixed and name in ("read_p90", "read_p99") else ""


class Simulator:
    """Figures of the simulated drive and of the closed forms for observations."""

    def __init__(self, machine: Machine, runs: Runs) -> None:
        self.machine, self.runs = machine, runs

    def closed(self, theta: Theta, seen: Sequence[Observation]) -> Vector:
        """Logarithms of the closed forms; 0 where there is none."""
        shape, capacity = self.machine.shape, self.machine.measured.capacity
        values = [closed.figure(theta, shape, capacity, each.row.load, each.name) for each in seen]
        return np.array([0.0 if value is None else math.log(value) for value in values])

    def simulate(self, thetas: Sequence[Theta], seen: Sequence[Observation]) -> list[Vector]:
        """Logarithms of the runs' figures, for each of some drives; NaN where a run has no such figure.

        Dies are whole numbers in runs; closed forms say what a part of one changes.
        """
        scenarios: dict[str, dict[str, object]] = {}
        keys = []
        for theta in thetas:
            for each in seen:
                scenario = self.machine.scenario(theta, each.row.load, timed=timed(each.row, each.name))
                key = json.dumps(scenario, sort_keys=True)
                scenarios[key] = scenario
                keys.append(key)
        given = dict(zip(scenarios, self.runs.summaries(list(scenarios.values())), strict=True))
        found = []
        for index, theta in enumerate(thetas):
            whole = theta | {"dies": float(self.machine.dies(theta["dies"]))}
            part = self.closed(theta, seen) - self.closed(whole, seen)
            own = keys[index * len(seen) : (index + 1) * len(seen)]
            values = [figure_of(given[key], each.name) for key, each in zip(own, seen, strict=True)]
            logs = np.array([math.nan if value is None or value <= 0 else math.log(value) for value in values])
            metadata = np.array([math.log(theta["metadata"]) if each.name == "waf" else 0.0 for each in seen])
            found.append(logs + part + metadata)
        return found
