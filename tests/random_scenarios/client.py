"""Parts of drives for clients: an SLC cache, energy, heat, on-chip copies."""

from __future__ import annotations

from random_scenarios.draw import Draw, Row, Settings, at

CACHE: tuple[Row, ...] = (
    ("bits_per_cell", 0.3, (1, 1, 2)),
    ("native_bits_per_cell", 0.7, (3, 3, 4, 4, 2)),
    ("static_size", 0.4, ("1KiB", "256KiB", "1MiB", "4MiB")),
    ("dynamic_share", 0.7, (0.1, 0.5, 1.0, 1.0)),
    ("dynamic_size", 0.3, ("1KiB", "512KiB", "4MiB")),
    ("when_full", 0.5, ("fold", "direct")),
    ("fold_after_idle", 0.4, ("100us", "1ms", "50ms")),
    ("fold_from", 0.3, (0.01, 0.5, 0.9, 1.0)),
    ("endurance", 0.1, (100_000,)),
)

ENERGY: tuple[Row, ...] = (
    ("die_watts", 0.8, (0.0, 0.05, 1000.0)),
    ("channel_watts", 0.5, (0.0, 0.2)),
    ("read_joules", 0.5, (0.0, 1e-6, 1.0)),
    ("program_joules", 0.5, (0.0, 1e-5, 1.0)),
    ("erase_joules", 0.5, (0.0, 1e-4, 1.0)),
)

RESISTANCES = (1e-6, 0.1, 2.0, 10.0, 1e6)
CAPACITIES = (1e-6, 1e-3, 0.1, 10.0, 1e6)


def slc_cache(draw: Draw, device: Settings) -> Settings | None:
    """`[device.slc_cache]`; `None` where moved data goes among the host's."""
    if not draw.chance(0.35) or at(device, "ftl.gc.relocation") == "host":
        return None
    settings = draw.fill(CACHE) | {"read": draw.time(10, 40), "program": draw.time(50, 300)}
    if not {"static_size", "dynamic_share", "dynamic_size"} & settings.keys():
        settings["dynamic_share"] = 1
    return settings


def energy(draw: Draw) -> Settings | None:
    """`[device.energy]`, some of it at its limits."""
    if not draw.chance(0.3):
        return None
    settings: Settings = {"active_watts": draw.one((0.0, 3.0, 1000.0)), "idle_watts": draw.one((0.0, 0.0, 1.0))}
    settings |= draw.fill(ENERGY)
    if draw.chance(0.5):
        after = (draw.whole(1, 400), draw.whole(500, 5000))
        watts, exits = (0.0, 0.0), (draw.time(0, 300), draw.time(0, 9000))
        states = zip(after, watts, exits, strict=True)
        settings["states"] = [{"after": f"{a}us", "watts": w, "exit": e} for a, w, e in states]
    return settings


def heat(draw: Draw) -> Settings | None:
    """`[device.heat]`, some of it at its limits; for drives with energy."""
    if not draw.chance(0.5):
        return None
    settings: Settings = {
        "controller_to_case": draw.one(RESISTANCES),
        "case_to_air": draw.one(RESISTANCES),
        "controller_capacity": draw.one(CAPACITIES),
        "case_capacity": draw.one(CAPACITIES),
    }
    settings |= draw.fill([("every", 0.7, ("100us", "1ms", "10s")), ("start", 0.3, (-273.15, 60, 1000))])
    if draw.chance(0.6):
        settings["throttle"] = [
            {"from": 60, "until": draw.one((26, 55)), "rate": "50MB/s"},
            {"from": 70, "until": draw.one((30, 69.9)), "rate": "5MB/s"},
        ]
    if draw.chance(0.3):
        settings["shutdown"] = {"from": 80, "until": draw.one((40, 79))}
    return settings


def on_chip(draw: Draw, device: Settings) -> None:
    """Sets `on_chip_copies` of some drives without parity that relocate whole program units to streams of their own."""
    gc: Settings = device["ftl"]["gc"]
    goes = "protection" not in device and gc.get("relocation") != "host" and gc.get("reads") != "page"
    if goes and draw.chance(0.25):
        gc["on_chip_copies"] = draw.one((1, 1, 2, 15))


def parts(seed: int, device: Settings) -> Settings:
    """The tables of a device that are drawn here."""
    on_chip(Draw(seed, "on chip"), device)
    drawn = {"slc_cache": slc_cache(Draw(seed, "SLC cache"), device), "energy": energy(Draw(seed, "energy"))}
    drawn["heat"] = heat(Draw(seed, "heat")) if drawn["energy"] else None
    return {name: own for name, own in drawn.items() if own}


def scale(seed: int, device: Settings) -> Settings:
    """`run.capacity_scale` of a few drives for clients."""
    draw = Draw(seed, "scale")
    return draw.fill([("capacity_scale", 0.1, (1.0, 16.0, 1e6))]) if {"slc_cache", "heat"} & device.keys() else {}
