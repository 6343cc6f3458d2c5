"""The translation layer: collection, wear levelling, parity; and how much of the flash is the host's."""

from __future__ import annotations

from random_scenarios.draw import Draw, Row, Settings, at
from random_scenarios.flash import Shape

PACING: tuple[Row, ...] = (
    ("window", 1.0, ("1ms", "10ms", "50ms")),
    ("factor", 1.0, (0.3, 0.95, 1.0, 1.5)),
    ("depth", 1.0, ("64KiB", "1MiB")),
)

MAP_FLUSH: tuple[Row, ...] = (
    ("interval", 0.6, ("1ms", "10ms", "100ms")),
    ("written", 0.6, ("256KiB", "4MiB")),
    ("entry", 1.0, ("4B", "8B", "64B")),
    ("dirty_only", 1.0, (True, True, False)),
)

PARTIAL: tuple[Row, ...] = (
    ("place", 1.0, ("none", "inline", "blocks", "cache")),
    ("timeout", 0.7, ("1ms", "50ms")),
)


def collection(draw: Draw, protected: bool) -> Settings:
    """`[device.ftl.gc]`; what moves late needs a buffer that survives a loss of power (`protected`)."""
    policy = draw.one(("greedy", "greedy", "cost-benefit", "cost-age-times", "fifo", "d-choices", "d-choices"))
    settings: Settings = {"policy": policy}
    if policy == "d-choices":
        settings["choices"] = draw.one((1, 2, 5, 15, 40))
    if draw.chance(0.15):
        settings["start_free"] = draw.whole(1, 6)
    pacing = draw.one(("smooth", "none", "burst", "token"))
    if draw.chance(0.5):
        settings["pacing"] = pacing
        if pacing == "burst":
            settings["start_free"] = settings.get("start_free", draw.whole(1, 4))
            settings["stop_free"] = settings["start_free"] + draw.whole(1, 4)
            settings |= draw.fill([("host_share", 0.6, (0, 0.3, 0.5, 1.0))])
        if pacing == "token":
            settings["token"] = draw.fill(PACING)
    settings |= draw.fill([("reads", 0.2, ("page",))])
    late = draw.one(("overlap", "relocation", "neither", "neither", "neither"))
    if protected and late == "overlap":
        settings["overlap"] = True
    if protected and late == "relocation":
        settings["relocation"] = "host"
    return settings


def layer(draw: Draw, shape: Shape, protected: bool) -> Settings:
    """`[device.ftl]` without its capacity."""
    settings: Settings = {
        "mapping_unit": f"{shape.unit_kib}KiB",
        "multi_plane": shape.multi_plane,
        "gc": collection(draw, protected),
    }
    if shape.one_shot > 1:
        settings["one_shot"] = shape.one_shot
    rows: tuple[Row, ...] = (
        ("streams", 0.25, (1, 2, 3, 4)),
        ("spare_blocks", 0.15, (1, 2, 3)),
        ("tolerated_bad_blocks", 0.1, (1, 2, 3)),
        ("stride", 0.1, (1, 2, 3, 4)[: max(1, shape.dies // shape.cores)]),
    )
    settings |= draw.fill(rows)
    if draw.chance(0.2):
        settings["allocation"] = "".join(draw.order("CWDP"))
    if draw.chance(0.2):
        settings["wear_leveling"] = {"dynamic": draw.chance(0.5), "static_gap": draw.whole(1, 10)}
    if draw.chance(0.15):
        flush = draw.fill(MAP_FLUSH)
        settings["map_flush"] = flush if {"interval", "written"} & flush.keys() else flush | {"interval": "5ms"}
        if draw.chance(0.4):
            ahead = draw.one((0, 0, 2))
            pages = (2 + ahead + draw.whole(0, 12)) * shape.cores
            settings["map_cache"] = {"size": f"{pages * shape.unit_kib}KiB", "prefetch": ahead}
    return settings


def protection(draw: Draw, shape: Shape) -> Settings | None:
    """`[device.protection]`: one code, codes by age, or classes with codes of their own; `None` without parity."""
    lanes = shape.lanes
    if lanes < 2 or not draw.chance(0.4):
        return None
    parity = draw.one((1, 1, 1, 2)) if lanes > 2 else 1
    width = draw.whole(parity + 1, lanes)
    settings: Settings = {"data": width - parity, "parity": parity}
    if draw.chance(0.2):
        settings["streams"] = "gathered"
    if draw.chance(0.25):
        settings["partial"] = draw.fill(PARTIAL)
    if draw.chance(0.15):
        settings["block"] = draw.one((1, 3, 7))
    stronger = {"data": max(1, width - parity - 1), "parity": min(parity + 1, width - 1)}
    kind = draw.one(("plain", "plain", "codes", "classes"))
    if kind == "codes" and width > 2:
        settings["codes"] = [stronger | {"pe_cycles": draw.one((1, 3, 10))}]
    if kind == "classes" and width > 2:
        by: Settings = draw.one(
            ({"at_most": "8KiB"}, {"hints": [0]}, {"hot": 0.3}, {"ranges": [{"from": "0B", "to": "64KiB"}]})
        )
        settings["classes"] = [by | stronger, {"data": width - parity, "parity": parity}]
        settings["default_class"] = 1
    return settings


ISOLATIONS = ("initially-isolated", "persistently-isolated")


def placement(draw: Draw, device: Settings) -> Settings | None:
    """`[device.placement]`, in the place of streams; `None` where the drive has what does not go with handles."""
    others = ("protection.classes", "controller.coalesce", "repair")
    mixes = at(device, "ftl.gc.relocation") == "host"
    if not draw.chance(0.12) or mixes or any(at(device, name) for name in others):
        return None
    device["ftl"].pop("streams", None)
    configurations = [
        {"handles": [draw.one(ISOLATIONS) for _ in range(draw.whole(1, 4))]} for _ in range(draw.whole(1, 2))
    ]
    number = len(configurations) - 1
    settings: Settings = {"configurations": configurations, "configuration": number}
    if draw.chance(0.3):
        settings["placement_handles"] = [len(configurations[number]["handles"]) - 1]
    return settings


def streams(device: Settings) -> int:
    """Write streams for the host's data, of each class."""
    if handles := at(device, "placement.configurations"):
        return len(handles[at(device, "placement.configuration")]["handles"])
    return int(at(device, "ftl.streams", 1))


def capacity_kib(draw: Draw, shape: Shape, device: Settings) -> int:
    """Capacity for the host: a share of the space without reserves and parity, often all but a superblock."""
    ftl: Settings = device["ftl"]
    gc: Settings = ftl["gc"]
    opened = streams(device) * max(1, len(at(device, "protection.classes", ())))
    reserve = 4 + 2 * opened + gc.get("stop_free", gc.get("start_free", 2) + 1)
    reserve += 2 * sum((bool(gc.get("overlap")), "wear_leveling" in ftl, "scrub" in device, "map_flush" in ftl))
    data = 1.0
    if code := device.get("protection"):
        data = min(own["data"] / (own["data"] + own["parity"]) for own in (code, *code.get("codes", ())))
        if block := code.get("block"):
            data *= block / (block + 1)
        if code.get("partial"):
            reserve, data = reserve + 3, data * 0.9
    if at(device, "mount.lists"):
        data *= 0.9
    if at(device, "mount.checkpoint_every"):
        reserve += 2
    if "defects" in device:
        data *= 0.95
    blocks = shape.blocks - ftl.get("spare_blocks", 0)
    used = blocks * draw.one((0.98, 0.95, 0.9, 0.8, 0.6, 0.4)) - reserve - draw.share()
    units = int(max(3.0, used) * data * shape.superblock_kib / shape.unit_kib)
    return max(8, units) * shape.unit_kib
