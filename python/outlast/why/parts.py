"""Utilisation of each part of a drive, from the figures of `result.json` alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.why.quantity import bytes_of, bytes_per_s, nanos

Figures = Mapping[str, Any]
"""Figures by the name that they have in `result.json`."""


@dataclass(frozen=True)
class Part:
    """A part of the drive and the share of the measured time for which it was busy."""

    name: str
    """`dies`, `channels`, `link_in`, `link_out`, `master` or `cores`."""
    label: str
    """Name in a sentence, with its article."""
    busy: float
    """Utilisation of the busiest one, where there are several."""
    mean: float
    """Mean utilisation of all of its kind."""
    waits: bool
    """True if utilisation includes waiting for another part: a die that waits for its channel counts as busy."""
    figures: Figures


def was_asked(summary: Mapping[str, Any]) -> bool:
    """True if a request of the host was measured: not in a run that ended before its warm-up did."""
    return any(summary["host"][kind] for kind in ("reads", "writes", "trims", "flushes", "errors"))


def value_of(summary: Mapping[str, Any], name: str) -> Any:
    """The figure of that name: `queue.channel_utilisation[2]`."""
    value: Any = summary
    for step in name.replace("[", ".[").split("."):
        value = value[int(step[1:-1])] if step.startswith("[") else value[step]
    return value


def named(summary: Mapping[str, Any], *names: str) -> Figures:
    """Figures with their values."""
    return {name: value_of(summary, name) for name in names}


def parts_of(summary: dict[str, Any]) -> list[Part]:
    """The parts that take time in this scenario, the busiest first; none of a run without time."""
    if summary["throughput"]["iops"] is None or not was_asked(summary) or not summary["time"]["simulated_s"]:
        return []
    parts = [_dies(summary), _channels(summary)]
    if "array" not in summary:
        parts += _link(summary) + _processors(summary)
    return sorted(parts, key=lambda part: -part.busy)


def _dies(summary: dict[str, Any]) -> Part:
    dies = summary["queue"]["die_utilisation"]
    figures = named(summary, *(f"queue.die_utilisation.{key}" for key in ("mean", "min", "max")))
    return Part("dies", "the dies", dies["max"], dies["mean"], waits=True, figures=figures)


def _channels(summary: dict[str, Any]) -> Part:
    shares = summary["queue"]["channel_utilisation"]
    first = max(range(len(shares)), key=shares.__getitem__)
    label = "the channels" if len(shares) > 1 else "the channel"
    figures = named(summary, f"queue.channel_utilisation[{first}]")
    return Part("channels", label, shares[first], sum(shares) / len(shares), waits=False, figures=figures)


def _link(summary: dict[str, Any]) -> list[Part]:
    if (controller := summary["queue"].get("controller")) is not None:
        names = {name: f"queue.controller.{name}" for name in ("link_out", "link_in") if controller[name] is not None}
        label = {"link_out": "the link to the host", "link_in": "the link from the host"}
        return [
            Part(name, label[name], controller[name], controller[name], waits=False, figures=named(summary, figure))
            for name, figure in names.items()
            if controller[name]
        ]
    rate = summary["scenario"]["device"]["controller"].get("link")
    if rate is None:
        return []
    can_take = float(bytes_per_s(rate)) * summary["time"]["simulated_s"]
    ways = (("link_out", "host.bytes_read", "to the host"), ("link_in", "host.bytes_written", "from the host"))
    parts = []
    for name, figure, direction in ways:
        figures = named(summary, figure, "time.simulated_s", "scenario.device.controller.link")
        # Requests under way at the start bring bytes that crossed before: not of a whole request more than is possible.
        share = min(value_of(summary, figure) / can_take, 1.0)
        parts.append(Part(name, f"the link {direction}", share, share, waits=False, figures=figures))
    return [part for part in parts if part.busy]


def command_cost_ns(summary: dict[str, Any], op: str) -> float:
    """Time of the master core for a command of a kind."""
    controller = summary["scenario"]["device"]["controller"]
    return float(nanos((controller.get("command_costs") or {}).get(op, controller["master_cost"])))


def _processors(summary: dict[str, Any]) -> list[Part]:
    """The master core exactly, except for what is under way at either end; flash cores from the units they handled."""
    if (controller_figures := summary["queue"].get("controller")) is not None:
        return _counted(summary, controller_figures)
    controller, span_ns = summary["scenario"]["device"]["controller"], summary["time"]["simulated_s"] * 1e9
    kinds = {op: f"host.{op}s" if op != "flush" else "host.flushes" for op in ("read", "write", "trim", "flush")}
    master = sum(value_of(summary, kind) * command_cost_ns(summary, op) for op, kind in kinds.items()) / span_ns
    host, unit = summary["host"], summary["device"]["mapping_unit"]
    by_cause = summary["flash"]["by_cause"]
    per_page = float(bytes_of(summary["scenario"]["device"]["geometry"]["page_size"])) / unit
    moved = per_page * sum(by_cause[f"{cause}_programs"] for cause in ("gc", "wear_leveling", "scrub", "reencode"))
    parity = per_page * (by_cause["parity_programs"] + by_cause["partial_parity_programs"])
    written = host["bytes_written"] / unit
    work = {
        "read_cost": host["bytes_read"] / unit,
        "write_cost": written + host["bytes_trimmed"] / unit,
        "relocation_cost": moved,
        "encode_cost": written + parity,
    }
    spent = sum(units * float(nanos(controller[cost])) for cost, units in work.items())
    cores = spent / controller["flash_cores"] / span_ns
    settings = [f"scenario.device.controller.{cost}" for cost in work if nanos(controller[cost])]
    label = "the flash cores" if controller["flash_cores"] > 1 else "the flash core"
    both = (
        Part("master", "the master core", master, master, waits=False, figures=named(summary, *kinds.values())),
        Part("cores", label, cores, cores, waits=False, figures=named(summary, *settings)),
    )
    return [part for part in both if part.busy]


def _counted(summary: dict[str, Any], controller: dict[str, Any]) -> list[Part]:
    """Processors as the drive counted them, where `run.utilisation` asked for it."""
    cores = controller["cores"]
    first = max(range(len(cores)), key=cores.__getitem__)
    label = "the flash cores" if len(cores) > 1 else "the flash core"
    master, most = controller["master"], cores[first]
    both = (
        Part("master", "the master core", master, master, False, named(summary, "queue.controller.master")),
        Part("cores", label, most, sum(cores) / len(cores), False, named(summary, f"queue.controller.cores[{first}]")),
    )
    return [part for part in both if part.busy]


def die_work(summary: dict[str, Any]) -> dict[str, float] | None:
    """The shares of all dies' time that the array programs and erases; the rest of `mean` is reading and data.

    `None` of a result of an earlier version, which did not count them.
    """
    work = summary["queue"].get("die_work")
    return None if work is None else {name: float(work[name]) for name in ("program", "erase")}
