"""Faster parts make no drive slower, and more spare space none write more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from random_scenarios.chance import tolerance
from random_scenarios.draw import Settings, at, merged
from random_scenarios.generate import Case
from random_scenarios.laws import broken
from random_scenarios.run import Ran, Summary, outcome

REQUESTS = 3000
LOSS = 0.05
"""Relative loss of throughput that a faster part may cost: another order of events ends a short run elsewhere."""
LONGER = 10
"""Times as many requests for both rates where a short run loses more: what its end alone does then counts little."""

FASTER = {"200MB/s": "667MB/s", "667MB/s": "1200MB/s", "1200MB/s": "2400MB/s", "2400MB/s": "4800MB/s"}
APART = ("array", "faults", "changes")
APART_OF_DEVICE = ("reliability", "scrub", "hazards", "defects", "repair", "mount")


def plain(case: Case) -> Case | None:
    """The same in a closed loop without anything that fails; `None` of traces and jobs."""
    load = case.get("workload.synthetic")
    if load is None or not case.timed:
        return None
    cut = dict.fromkeys(("rate_iops", "arrival", "phases", "bytes"))
    changes: Settings = dict.fromkeys(APART) | {
        "device": dict.fromkeys(APART_OF_DEVICE),
        "workload": {"synthetic": cut | {"queue_depth": load.get("queue_depth", 16), "requests": REQUESTS}},
        "run": dict.fromkeys(("warm_up", "ageing", "twin")),
    }
    return Case(case.seed, merged(case.settings, changes), case.files, REQUESTS)


def faster(case: Case) -> Iterator[tuple[str, Settings]]:
    """Changes that make a drive faster, each by its name."""
    timing = case.get("device.timing")
    for name in ("read", "program", "erase"):
        yield name, {"device": {"timing": {name: _half(timing[name])}}}
    yield "bus", {"device": {"timing": {"bus": FASTER[timing["bus"]]}}}
    if case.get("device.ftl.multi_plane", True) and timing.get("plane_reads") != "independent":
        yield "plane_reads", {"device": {"timing": {"plane_reads": "independent"}}}
    if case.get("device.controller.link"):
        yield "link", {"device": {"controller": {"link": "20GB/s"}}}


def _half(time: Any) -> Any:
    if isinstance(time, list):
        return [_half(own) for own in time]
    return f"{max(1, int(time.removesuffix('us')) // 2)}us"


def _spared(case: Case) -> Settings:
    unit = int(case.get("device.ftl.mapping_unit", "4KiB").removesuffix("KiB"))
    own = int(case.get("device.ftl.capacity").removesuffix("KiB"))
    return {"device": {"ftl": {"capacity": f"{max(8, int(own * 0.85) // unit) * unit}KiB"}}}


def amplification(summary: Summary) -> float:
    return at(summary, "write_amplification.total") or 1.0


def changed(case: Case, changes: Settings) -> Ran | None:
    own = outcome(Case(case.seed, merged(case.settings, changes), case.files, case.requests))
    return own if isinstance(own, Ran) else None


def _rate(ran: Ran) -> float:
    rate: float = ran.summary["throughput"]["iops"]
    return rate


def _loses(before: Ran, after: Ran) -> bool:
    return _rate(after) < _rate(before) * (1 - LOSS)


def _longer(case: Case, changes: Settings) -> tuple[float, float] | None:
    """The rates before and after `changes` in runs `LONGER` times as long, if the second is lower there, too."""
    length: Settings = {"workload": {"synthetic": {"requests": LONGER * REQUESTS}}}
    before, after = changed(case, length), changed(case, merged(changes, length))
    return (_rate(before), _rate(after)) if before and after and _loses(before, after) else None


def compared(case: Case) -> list[str] | None:
    """Changes for the better that make the result worse; `None` where there is nothing to compare."""
    base = plain(case)
    if base is None:
        return None
    first = outcome(base)
    if not isinstance(first, Ran):
        return None
    found = broken(base, first)
    for name, changes in faster(base):
        other = changed(base, changes)
        if other and _loses(first, other):
            slower = _longer(base, changes)
            if slower:
                found.append(f"faster {name}: {slower[0]:.0f} requests a second, then {slower[1]:.0f}")
    more = changed(base, _spared(base))
    before = amplification(first.summary)
    victims = more and more.summary["gc"]["victims"] and first.summary["gc"]["victims"]
    # Flushes of the table come with time, too, and fill program units up: a table of fewer pages may cost more.
    flushes = base.get("device.ftl.map_flush") is not None
    if more and victims and not flushes and amplification(more.summary) > before * (1 + tolerance(base, first.summary)):
        found.append(f"more spare space: write amplification {before:.3f}, then {amplification(more.summary):.3f}")
    return found
