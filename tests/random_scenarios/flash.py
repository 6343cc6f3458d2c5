"""Geometry and times of the flash."""

from __future__ import annotations

from dataclasses import dataclass

from random_scenarios.draw import GONE, Draw, Row, Settings

MOST_RAW = 48 << 20
"""Bytes of flash at most: a drive that is filled and overwritten in some hundredths of a second."""

SUSPENSION: tuple[Row, ...] = (
    ("program", 1.0, (True, True, False)),
    ("erase", 1.0, (True, True, False)),
    ("overhead", 1.0, ("0us", "5us", "20us", "100us")),
    ("limit", 1.0, (1, 2, 8, 100)),
    ("reads", 0.3, (1, 2, 16, 255)),
    ("least_progress", 0.3, ("10us", "100us", "500us")),
    ("program_phase", 0.2, ("50us", "160us")),
    ("erase_latency", 0.2, ("5us", "140us")),
    (GONE, 0.1, (None,)),
    (GONE, 0.1, (None,)),
    ("resume", 0.2, ("0us", "10us")),
    ("while_writes_wait", 0.2, (False,)),
)


@dataclass(frozen=True)
class Shape:
    """Sizes of the drive that other settings must fit."""

    channels: int
    chips: int
    dies_per_chip: int
    planes: int
    blocks: int
    pages: int
    page_kib: int
    one_shot: int
    cores: int
    unit_kib: int
    multi_plane: bool

    @property
    def dies(self) -> int:
        """Dies of the drive."""
        return self.channels * self.chips * self.dies_per_chip

    @property
    def lanes(self) -> int:
        """Lanes of one flash core, over which stripes go."""
        return self.dies // self.cores * (1 if self.multi_plane else self.planes)

    @property
    def raw_kib(self) -> int:
        """All flash, in KiB."""
        return self.dies * self.planes * self.blocks * self.pages * self.page_kib

    @property
    def superblock_kib(self) -> float:
        """One block of each plane of the drive, in KiB."""
        return self.raw_kib / self.blocks


def shape(draw: Draw) -> Shape:
    """A geometry whose parts divide each other."""
    channels, chips, dies_per_chip = draw.one((1, 2, 4)), draw.one((1, 1, 2)), draw.one((1, 1, 2))
    planes, page_kib, pages = draw.one((1, 1, 2, 4)), draw.one((4, 8, 16)), draw.one((8, 16, 24, 32, 48))
    one_shot, cores = draw.one((1, 1, 1, 2, 3)), draw.one((1, 1, 1, 1, 2, 4))
    blocks, unit_kib = draw.whole(20, 70), draw.one((4, 4, 4, 4, 8, 16, 2, 1, 32))
    while channels * chips * dies_per_chip * planes * blocks * pages * page_kib << 10 > MOST_RAW and blocks > 20:
        blocks = max(20, blocks // 2)
    if pages % one_shot:
        one_shot = 1
    while planes * page_kib * one_shot // unit_kib > 64 and one_shot > 1:
        one_shot -= 1
    if unit_kib > planes * page_kib * pages:
        unit_kib = 4
    if channels % cores:
        cores = 1
    multi_plane = not draw.chance(0.12)
    return Shape(
        channels, chips, dies_per_chip, planes, blocks, pages, page_kib, one_shot, cores, unit_kib, multi_plane
    )


def geometry(draw: Draw, shape: Shape) -> Settings:
    """`[device.geometry]`."""
    settings: Settings = {
        "channels": shape.channels,
        "chips_per_channel": shape.chips,
        "dies_per_chip": shape.dies_per_chip,
        "planes_per_die": shape.planes,
        "blocks_per_plane": shape.blocks,
        "pages_per_block": shape.pages,
        "page_size": f"{shape.page_kib}KiB",
    }
    return settings | draw.fill([("spare_per_page", 0.1, ("64B", "1KiB"))])


def timing(draw: Draw, shape: Shape) -> Settings:
    """`[device.timing]`."""
    settings: Settings = {
        "read": draw.time(20, 90),
        "program": draw.time(200, 1500),
        "erase": draw.time(1000, 6000),
        "bus": draw.one(("200MB/s", "667MB/s", "1200MB/s", "2400MB/s")),
    }
    if shape.one_shot == 1:
        for name, low, high in (("read", 20, 90), ("program", 200, 1500)):
            if draw.chance(0.15):
                settings[name] = [draw.time(low, high) for _ in range(3)]
    rows: tuple[Row, ...] = (
        ("command", 0.3, ("200ns", "1us", "5us")),
        ("cache_read", 0.2, ("0us", "3us", "30us")),
        ("channel", 0.2, ("reads-first",)),
    )
    settings |= draw.fill(rows)
    if shape.multi_plane and draw.chance(0.2):
        settings["plane_reads"] = "independent"
    if draw.chance(0.3):
        settings["suspend"] = draw.fill(SUSPENSION)
    return settings
