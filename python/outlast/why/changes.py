"""Each part of a scenario made a tenth better: settings and what they become."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from outlast.why.quantity import bytes_of, bytes_per_s, nanos

FASTER = Fraction(11, 10)
"""A part that is 10 % faster takes 1/1.1 of the time, or has 1.1 times the rate."""
COSTS = {
    "master_cost": "master core",
    "read_cost": "flash cores: reads",
    "write_cost": "flash cores: writes",
    "relocation_cost": "flash cores: relocation",
    "encode_cost": "flash cores: parity",
    "decode_cost": "flash cores: rebuilding",
}
COUNTS = (
    "channels",
    "chips_per_channel",
    "dies_per_chip",
    "planes_per_die",
    "blocks_per_plane",
    "pages_per_block",
)
"""Settings of the geometry whose product is the number of pages."""
GROUPS = {
    "command_costs": "master core, by command",
    "host_latency": "way to the host",
    "decode": "decoder",
}


@dataclass(frozen=True)
class Change:
    """A part made better."""

    part: str
    """Name for people: `tPROG`."""
    settings: dict[str, Any]
    """Values to set, by dotted name."""
    before: str
    after: str


def _time(value: Any) -> Any:
    """A time, or a list of them, at 1.1 times the speed, in whole nanoseconds."""
    if isinstance(value, list):
        return [_time(each) for each in value]
    return f"{round(nanos(value) / FASTER)}ns"


def _readable(value: Any) -> str:
    """A setting as a person reads it: 63636 ns as 63.6us."""
    if isinstance(value, list):
        return ", ".join(_readable(each) for each in value)
    text = str(value)
    if text.endswith("ns") and text[:-2].isdigit():
        count = int(text[:-2])
        scale, unit = (1_000_000, "ms") if count >= 1_000_000 else (1000, "us") if count >= 1000 else (1, "ns")
        return f"{count / scale:.4g}{unit}"
    return text


def _is_zero(value: Any) -> bool:
    return all(map(_is_zero, value)) if isinstance(value, list) else nanos(value) == 0


def changes(scenario: dict[str, Any], summary: dict[str, Any]) -> list[Change]:
    """Improvements that apply to a resolved scenario and its summary; only of parts that the drive has and uses."""
    return [*_flash(scenario, summary), *_controller(scenario), *_space(scenario, summary), *_host(scenario)]


def _faster(part: str, setting: str, value: Any) -> Change:
    after = _time(value)
    return Change(part, {setting: after}, _readable(value), _readable(after))


def _flash(scenario: dict[str, Any], summary: dict[str, Any]) -> Iterator[Change]:
    timing, flash = scenario["device"]["timing"], summary["flash"]
    used = {"read": ("tR", "reads"), "program": ("tPROG", "programs"), "erase": ("tERASE", "erases")}
    for name, (part, count) in used.items():
        if flash[count] and not _is_zero(timing[name]):
            yield _faster(part, f"device.timing.{name}", timing[name])
    yield _rate("channels", "device.timing.bus", timing["bus"])
    if not _is_zero(timing["command"]):
        yield _faster("command cycles", "device.timing.command", timing["command"])


def _rate(part: str, setting: str, value: str) -> Change:
    after = f"{float(round(bytes_per_s(value) * FASTER)) / 1e6:.12g}MB/s"
    return Change(part, {setting: after}, value, after)


def _controller(scenario: dict[str, Any]) -> Iterator[Change]:
    controller = scenario["device"]["controller"]
    if controller.get("link"):
        yield _rate("link", "device.controller.link", controller["link"])
    for name, part in COSTS.items():
        if not _is_zero(controller[name]):
            yield _faster(part, f"device.controller.{name}", controller[name])
    for group, part in GROUPS.items():
        costs = {name: value for name, value in (controller.get(group) or {}).items() if value and not _is_zero(value)}
        if costs:
            after = {f"device.controller.{group}.{name}": _time(value) for name, value in costs.items()}
            texts = (", ".join(map(_readable, values)) for values in (costs.values(), after.values()))
            yield Change(part, after, *texts)


def _space(scenario: dict[str, Any], summary: dict[str, Any]) -> Iterator[Change]:
    """Changes to more spare space and a larger buffer, for a run that writes."""
    if not summary["host"]["writes"]:
        return
    device = scenario["device"]
    ftl, geometry = device["ftl"], device["geometry"]
    if (share := ftl.get("over_provisioning")) is not None:
        after = round(share * float(FASTER), 6)
        yield Change("spare space", {"device.ftl.over_provisioning": after}, f"{share:.4g}", f"{after:.4g}")
    elif ftl.get("capacity") is not None:
        raw = math.prod(geometry[name] for name in COUNTS) * bytes_of(geometry["page_size"])
        capacity, unit = bytes_of(ftl["capacity"]), bytes_of(ftl["mapping_unit"])
        smaller = (raw - FASTER * (raw - capacity)) // unit * unit
        if 0 < smaller < capacity:
            texts = (f"{float((raw - size) / size):.4g}" for size in (capacity, smaller))
            yield Change("spare space", {"device.ftl.capacity": int(smaller)}, *texts)
    buffer = bytes_of(device["controller"]["write_buffer"])
    unit = bytes_of(ftl["mapping_unit"])
    larger = math.ceil(buffer * FASTER / unit) * unit
    texts = (f"{float(size) / 1024:.6g}KiB" for size in (buffer, larger))
    yield Change("write buffer", {"device.controller.write_buffer": int(larger)}, *texts)


def _host(scenario: dict[str, Any]) -> Iterator[Change]:
    """A deeper queue: one request more at least."""
    for source in ("synthetic", "trace"):
        load = (scenario["workload"] or {}).get(source) or {}
        if depth := load.get("queue_depth"):
            deeper = math.ceil(depth * FASTER)
            yield Change("queue depth", {f"workload.{source}.queue_depth": deeper}, str(depth), str(deeper))
