"""The scenario of a seed: settings of every table, drawn part by part, most of them together possible."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from random_scenarios import client, controller, events, flash, layer, media, workloads
from random_scenarios.draw import GONE, Draw, Row, Settings, at

PRECONDITION: tuple[Row, ...] = (
    ("overwrite", 1.0, ("random", "random", "workload", "none")),
    ("min_drive_writes", 1.0, (0.3, 1.0)),
    ("max_drive_writes", 1.0, (1.0, 2.0)),
    ("fill_fraction", 0.15, (0.3, 0.7, 0.95)),
)

RUN: tuple[Row, ...] = (
    ("warm_up", 0.4, ("0s", "5ms")),
    ("causes", 0.5, (True,)),
    ("utilisation", 0.15, (True,)),
    ("window", 0.2, ("1ms", "20ms")),
    ("threads", 0.1, (1, 2)),
    (GONE, 0.1, (None,)),
    ("finish_rebuild", 0.1, (False,)),
)


@dataclass(frozen=True)
class Case:
    """A scenario, the files that its workload reads, and how many requests it asks for, where that is known."""

    seed: int
    settings: Settings
    files: dict[str, str] = field(default_factory=dict)
    requests: int | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """The setting of a dotted name."""
        return at(self.settings, name, default)

    @property
    def timed(self) -> bool:
        """True if the run simulates time."""
        return bool(self.get("run.timing") != "none")

    def write(self, folder: Path) -> Path:
        """Writes the scenario and its files to a folder; returns the scenario's place."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text)
        place = folder / "scenario.toml"
        place.write_text(toml(self.settings))
        return place


def case(seed: int) -> Case:
    """The scenario of a seed."""
    own = {name: Draw(seed, name) for name in ("shape", "drive", "media", "load", "array", "faults", "run")}
    shape = flash.shape(own["shape"])
    control = controller.controller(own["drive"], shape)
    cache = control["write_cache"]
    code = layer.protection(own["drive"], shape)
    device: Settings = {
        "geometry": flash.geometry(own["drive"], shape),
        "timing": flash.timing(own["drive"], shape),
        "ftl": layer.layer(own["drive"], shape, cache == "protected"),
        "controller": control,
        **media.upkeep(own["media"], shape, code is not None, cache == "protected"),
    }
    if code:
        device["protection"] = code
    if at(device, "ftl.spare_blocks") or at(device, "ftl.tolerated_bad_blocks"):
        device["defects"] = {"factory_bad": own["media"].one((0, 0.002, 0.01))}
    placement = layer.placement(Draw(seed, "placement"), device)
    if placement:
        device["placement"] = placement
    device |= client.parts(seed, device)
    capacity = layer.capacity_kib(own["shape"], shape, device)
    device["ftl"]["capacity"] = f"{capacity}KiB"
    settings: Settings = {"name": f"random {seed}", "seed": own["run"].whole(0, 1 << 40), "device": device}
    load = workload(own["load"], device, capacity)
    settings["workload"] = load.settings
    settings["precondition"] = own["run"].fill(PRECONDITION)
    settings["run"] = run(own["run"], "reliability" in device) | client.scale(seed, device)
    array = events.array(own["array"])
    if array:
        settings["array"] = array
    changes: list[Settings] = []
    if placement and own["faults"].chance(0.5):
        changes = [{"at": own["faults"].time(1, 300, "ms"), "update_handles": [0]}]
    elif not placement:
        changes = media.changes(own["media"], shape, code)
    if changes and "timing" not in settings["run"]:
        settings["changes"] = changes
    if faults := events.faults(own["faults"], shape, cache, array["members"] if array else None):
        settings["faults"] = faults
    return Case(seed, settings, load.files, load.requests)


def workload(draw: Draw, device: Settings, capacity_kib: int) -> workloads.Load:
    """`[workload]` of any kind."""
    kind = draw.one(("synthetic",) * 8 + ("fio",) + ("trace",))
    if kind == "fio":
        return workloads.fio(draw)
    if kind == "trace":
        return workloads.trace(draw, capacity_kib)
    return workloads.synthetic(draw, layer.streams(device))


def run(draw: Draw, errs: bool) -> Settings:
    """`[run]`; what concerns errors only where flash errs."""
    settings = draw.fill(RUN)
    if draw.chance(0.06):
        settings = {name: value for name, value in settings.items() if name not in ("causes", "utilisation")}
        settings["timing"] = "none"
    if errs:
        settings |= draw.fill([("ageing", 0.1, ([{"at": "10ms", "by": "30d"}],)), ("twin", 0.1, (True,))])
    return settings


def toml(settings: Mapping[str, Any], prefix: str = "") -> str:
    """Settings as a scenario file has them."""
    lines, tables = [], []
    for name, value in settings.items():
        place = f"{prefix}{name}"
        if isinstance(value, Mapping):
            tables.append(f"[{place}]\n{toml(value, place + '.')}")
        else:
            lines.append(f"{name} = {_value(value)}\n")
    return "".join(lines + tables)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(own)}" for name, own in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
