"""The drive that is fitted, as scenarios: small, but with the dies, times and queues of the real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.products.fit import rates
from outlast.products.fit.choices import PACINGS
from outlast.products.fit.measured import Measured
from outlast.products.fit.parameters import BY_NAME, Theta, time
from outlast.products.fit.rows import Load, MeasuredError, Row
from outlast.products.fit.table import RATES, TIMES, from_size, quantity

ASSUMED: dict[str, tuple[Any, str]] = {
    "device.geometry.channels": (8, "usual for drives of four lanes"),
    "device.geometry.planes_per_die": (4, "usual since 176 layers; planes cannot be told from dies"),
    "device.geometry.page_size": ("16KiB", "usual since about 2014"),
    "device.geometry.blocks_per_plane": (512, "superblocks of a few hundred to a thousand are usual"),
    "device.timing.erase": ("3.5ms", "TLC"),
    "device.timing.bus": ("1600MB/s", "1.6 GT/s on 8 bits"),
    "device.ftl.mapping_unit": ("4KiB", "usual"),
    "device.ftl.one_shot": (3, "TLC programs a word line at once; the time is that of all its pages"),
}
"""Numbers that cannot be told from outside, assumed unless they are known."""
OPEN = 2
"""Superblocks that are being written: one for the host, one for collection. Their space is no spare space."""
UNITS = 2048
"""Mapping units of a superblock of the small drive, at least."""
SUSPENDS = {f"device.timing.suspend.{name}": value for name, value in
            (("program", True), ("erase", True), ("limit", 16))}  # fmt: skip
"""Assumptions on how a drive suspends."""
WORD_LINES = 16
"""Programs of each die to a superblock of the small drive, at least: with three of them rates are 18 % too low,
from twelve on they are those of long blocks."""
MOST_UNITS = 1 << 24
"""Mapping units of the small drive at most: many dies leave fewer word lines."""
UNTIMED_DIES, UNTIMED_PLANES = 8, 1


@dataclass(frozen=True)
class Shape:
    """The geometry of the drive."""

    channels: int
    planes: int
    page: int
    blocks: int
    unit: int
    shot: int
    """Pages of a block that are programmed at once."""
    erase: float
    bus: float

    @classmethod
    def of(cls, measured: Measured) -> Shape:
        """Known numbers, and assumptions on the others."""
        said = {name: measured.known.get(name, value) for name, (value, _) in ASSUMED.items()}
        return cls(
            channels=int(said["device.geometry.channels"]),
            planes=int(said["device.geometry.planes_per_die"]),
            page=_sized(said, "device.geometry.page_size"),
            blocks=int(said["device.geometry.blocks_per_plane"]),
            shot=int(said["device.ftl.one_shot"]),
            unit=_sized(said, "device.ftl.mapping_unit"),
            erase=quantity("known: device.timing.erase", said["device.timing.erase"], TIMES),
            bus=quantity("known: device.timing.bus", said["device.timing.bus"], RATES),
        )

    def superpage(self, dies: float) -> float:
        """Bytes programmed at once on all dies."""
        return dies * self.planes * self.page

    def pages(self, theta: Theta) -> float:
        """Pages of a block of the whole drive, so that it has its effective flash."""
        whole: float = theta["effective"] / ((self.blocks - OPEN) * self.superpage(theta["dies"]))
        return whole


def _sized(said: Mapping[str, Any], name: str) -> int:
    return round(from_size(f"known: {name}", said[name]))


class Machine:
    """Makes scenarios of numbers and loads."""

    def __init__(self, measured: Measured, seed: int = 1) -> None:
        self.measured = measured
        self.shape = Shape.of(measured)
        self.seed = seed

    def settings(self, theta: Theta) -> dict[str, Any]:
        """The fitted settings by dotted name, except for the geometry and the capacity."""
        values: dict[str, Any] = {
            BY_NAME[name].setting: BY_NAME[name].show(theta[name])
            for name in ("host", "command", "read", "link", "program")
        }
        values["device.timing.erase"] = time(self.shape.erase)
        values["device.timing.bus"] = ASSUMED["device.timing.bus"][0]
        values["device.ftl.mapping_unit"] = f"{self.shape.unit}B"
        values["device.ftl.one_shot"] = self.shape.shot
        values["device.ftl.gc.policy"] = theta["policy"]
        if theta["suspends"]:
            numbers = (BY_NAME[name] for name in ("overhead", "progress"))
            values |= SUSPENDS | {each.setting: each.show(theta[each.name]) for each in numbers}
        return values | self.measured.known

    def reserved(self, theta: Theta) -> float:
        """Superblocks that are no spare space to collection."""
        return OPEN + PACINGS[theta["pacing"]].kept_free

    def scenario(self, theta: Theta, load: Load, *, timed: bool) -> dict[str, Any]:
        """The layer of a scenario for a load, timed or not."""
        return self._timed(theta, load) if timed else self._untimed(theta, load)

    def _untimed(self, theta: Theta, load: Load) -> dict[str, Any]:
        """Only where data goes. Dies do not matter to that; superblocks are as many as the drive has."""
        pages = round(UNITS * self.shape.unit / (UNTIMED_DIES * UNTIMED_PLANES * self.shape.page))
        geometry = self._geometry(UNTIMED_DIES, UNTIMED_PLANES, pages, self.shape.blocks, 8)
        superblock = UNITS * self.shape.unit
        capacity = self._capacity(theta, load, superblock * (self.shape.blocks - self.reserved(theta)))
        units = capacity // self.shape.unit
        overwrite = "random" if load.skew.kind == "uniform" else "workload"
        requests = 2 * units
        values = self.settings(theta) | geometry | {
            "device.ftl.capacity": f"{capacity}B",
            "device.controller.write_buffer": "4MiB",
            "device.ftl.one_shot": 1,
            "precondition.overwrite": overwrite,
            "precondition.min_drive_writes": 3.0 if overwrite == "random" else 10.0,
            "run.timing": "none",
        }  # fmt: skip
        values |= PACINGS[theta["pacing"]].settings
        asked = {"requests": requests, "queue_depth": 32}
        return self._nested(values) | {"workload": {"synthetic": self._pattern(load) | asked}}

    def _timed(self, theta: Theta, load: Load) -> dict[str, Any]:
        """Drive with its true dies and times. Blocks are shorter, and so are erasures: they take a share of time."""
        shape, dies = self.shape, self.dies(theta["dies"])
        sustained = load.workload in ("randwrite", "randrw")
        blocks = shape.blocks if sustained else 64
        pages = shape.shot * self._word_lines(dies, blocks)
        superblock = round(pages * shape.superpage(dies))
        capacity = (
            self._capacity(theta, load, superblock * (blocks - self.reserved(theta)))
            if sustained
            else round(0.8 * superblock * blocks)
        )
        capacity = capacity // shape.unit * shape.unit
        erase = time(shape.erase * pages / shape.pages(theta))
        geometry = self._geometry(dies, shape.planes, pages, blocks, shape.channels)
        values = self.settings(theta) | geometry | {
            "device.timing.erase": erase,
            "device.ftl.capacity": f"{capacity}B",
            "device.controller.write_buffer": f"{self.buffer(theta, dies)}B",
            "precondition.overwrite": "random" if sustained else "none",
            "precondition.min_drive_writes": 2.0,
            "run.warm_up": self._warm_up(theta, load, dies),
        }  # fmt: skip
        if sustained:
            # Drives that collect nothing are made too small to keep superblocks free.
            values |= PACINGS[theta["pacing"]].settings
        if load.rate is not None and load.depth and not load.sequential:
            values["run.warm_up"] = "0s"
            job = rates.job(load, self._ramp(theta, dies))
            return self._nested(values) | {"workload": {"fio": {"job": job}}}
        return self._nested(values) | {"workload": {"synthetic": self._pattern(load) | self._length(load, capacity)}}

    def _word_lines(self, dies: int, blocks: int) -> int:
        """Programs of each die to a superblock."""
        units = self.shape.shot * self.shape.superpage(dies) / self.shape.unit
        wanted = max(WORD_LINES, round(UNITS / units))
        return max(1, min(wanted, int(MOST_UNITS / (blocks * units))))

    def _warm_up(self, theta: Theta, load: Load, dies: int) -> str:
        """Until buffers are full."""
        if load.burst is not None or not load.writes:
            return "0s" if load.burst is not None else "5ms"
        return time(self._ramp(theta, dies))

    def _ramp(self, theta: Theta, dies: int) -> float:
        """Twice the time in which flash takes what the buffer holds."""
        once = self.shape.shot * self.shape.superpage(dies)
        seconds: float = 2 * self.buffer(theta, dies) / once * theta["program"]
        return seconds

    def buffer(self, theta: Theta, dies: int) -> int:
        """The write buffer, and at least what the smallest drive of this shape needs."""
        least: float = max(theta["buffer"], 2 * self.shape.shot * self.shape.superpage(dies))
        return round(least / 4096) * 4096

    def dies(self, wanted: float) -> int:
        """The nearest number of dies that the channels allow."""
        return self.shape.channels * max(1, round(wanted / self.shape.channels))

    def _capacity(self, theta: Theta, load: Load, usable: float) -> int:
        """Filled share of a small drive: its usable flash is to it as the effective flash is to what is filled."""
        filled = load.user_bytes or self.measured.capacity
        return int(usable * filled / theta["effective"] / self.shape.unit) * self.shape.unit

    def _geometry(self, dies: int, planes: int, pages: int, blocks: int, channels: int) -> dict[str, Any]:
        return {
            "device.geometry.channels": channels,
            "device.geometry.chips_per_channel": 1,
            "device.geometry.dies_per_chip": dies // channels,
            "device.geometry.planes_per_die": planes,
            "device.geometry.blocks_per_plane": blocks,
            "device.geometry.pages_per_block": pages,
            "device.geometry.page_size": f"{self.shape.page}B",
        }

    def _pattern(self, load: Load) -> dict[str, Any]:
        if load.sequential:
            place: dict[str, Any] = {"pattern": "sequential"}
        elif load.skew.kind == "two-zone":
            share = load.skew.parameter
            place = {"pattern": "hotcold", "hot_access": share, "hot_fraction": round(1 - share, 9)}
        elif load.skew.kind == "zipf":
            place = {"pattern": "zipf", "zipf_theta": load.skew.parameter, "scramble": True}
        else:
            place = {"pattern": "uniform"}
        return place | {"read_percent": load.read_percent, "size": f"{load.block}B"}

    def _length(self, load: Load, capacity: int) -> dict[str, Any]:
        """Number of requests, and the way in which they come."""
        if load.burst is not None:
            return {"queue_depth": load.depth, "requests": max(1, load.burst // load.block)}
        if load.sequential:
            requests = 2 * capacity // load.block
        elif load.workload == "randread":
            requests = 20_000 if load.depth == 1 else 200_000
        elif load.depth == 1 and load.rate is None:
            requests = 20_000
        else:
            requests = 500_000
        if load.rate is not None:
            return {"rate_iops": load.rate, "arrival": "poisson", "requests": min(requests, 500_000)}
        return {"queue_depth": load.depth, "requests": requests}

    def _nested(self, values: Mapping[str, Any]) -> dict[str, Any]:
        nested: dict[str, Any] = {"name": "fit", "seed": self.seed}
        for name, value in values.items():
            *path, last = name.split(".")
            place = nested
            for part in path:
                place = place.setdefault(part, {})
                if not isinstance(place, dict):
                    raise MeasuredError(f'{self.measured.source}: known: "{part}" in {name}: must be a table')
            place[last] = value
        return nested


def timed(row: Row, name: str) -> bool:
    """True if a figure is taken of a run with time: where the row has its rate such a run is made at any rate.

    It has half a superblock less to collect from, since collection is ahead of the host.
    """
    return name != "waf" or "iops" in row.figures


def figure_of(summary: Mapping[str, Any], name: str) -> float | None:
    """The figure of a run under the name of a row's, in its unit."""
    value: float | None
    if name == "waf":
        value = summary["write_amplification"]["total"]
        return value
    if name == "iops":
        value = summary["throughput"]["iops"]
        return value
    side, _, which = name.partition("_")
    value = (summary["latency_us"].get(side) or {}).get(which)
    return None if value is None else value * 1e-6
