"""The four corners of a drive: sequential and random reads and writes, each from a drive prepared for it.

They are a sweep over one axis, `corner`. The loads are those by which data sheets give their rates: 128 KiB in order at
a depth of 32, 4 KiB at random at a depth of 256 for reads and of 128 for writes. The drive is filled in order; for
random writes it is overwritten until they are steady, which is most of the cost of a large drive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from outlast.why.quantity import bytes_of, bytes_per_s

AXIS = "corner"
FIGURES = (
    "throughput.iops",
    "throughput.read_mib_s",
    "throughput.write_mib_s",
    *(f"latency_us.{op}.{key}" for op in ("read", "write") for key in ("mean", "p50", "p99", "p99_9")),
    "write_amplification.total",
)
LARGE, SMALL = 128 << 10, 4096
DURATION = "1s"
"""Simulated time that is measured of each corner, unless `workload.synthetic.duration` is set."""


@dataclass(frozen=True)
class Corner:
    """A load, and the figure of a data sheet that is about it."""

    name: str
    op: str
    is_random: bool
    depth: int
    promise: str


CORNERS = (
    Corner("sequential reads", "read", False, 32, "read"),
    Corner("sequential writes", "write", False, 32, "write"),
    Corner("random reads", "read", True, 256, "random_read"),
    Corner("random writes", "write", True, 128, "random_write"),
)


def spec(whole: Mapping[str, Any], layers: Sequence[Any], overrides: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The sweep over the corners of a scenario, whose settings in full are `whole`."""
    unit = max(SMALL, int(bytes_of(whole["device"].get("ftl", {}).get("mapping_unit", SMALL))))
    # What is set by name holds at every corner.
    return {
        "name": f"{whole['name']}-corners",
        "scenario": list(layers),
        "set": _without(whole["workload"]) | {"workload.synthetic.duration": DURATION} | dict(overrides),
        "vary": [{"name": AXIS, "choices": [{"label": each.name, "set": settings(each, unit)} for each in CORNERS]}],
        "figures": list(FIGURES),
        "pareto": [],
    }


def _without(workload: Mapping[str, Any]) -> dict[str, str]:
    """Overrides that take away all that a scenario says of its load."""
    others = [f"workload.{name}" for name in workload if name != "synthetic"]
    return dict.fromkeys([*others, *(f"workload.synthetic.{name}" for name in workload.get("synthetic") or {})], "null")


def cost(layers: Sequence[Any], spec: Mapping[str, Any]) -> float:
    """Processor time of all corners, as probably told, in seconds."""
    from outlast.costs import estimate

    (axis,) = spec["vary"]
    return sum(estimate(list(layers), dict(spec["set"]) | choice["set"]).cpu_s for choice in axis["choices"])


def settings(corner: Corner, unit: int) -> dict[str, Any]:
    """The load of a corner and how its drive is prepared; `unit`: bytes of a request at random."""
    return {
        "workload.synthetic.pattern": "uniform" if corner.is_random else "sequential",
        "workload.synthetic.read_percent": 100 if corner.op == "read" else 0,
        "workload.synthetic.size": unit if corner.is_random else LARGE,
        "workload.synthetic.queue_depth": corner.depth,
        # Reads find their pages on all dies either way; only writes are about what the drive has gone through.
        "precondition.overwrite": "random" if corner.is_random and corner.op == "write" else "none",
    }


def promise(whole: Mapping[str, Any], corner: Corner) -> float | None:
    """Promise of the data sheet, in bytes or requests a second; `None` where there is none."""
    given = (whole["device"].get("data_sheet") or {}).get(corner.promise)
    if given is None:
        return None
    return float(Fraction(given)) if corner.is_random else float(bytes_per_s(given))


def rate(figures: Mapping[str, Any], corner: Corner) -> float | None:
    """Rate that was reached, in the unit of the promise."""
    name = "throughput.iops" if corner.is_random else f"throughput.{corner.op}_mib_s"
    mean = (figures.get(name) or {}).get("mean")
    return None if mean is None else mean if corner.is_random else mean * 2**20
