"""A served machine in a few lines, for `outlast ctl state`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

CELLS = {
    "empty": ".",
    "implicitly-open": "o",
    "explicitly-open": "O",
    "closed": "c",
    "full": "#",
    "read-only": "r",
    "offline": "x",
}
"""Letters of a map of zones, by state."""
MAP_WIDTH = 64


def lines(state: dict[str, Any], figures: dict[str, Any] | None = None) -> Iterator[str]:
    """Lines with the main figures; with those of `metrics` also of namespaces and handles."""
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
        if "zones" in drive:
            yield from _zone_map(drive["zones"]["map"])
    if figures is not None:
        yield from _tenants(figures)
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


def _zone_map(cells: dict[str, Any]) -> Iterator[str]:
    each = cells["per_cell"]
    for at in range(0, len(cells["states"]), MAP_WIDTH):
        row = "".join(CELLS[name] for name in cells["states"][at : at + MAP_WIDTH])
        yield f"zones from {at * each}: {row}"


def _tenants(figures: dict[str, Any]) -> Iterator[str]:
    for space in figures["namespaces"]:
        reads, writes = space["operations"][:2]
        access = " (read-only)" if space["read_only"] else ""
        yield (
            f"namespace {space['namespace']}{access}: {space['capacity'] / 2**20:.0f} MiB; "
            f"{counted(reads['count'], 'read')} (99 %: {reads['p99_us']:.0f} us), "
            f"{counted(writes['count'], 'write')} of {writes['bytes'] / 2**20:.1f} MiB "
            f"(99 %: {writes['p99_us']:.0f} us)"
        )
    placement = figures["placement"]
    for number, handle in enumerate([] if placement is None else placement["handles"]):
        host, moved = handle["host_bytes"], handle["moved_bytes"]
        amplification = f", write amplification {(host + moved) / host:.2f}" if host else ""
        yield f"handle {number}: {host / 2**20:.1f} MiB written, {moved / 2**20:.1f} MiB moved{amplification}"


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
