"""Without time as much is written as with it, on drives and runs so large that the difference is not chance."""

from __future__ import annotations

from random_scenarios.chance import between_clocks, kib_of_request, tolerance
from random_scenarios.draw import Settings, merged
from random_scenarios.generate import Case
from random_scenarios.monotone import amplification, changed, plain
from random_scenarios.work import kib

VICTIMS = 300
"""Collected at least, in both runs: with fewer the start and the end of a run weigh more than what lies between."""

MOST_TOLERANCE = 0.2
"""Tolerance above which nothing is compared."""

LARGER = 16
"""Times as many blocks and as much capacity."""
DRIVE_WRITES = 3
"""Written while it is counted; half as much before."""
BY_TIME: Settings = {
    "device": {
        "ftl": dict.fromkeys(("wear_leveling", "map_flush", "map_cache")),
        "controller": dict.fromkeys(("coalesce", "hold_back")),
        "protection": {"partial": None},
    },
    "workload": {"synthetic": dict.fromkeys(("flush_every", "fua_percent"))},
}
"""Left away, since it is done at its time: padding and parity of what is flushed, wear levelling and flushes of the map
when nothing else is to be done, and units that are replaced in the buffer before they are written."""

MOST_REQUESTS = 400_000
"""Requests above which nothing is compared, since the run would take seconds."""
DEPTH = 32


def compared(case: Case) -> list[str] | None:
    """Differences in writes between a run with time and one without; `None` where there is nothing to compare."""
    base = _saturated(case)
    if base is None:
        return None
    timed = changed(base, {})
    quick = changed(base, {"run": {"timing": "none", "causes": None, "utilisation": None}})
    if not timed or not quick:
        return None
    own = [timed.summary, quick.summary]
    if min(each["gc"]["victims"] for each in own) < VICTIMS:
        return None
    one, other = map(amplification, own)
    most = tolerance(base, timed.summary) + between_clocks(base)
    if most > MOST_TOLERANCE:
        return None
    if abs(other - one) > most * one:
        return [f"write amplification {one:.3f} with time, {other:.3f} without; {100 * most:.1f} % apart at most"]
    return []


def _saturated(case: Case) -> Case | None:
    """A larger drive that is written by a host that always has writes waiting; `None` where the two may differ."""
    base = plain(case)
    if base is None or differs(base):
        return None
    by_time = BY_TIME if base.get("device.protection") else merged(BY_TIME, {"device": {"protection": None}})
    base = Case(base.seed, merged(base.settings, by_time), base.files, base.requests)
    size = kib(base.get("device.ftl.capacity"))
    requests = int(DRIVE_WRITES * LARGER * size / kib_of_request(base))
    if requests > MOST_REQUESTS:
        return None
    buffer = min(kib(base.get("device.controller.write_buffer")), 512)
    changes: Settings = {
        "device": {
            "geometry": {"blocks_per_plane": LARGER * base.get("device.geometry.blocks_per_plane")},
            "ftl": {"capacity": f"{LARGER * size}KiB"},
            "controller": {"write_buffer": f"{buffer}KiB"},
        },
        "workload": {"synthetic": {"requests": requests, "queue_depth": DEPTH}},
        "precondition": {
            "overwrite": "workload",
            "min_drive_writes": DRIVE_WRITES / 2,
            "max_drive_writes": DRIVE_WRITES / 2,
            "fill_fraction": None,
        },
        "run": {"causes": None, "window": None},
    }
    if base.get("workload.synthetic.pattern") != "jesd219":
        changes["workload"]["synthetic"]["read_percent"] = 0.0
    return Case(base.seed, merged(base.settings, changes), base.files, requests)


def differs(case: Case) -> bool:
    """True if time is known to change the writes (decision 0099).

    Without a cache each write that comes alone is padded, and without a protected one a victim waits for its data to be
    on flash, which matters to who has a low mark.
    """
    cache = case.get("device.controller.write_cache")
    return bool(cache == "off" or (cache == "volatile" and case.get("device.ftl.gc.start_free")))
