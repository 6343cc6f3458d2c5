"""A fitted drive as a preset: every number with where it comes from."""

from __future__ import annotations

import json
from typing import Any

from outlast.products.fit.choices import PACINGS
from outlast.products.fit.engine import Fit, Found
from outlast.products.fit.machine import ASSUMED, SUSPENDS
from outlast.products.fit.parameters import BY_NAME, STAGES, Parameter, size
from outlast.products.fit.words import NOT_TOLD, fitted_figures, interval

MOST_OFF = 32
"""Largest deviation of superblocks from the number that is assumed, to meet the effective flash exactly."""


def to_toml(fit: Fit) -> str:
    """The text of the preset."""
    lines = [*_head(fit), f"name = {json.dumps(_slug(fit.measured.name))}  # label"]
    lines += [
        f"description = {json.dumps(f'{fit.measured.name}, fitted to measurements.')}  # label",
        "seed = 1  # any",
    ]
    lines += ["", "[device]", f"model = {json.dumps(fit.measured.name)}  # label"]
    tables: dict[str, list[str]] = {}
    for name, (value, why) in settings(fit).items():
        table, _, key = name.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {_toml(value)}  # {why}")
    for table in sorted(tables):
        lines += ["", f"[{table}]", *tables[table]]
    lines += [
        "",
        "# A load to try it with.",
        "[workload.synthetic]",
        'pattern = "uniform"  # any',
        "read_percent = 70  # any",
        'size = "4KiB"  # any',
        "queue_depth = 32  # any",
        "requests = 1000000  # any",
        "",
        "[precondition]",
        'overwrite = "random"  # the state in which drives are measured',
    ]
    return "\n".join(lines) + "\n"


def settings(fit: Fit) -> dict[str, tuple[Any, str]]:
    """Every setting of the drive, with where its value comes from."""
    theta, shape = fit.theta, fit.machine.shape
    found: dict[str, tuple[Any, str]] = {}
    for name, (value, why) in ASSUMED.items():
        found[name] = (value, f"assumed: {why}")
    dies = fit.machine.dies(theta["dies"])
    blocks, pages = _blocks(fit, dies)
    found["device.geometry.chips_per_channel"] = (1, "assumed: dies of a channel stacked in one package")
    found["device.geometry.dies_per_chip"] = (dies // shape.channels, _source(fit, "dies"))
    found["device.geometry.blocks_per_plane"] = (blocks, f"assumed: about {shape.blocks} superblocks")
    beside = f"{fit.machine.reserved(theta):g} superblocks that are being written or kept free"
    of_flash = f"{size(theta['effective'])} beside {beside}"
    found["device.geometry.pages_per_block"] = (pages, f"{_source(fit, 'effective')}: {of_flash}")
    found["device.ftl.capacity"] = (f"{_whole(fit)}B", "data sheet: what the host sees")
    for parameter in (BY_NAME[name] for name in ("host", "read", "program", "link", "command")):
        found[parameter.setting] = (parameter.show(theta[parameter.name]), _source(fit, parameter.name))
    buffer = fit.machine.buffer(theta, dies)
    found["device.controller.write_buffer"] = (f"{buffer // 1024}KiB", _source(fit, "buffer"))
    found["device.ftl.gc.policy"] = (theta["policy"], _policy(fit))
    for name, value in PACINGS[theta["pacing"]].settings.items():
        found[name] = (value, _pacing(fit, name))
    if theta["suspends"]:
        for name, value in SUSPENDS.items():
            found[name] = (value, "assumed: usual for chips; reads beside writes show that there is suspension")
        for parameter in (BY_NAME["overhead"], BY_NAME["progress"]):
            found[parameter.setting] = (parameter.show(theta[parameter.name]), _source(fit, parameter.name))
    for name, value in fit.measured.known.items():
        found[name] = (value, "known: as given")
    return found


def _blocks(fit: Fit, dies: int) -> tuple[int, int]:
    """Blocks of a plane and pages of a block that come nearest to the effective flash."""
    superpage = fit.machine.shape.superpage(dies)
    wanted: float = fit.theta["effective"]
    about, reserved = fit.machine.shape.blocks, fit.machine.reserved(fit.theta)

    def whole(blocks: int) -> int:
        shot = fit.machine.shape.shot
        return shot * max(1, round(wanted / ((blocks - reserved) * superpage) / shot))

    def miss(blocks: int) -> float:
        pages = whole(blocks)
        return abs(pages * (blocks - reserved) * superpage - wanted)

    if "device.geometry.blocks_per_plane" in fit.measured.known:
        blocks = about
    else:
        blocks = min(range(about - MOST_OFF, about + MOST_OFF + 1), key=lambda each: (miss(each), abs(each - about)))
    return blocks, whole(blocks)


def _whole(fit: Fit) -> int:
    """The capacity in whole mapping units."""
    unit = fit.machine.shape.unit
    return int(fit.measured.capacity // unit * unit)


def _head(fit: Fit) -> list[str]:
    lines = [f"# {fit.measured.name}: fitted to {len(fit.measured.rows)} rows of {fit.measured.source} by outlast fit."]
    lines.append("# Intervals are of 90 %, by profile likelihood.")
    if "metadata" in fit.found:
        found = fit.found["metadata"]
        lines.append(
            f"# The drive's counters show {found.value:.4f} times ({interval(found)}) the write amplification of this "
            "preset: the drive also writes data of its own."
        )
    for stage in STAGES:
        if stage.name in fit.missing:
            lines.append(f"# Not identified: {stage.title}: {fit.missing[stage.name]}.")
    lines += [f"# Not identifiable from outside: {each}." for each in NOT_TOLD]
    return lines


def _source(fit: Fit, name: str) -> str:
    parameter: Parameter = BY_NAME[name]
    found: Found | None = fit.found.get(name)
    if found is None:
        return f"assumed: {parameter.assumed}"
    return f"fitted to {fitted_figures(found, fit)}, 90 % interval {interval(found)}"


def _policy(fit: Fit) -> str:
    if "policy" not in fit.choices:
        return "assumed: uniform writes do not distinguish greedy from other policies"
    return f"fitted to write amplification under skew, with errors of: {fit.choices['policy'].words()}"


def _pacing(fit: Fit, name: str) -> str:
    if name.endswith("_free"):
        return "assumed: no measurement separates what a burst gains from the size of superblocks"
    return f"fitted to latencies of writes over their rate, with errors of: {fit.choices['pacing'].words()}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def _slug(name: str) -> str:
    kept = "".join(char if char.isalnum() else "-" for char in name.lower())
    return "-".join(part for part in kept.split("-") if part) or "drive"
