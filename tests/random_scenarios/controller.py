"""The controller: its buffer, its queues and what its processors cost."""

from __future__ import annotations

from random_scenarios.draw import GONE, Draw, Row, Settings
from random_scenarios.flash import Shape

COSTS: tuple[Row, ...] = tuple(
    (name, 0.12, ("100ns", "1us", "4us"))
    for name in ("master_cost", "read_cost", "write_cost", "relocation_cost", "encode_cost", "decode_cost")
)

QUEUES: tuple[Settings, ...] = (
    {"arbitration": "round-robin"},
    {"arbitration": "weighted", "classes": ["high", "low"]},
    {"arbitration": "round-robin", "depth": 2},
)

ROWS: tuple[Row, ...] = (
    ("write_buffer", 1.0, ("512KiB", "1MiB", "4MiB", "8MiB")),
    ("read_cache", 0.2, ("256KiB", "4MiB")),
    ("host_latency", 0.2, ({"submit": "1us"}, {"submit": "20us", "complete": "7us"}, {"complete": "7us"})),
    ("command_costs", 0.2, ({"read": "500ns"}, {"write": "3us"})),
    ("decode", 0.2, ({"hard": "1us", "retry": "10us"}, {"hard": "8us", "retry": "40us"})),
    ("queue_depth", 0.15, (1, 2, 8, 64)),
    ("queues", 0.12, QUEUES),
    ("in_order", 0.1, (True,)),
    ("think_time", 0.1, ("1us", "20us")),
    ("link", 0.1, ("200MB/s", "2GB/s", "7GB/s")),
    ("internal_operations", 0.1, (1, 2, 8)),
    (GONE, 0.1, (None,)),
    (GONE, 0.1, (None,)),
    *COSTS,
)


def controller(draw: Draw, shape: Shape) -> Settings:
    """`[device.controller]`."""
    cache = draw.one(("protected", "protected", "protected", "volatile", "off"))
    settings: Settings = {"flash_cores": shape.cores, "write_cache": cache} | draw.fill(ROWS)
    coalesces, held = draw.chance(0.2), draw.one((None, "128KiB", "256KiB", "512KiB", "2MiB"))
    if coalesces and cache != "off":
        settings["coalesce"] = True
        if held:
            settings["hold_back"] = held
    if cache != "protected":
        settings |= draw.fill([("trims", 0.3, ("kept", "volatile"))])
    if cache == "volatile":
        settings |= draw.fill([("flush", 0.3, ("honour", "ignore", "late: 1ms"))])
    return settings
