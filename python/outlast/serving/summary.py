"""A served machine in a few lines, for `outlast ctl state`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any


def lines(state: dict[str, Any]) -> Iterator[str]:
    """Lines with the main figures."""
    machine, clock = state["machine"], state["clock"]
    power = "power on" if machine["powered"] else "POWER OFF"
    pace = "virtual clock" if clock["mode"] == "virtual" else f"wall clock at {clock['speed']:g}x"
    yield f"{machine['name']}: {machine['model']}, {machine['capacity'] / 2**20:.0f} MiB, {power}"
    paused = ", paused" if clock["paused"] else ""
    yield f"time {clock['now_ns'] / 1e9:.3f} s, {pace}{paused}, {counted(state['clients'], 'client')}"
    for export in state["exports"]:
        access = " (read-only)" if export["read_only"] else ""
        yield f"export {export['name']}{access}: {export['uri']}"
    for drive in machine["drives"]:
        yield _drive(drive, machine["array"] is not None)
    if (array := machine["array"]) is not None:
        yield from _array(array)
    for event in state["events"][-8:]:
        yield f"{event['at_ns'] / 1e9:12.3f} s  {event['text']}"


def counted(number: int, thing: str) -> str:
    """A number of things, exact; without what reports import."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _drive(drive: dict[str, Any], in_array: bool) -> str:
    states = Counter(die["state"] for die in drive["dies"])
    dies = ", ".join(f"{counted(count, 'die')} {name.replace('-', ' ')}" for name, count in states.items())
    host = drive["units"]["host"]
    written = sum(drive["units"].values())
    name = "left the array" if drive["device"] is None else f"drive {drive['device']}" if in_array else "drive"
    amplification = f"write amplification {written / host:.2f}" if host else "nothing written"
    free, total = drive["superblocks"]["free"], drive["superblocks"]["total"]
    lost = f", {counted(drive['lost_units'], 'unit')} lost" if drive["lost_units"] else ""
    redundancy = drive["redundancy"]
    safe = f"; data survives {counted(redundancy['data_survives'], 'failed die')}"
    if redundancy["degraded_superblocks"]:
        doing = (
            "is being rebuilt"
            if redundancy["rebuilds"]
            else "lacks space to be rebuilt"
            if redundancy["lacks_space"]
            else "is not rebuilt"
        )
        safe += f" ({counted(redundancy['degraded_superblocks'], 'superblock')} without full redundancy, which {doing})"
    safe += f"; takes writes until more than {drive['takes_writes_after']} further dies fail"
    ready = drive["ready_at_ns"]
    mounting = "" if ready is None else f"; mounts until {ready / 1e9:.3f} s"
    zones = _zones(drive["zones"]) if "zones" in drive else ""
    return f"{name}: {dies}; {free} of {total} superblocks free{zones}; {amplification}{lost}{safe}{mounting}"


def _zones(zones: dict[str, Any]) -> str:
    states = ", ".join(f"{count} {name.replace('-', ' ')}" for name, count in zones["by_state"].items())
    return f"; zones: {states} ({zones['active']} of {zones['max_active']} active)"


def _array(array: dict[str, Any]) -> Iterator[str]:
    up = "".join("U" if member["in_sync"] else "_" for member in array["members"])
    lost = f", {counted(array['lost_sectors'], 'sector')} lost" if array["lost_sectors"] else ""
    yield f"array: {array['level']} [{up}], {array['condition']}, {counted(array['spares'], 'spare')}{lost}"
    if (run := array["pass"]) is not None:
        yield f"array: {run['kind']} {100 * run['done'] / max(run['total'], 1):.1f} %"
    for repair in array["repairs"]:
        if repair["finished_ns"] is None:
            began = "waits" if repair["started_ns"] is None else "is under way"
            yield f"array: the repair of die {repair['die']} of member {repair['member']} {began}"
