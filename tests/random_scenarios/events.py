"""Faults during a run, and arrays in which they happen."""

from __future__ import annotations

from random_scenarios.draw import Draw, Row, Settings
from random_scenarios.flash import Shape

LEVELS: dict[str, tuple[int, ...]] = {
    "raid0": (2, 3, 4),
    "raid1": (2, 3),
    "raid10": (2, 3, 4),
    "raid4": (3, 4, 5),
    "raid5": (3, 4, 5),
    "raid6": (4, 5, 6),
}

KINDS = (
    *("power", "power", "die", "block", "page", "program", "erase", "plane", "transient-read", "wordline", "chip"),
    "parity-cache",
)
WITHIN_PLANE = ("block", "page", "program", "erase", "plane", "transient-read", "wordline")
WITHIN_BLOCK = ("block", "page", "program", "erase", "wordline", "transient-read")

ARRAY: tuple[Row, ...] = (
    ("spares", 0.3, (1,)),
    (
        "background",
        0.5,
        ({"min_rate": "10GB/s", "max_rate": "10GB/s"}, {"min_rate": "20MB/s"}, {"scrub_interval": "1h"}),
    ),
    ("safe_mode_delay", 0.2, ("1ms",)),
    ("repair", 0.3, ({"way": "rebuild"}, {"way": "assist"}, {"order": "exposure"})),
)

PARITY: tuple[Row, ...] = (
    ("writes", 1.0, ("cheapest", "no-reconstruct", "chunk-by-chunk")),
    ("layout", 0.3, ("left-asymmetric", "right-symmetric", "right-asymmetric")),
    ("log", 0.2, ({"bitmap_chunk": "64KiB", "bitmap_delay": "5ms"}, {"place": "controller"})),
)


def array(draw: Draw) -> Settings | None:
    """`[array]`."""
    if not draw.chance(0.2):
        return None
    level = draw.one(tuple(LEVELS))
    settings: Settings = {
        "level": level,
        "members": draw.one(LEVELS[level]),
        "chunk": draw.one(("4KiB", "16KiB", "64KiB")),
    }
    settings |= draw.fill(ARRAY)
    if level == "raid0" and "scrub_interval" in settings.get("background", {}):
        settings.pop("background")  # There is nothing to compare.
    if level == "raid10":
        settings |= draw.fill([("copy_layout", 0.6, ("near", "far", "offset"))])
    if level in ("raid4", "raid5", "raid6"):
        records = ("resync", "bitmap", "journal") if level == "raid6" else ("resync", "bitmap", "ppl", "journal")
        settings |= draw.fill(PARITY)
        settings["consistency"] = draw.one(records)
    if level == "raid4":
        settings.pop("layout", None)
    return settings


def fault(draw: Draw, shape: Shape, cache: str) -> Settings:
    """One of `[[faults]]`, of a drive."""
    kind = draw.one(KINDS)
    settings: Settings = {"at": draw.time(1, 400, "ms"), "kind": kind}
    if kind == "chip":
        return settings | {"channel": draw.whole(0, shape.channels - 1), "chip": draw.whole(0, shape.chips - 1)}
    if kind not in ("power", "parity-cache"):
        settings["die"] = draw.whole(0, shape.dies - 1)
    if kind in WITHIN_PLANE:
        settings["plane"] = draw.whole(0, shape.planes - 1)
    if kind in WITHIN_BLOCK:
        settings["block"] = draw.whole(0, shape.blocks - 1)
    if kind in ("page", "wordline"):
        settings["page"] = draw.whole(0, shape.pages - 1)
    if kind == "transient-read":
        settings["reads"] = draw.whole(1, 50)
    if kind == "power" and cache != "protected" and draw.chance(0.3):
        settings["torn"] = "512B"
    return settings


def faults(draw: Draw, shape: Shape, cache: str, members: int | None) -> list[Settings]:
    """`[[faults]]`; those of an array name a member, or hit the whole."""
    own = [fault(draw, shape, cache) for _ in range(draw.whole(1, 3))] if draw.chance(0.2) else []
    if members is None:
        return own
    for each in own:
        if each["kind"] != "power" or draw.chance(0.3):
            each["device"] = draw.whole(0, members - 1)
    if draw.chance(0.4):
        own.append({"at": draw.time(1, 200, "ms"), "kind": "device", "device": draw.whole(0, members - 1)})
        if draw.chance(0.4):
            own.append({"at": draw.time(201, 400, "ms"), "kind": "replace", "device": own[-1]["device"]})
    return own
