"""Small drives for tests, and what they may hold after a loss of power."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import outlast

UNIT = 4096


def geometry(
    channels: int, blocks: int, pages: int, page: str | int = "4KiB", *, dies: int = 1, planes: int = 1
) -> dict[str, Any]:
    """Geometry of flash with one chip to a channel: blocks of each plane, pages of each block, dies of each chip."""
    shape = {"channels": channels, "chips_per_channel": 1, "dies_per_chip": dies, "planes_per_die": planes}
    return shape | {"blocks_per_plane": blocks, "pages_per_block": pages, "page_size": page}


SMALL = {
    "extends": "demo",
    "name": "small",
    "device": {
        "geometry": geometry(4, 48, 16),
        "ftl": {"capacity": "6MiB"},
        "controller": {"write_buffer": "64KiB"},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
}
"""A drive of 12 MiB of flash, so small that it collects after a few thousand writes."""

VOLATILE = {"device.controller.write_cache": "volatile"}
PARITY = {"device.protection.data": 3}

ARRAY = SMALL | {"array": {"level": "raid5", "members": 4, "chunk": "16KiB"}}


@dataclass
class Model:
    """Content that each grain of a drive may have after a loss of power: its last safe one, and those written since."""

    content: bytearray
    protected: bool
    grain: int = UNIT
    """Bytes that survive together: a drive's mapping unit. An array may write a member's unit in two commands."""
    maybe: dict[int, list[bytes]] = field(default_factory=dict)

    def units(self, offset: int, length: int) -> range:
        return range(offset // self.grain, (offset + length - 1) // self.grain + 1)

    def unit(self, index: int) -> bytes:
        return bytes(self.content[index * self.grain : (index + 1) * self.grain])

    def change(self, offset: int, data: bytes, safe: bool = False) -> None:
        before = {index: self.unit(index) for index in self.units(offset, len(data))}
        self.content[offset : offset + len(data)] = data
        for index, old in before.items():
            if safe or self.protected:
                self.maybe.pop(index, None)
            else:
                self.maybe.setdefault(index, [old]).append(self.unit(index))

    def flush(self) -> None:
        self.maybe.clear()

    def power_cut(self, drive: outlast.Drive) -> None:
        for index, allowed in self.maybe.items():
            found = drive.read(index * self.grain, self.grain)
            assert found in allowed, f"unit {index} is none of the {len(allowed)} that it may be"
            self.content[index * self.grain : (index + 1) * self.grain] = found
        self.maybe.clear()

    def fork(self) -> Model:
        maybe = {index: list(all_) for index, all_ in self.maybe.items()}
        return Model(bytearray(self.content), self.protected, self.grain, maybe)
