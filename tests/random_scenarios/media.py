"""Errors of flash, and the drive's measures against them."""

from __future__ import annotations

from random_scenarios.draw import GONE, Draw, Row, Settings
from random_scenarios.flash import Shape

RELIABILITY: tuple[Row, ...] = (
    ("rereads", 0.6, tuple({"scale_factor": s, "max_retries": n} for s in (1.1, 1.3, 2.0) for n in (0, 1, 3, 6))),
    ("variation", 0.3, ({"sigma": 0.1}, {"sigma": 0.4})),
    ("read_scope", 0.2, ("page",)),
    ("reread_history", 0.2, (True,)),
    ("codewords_checked", 0.1, ("one",)),
    (GONE, 0.3, (None,)),
    (GONE, 0.3, (None,)),
)

SCRUB: tuple[Row, ...] = (
    ("reads", 0.3, (200, 2000)),
    ("age", 0.3, ("1s", "30d")),
    ("expected_errors", 0.3, (5, 20)),
    ("rereads_per_unit", 0.3, (0.1, 1.0)),
    ("patrol", 0.2, ("1s", "5s")),
    ("bandwidth", 0.3, ("1MB/s", "50MB/s")),
)

RATES = ("page", "wordline", "block", "plane", "die")
CHANCES = ("program", "erase", "read")


def reliability(draw: Draw) -> Settings:
    """`[device.reliability]`."""
    settings: Settings = {
        "chip": draw.one(("tlc-72-layer", "mlc-2y-nm", "msapl", "b-mlc8-1", "mlc-3x-nm")),
        "ecc": {"strength": draw.one((4, 20, 40, 72))},
    }
    settings |= draw.fill(RELIABILITY)
    if draw.chance(0.7):
        cycles = draw.one((0, 500, 3000, 8000))
        spread = draw.one((0, 100)) if cycles else 0
        settings["initial"] = {"pe_cycles": cycles, "pe_spread": spread, "age": ["1d", "60d"]}
    if draw.chance(0.2):
        settings |= {"temperature": draw.one((25, 40, 55)), "reference_temperature": 40}
    return settings


def scrub(draw: Draw, errs: bool, protected: bool) -> Settings:
    """`[device.scrub]`; with parity, data whose code has changed may be written anew."""
    settings = draw.fill(SCRUB) if errs else {}
    if errs and not {"reads", "age", "expected_errors", "rereads_per_unit", "patrol"} & settings.keys():
        settings["reads"] = 500
    if errs and draw.chance(0.3) and not {"age", "patrol"} & settings.keys():
        settings["unit"] = "block"
    if protected and (not errs or draw.chance(0.4)):
        settings["reprotect"] = True
    return settings


def upkeep(draw: Draw, shape: Shape, protected: bool, cache_is_protected: bool) -> Settings:
    """The tables of `[device]` about errors; `protected`: there is parity."""
    device: Settings = {}
    if draw.chance(0.35):
        device["reliability"] = reliability(draw)
    if ("reliability" in device and draw.chance(0.4)) or (protected and draw.chance(0.2)):
        device["scrub"] = scrub(draw, "reliability" in device, protected)
    if draw.chance(0.1):
        device["mount"] = {"lists": draw.chance(0.7)} | draw.fill([("checkpoint_every", 0.4, ("8MiB", "64MiB"))])
    hazards: Settings = {}
    if draw.chance(0.12):
        hazards["per_year"] = {draw.one(RATES): draw.one((1e7, 1e8, 1e9))}
    if draw.chance(0.08):
        hazards["per_operation"] = {draw.one(CHANCES): draw.one((1e-3, 1e-2))}
    if hazards:
        device["hazards"] = hazards
    if draw.chance(0.12):
        schemes = ("isolated", "cooperative") if cache_is_protected else ("isolated",)
        device["repair"] = {"scheme": draw.one(schemes)}
        device["repair"] |= draw.fill([("identifier", 0.3, ("p2l-page", "l2p-one-core", "l2p-all-cores"))])
    if draw.chance(0.08):
        device["bytes"] = True
    return device


def changes(draw: Draw, shape: Shape, code: Settings | None) -> list[Settings]:
    """`[[changes]]`: another code at a time or an age, or dies that come late."""
    if code is None or not draw.chance(0.25):
        return []
    width = code["data"] + code["parity"]
    when: Settings = draw.one(({"at": draw.time(1, 300, "ms")}, {"pe_cycles": draw.whole(1, 6)}, {"medium_errors": 1}))
    parity = draw.whole(1, max(1, min(3, width - 1)))
    return [when | {"data": max(1, width - parity), "parity": parity}]
