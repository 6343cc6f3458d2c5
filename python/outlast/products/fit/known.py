"""Settings that are said to be known, as far as the fit itself computes with them; runs check the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.products.fit import parameters
from outlast.products.fit.rows import MeasuredError
from outlast.products.fit.table import RATES, SIZES, TIMES, quantity

WHOLE = {
    "device.geometry.channels": (1, 65_535),
    "device.geometry.chips_per_channel": (1, 65_535),
    "device.geometry.dies_per_chip": (1, 65_535),
    "device.geometry.planes_per_die": (1, 65_535),
    "device.geometry.blocks_per_plane": (4, 2**32 - 1),
    "device.ftl.one_shot": (1, 8),
}
"""Whole numbers with their limits: those of a scenario, and of blocks more than are being written."""


@dataclass(frozen=True)
class Kind:
    """Quantities with a unit, and their limits."""

    units: Mapping[str, float]
    least: float
    most: float
    words: str


UNIT = Kind(SIZES, 512, 1 << 20, "from 512 bytes to 1 MiB")
TIME = Kind(TIMES, 1e-9, 1e3, "from 1 ns to 1000 s")
RATE = Kind(RATES, 1e3, 1e15, "from 1 kB/s to 1 PB/s")
SIZE = Kind(SIZES, 1024, 1 << 60, "from 1 KiB to 1 EiB")
BY_SHOW = {parameters.time: TIME, parameters.rate: RATE, parameters.size: SIZE}
SIZED = {
    "device.geometry.page_size": UNIT,
    "device.ftl.mapping_unit": UNIT,
    "device.timing.erase": TIME,
    "device.timing.bus": RATE,
} | {
    each.setting: BY_SHOW[each.show]
    for each in parameters.PARAMETERS
    if each.show in BY_SHOW and each.setting != "device.geometry"  # decided by several settings
}
HOST_LATENCY = "device.controller.host_latency"


def check_known(place: str, name: str, value: Any) -> None:
    """Refuses a value with which nothing can be computed; `place` says the file and the field."""
    for own in (*WHOLE, *SIZED):
        if own.startswith(f"{name}."):
            raise MeasuredError(f"{place} = {value}: must be a table, such as {own}")
        if name.startswith(f"{own}."):
            raise MeasuredError(f"{place} = {value}: {own} is no table")
    if name in WHOLE:
        least, most = WHOLE[name]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise MeasuredError(f"{place} = {value}: must be a whole number from {least} to {most}")
    elif name in SIZED:
        _check_quantity(place, value, SIZED[name])
    elif name == HOST_LATENCY and isinstance(value, dict):
        for part in value.values():
            _check_quantity(place, part, TIME)


def _check_quantity(place: str, value: Any, kind: Kind) -> None:
    if not kind.least <= quantity(place, value, kind.units) <= kind.most:
        raise MeasuredError(f"{place} = {value}: must be {kind.words}")
