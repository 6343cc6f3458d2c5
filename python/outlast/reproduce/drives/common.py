"""The drives that are held against measurements: how each is made smaller, and what was fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast import api
from outlast.reproduce.model import Setting

HOST_US = 4.0
"""The host's own software (io_uring), which the measured latencies include: 3 to 5 µs, assumed."""
FITTED, PREDICTED = "fitted", "predicted"
PAGES, SPARE, ERASE = "device.geometry.pages_per_block", "device.ftl.over_provisioning", "device.timing.erase"
UNTIMED_SHARE = 64
"""Runs without time are on a drive of this part."""


@dataclass(frozen=True)
class Drive:
    """A drive that was measured."""

    key: str
    """Its figure, and its scenario file."""
    name: str
    """As the tables of measurements call it."""
    factor: float
    """Writes to flash for each that Outlast counts: what the drive writes of its own."""
    known_from: str
    """Where `factor` is from."""
    quick_share: int
    """The part of the drive that the quick mode simulates with time."""
    open: str
    """What of its latency is not explained."""


MAX = Drive(
    "7450",
    "Micron 7450 MAX 800 GB",
    1.033,
    "fitted to 1.108 with the drive written to 372.6 GiB",
    2,
    "its pacing of writes, which makes bursts at half of the load and none at the top, is not found yet",
)
P5520 = Drive(
    "p5520",
    "Solidigm D7-P5520 1.92 TB",
    1.067,
    "fitted to 1.067 under sequential writes",
    4,
    "some writes wait at part load for what is not modelled, and reads of the saturated drive longer for their turn",
)
PM9A3 = Drive(
    "pm9a3",
    "Samsung PM9A3 960 GB",
    1.0,
    "assumed: the drive was counted in one state only",
    2,
    "room for writes comes with the superblocks that collection frees, in the drive more evenly",
)
PE8110 = Drive(
    "pe8110",
    "SK hynix PE8110 960 GB",
    1.0,
    "assumed: the drive counts nothing",
    2,
    "room for writes comes with the superblocks that collection frees, in the drive more evenly",
)
DRIVES = (MAX, P5520, PM9A3, PE8110)
PRO = "Micron 7450 PRO 960 GB"
"""The hardware of the MAX: compared by its rates."""

RATES_FITTED = {(MAX.name, 372.6), (MAX.name, 745.2), (P5520.name, 1788.5)}
"""Host rates (drive, GiB written to) that a number of the preset was fitted to."""
AMPLIFICATION_FITTED = {
    (MAX.name, 372.6, "uniform"),
    (MAX.name, 745.2, "uniform"),
    (P5520.name, 1788.5, "uniform"),
    (PM9A3.name, 894.3, "uniform"),
}
"""Write amplifications (drive, GiB written to, workload) that a number of the preset was fitted to."""
READS = ("r50", "r99", "r99.9")
FLOOR = {(10_000, "r50"), (10_000, "w50")}


def _reads(*rates: int) -> set[tuple[int, str]]:
    return {(rate, figure) for rate in rates for figure in READS}


LATENCY_FITTED: dict[str, set[tuple[int, str]]] = {
    MAX.name: FLOOR | _reads(30_000, 60_000, 90_000),
    P5520.name: FLOOR | _reads(10_000, 40_000, 70_000, 110_000) | {(130_000, "w50")},
    PM9A3.name: FLOOR | _reads(10_000, 20_000, 30_000, 40_000, 50_000, 60_000) | {(80_000, "r50"), (80_000, "w50")},
    PE8110.name: FLOOR | _reads(10_000, 30_000, 50_000, 70_000) | {(90_000, "r50")},
}
"""Percentiles (requests a second asked for, figure) by drive that a number of the preset was fitted to."""


def scenario(setting: Setting, drive: Drive) -> Mapping[str, Any]:
    """The drive at full size, resolved."""
    return api.resolve(str(setting.scenarios / f"{drive.key}.toml"))


def smaller(whole: Mapping[str, Any], share: int) -> dict[str, Any]:
    """Overrides that leave a part of each block: superblocks are as many as in the drive, the spare share is as large.

    An erasure takes as much less time as a block is smaller, so that dies erase for the same share of the time.
    """
    pages, erase = whole["device"]["geometry"]["pages_per_block"], whole["device"]["timing"]["erase"]
    return {PAGES: pages // share, ERASE: f"{nanoseconds(erase) // share}ns"} if share > 1 else {}


def spare_for(whole: Mapping[str, Any], gib: float) -> float:
    """Over-provisioning that leaves the host so many GiB of the drive at full size."""
    geometry = whole["device"]["geometry"]
    raw = 1
    for name in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "blocks_per_plane"):
        raw *= int(geometry[name])
    kib = raw * int(geometry["pages_per_block"]) * kibibytes(geometry["page_size"])
    return float(kib / (gib * 2**20) - 1)


def nanoseconds(time: str) -> int:
    """A time of a resolved scenario, in nanoseconds."""
    units = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
    number = time.rstrip("abcdefghijklmnopqrstuvwxyz")
    return round(float(number) * units[time[len(number) :].strip()])


def kibibytes(size: str) -> int:
    """A page's size of a resolved scenario, in KiB."""
    return int(size.removesuffix("KiB"))


def percent(ours: float, measured: float) -> str:
    """How far ours is off."""
    return f"{100 * (ours / measured - 1):+.1f} %"
