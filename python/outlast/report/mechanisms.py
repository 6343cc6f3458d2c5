"""Mechanisms of special drives over time: an SLC cache, energy and heat, handles, zones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from outlast.report.figure import READ, RUN_COLOURS, WRITE, Figure, axis, line
from outlast.report.numbers import floats, plain, share
from outlast.report.page import Section
from outlast.report.tiles import Series

if TYPE_CHECKING:
    from outlast.result import Result

GIB, GB, MB = 2.0**30, 1e9, 1e6
TIME = axis("simulated time, s")
MOST_HANDLES = 12
"""Handles with a curve, those with most written bytes first."""
COMMANDS = ("opened", "closed", "finished", "reset", "filled")


def sections(result: Result, series: Series | None) -> list[Section]:
    """A part for each mechanism that the drive has; the others are empty."""
    table = {name: dict(result.tables.get(f"{name}_over_time", {})) for name in ("slc_cache", "energy")}
    cache = Section("slc-cache", "SLC cache")
    if result.summary.get("slc_cache"):
        cache.add(_curve(series) if series is not None else None).add(_cache(table["slc_cache"]))
    heat = Section("heat", "Energy and heat").add(_power(table["energy"])).add(_temperatures(table["energy"]))
    return [cache, heat, Section("zones", "Zones", columns="one").add(_zones(result.summary.get("zones")))]


def _curve(windows: Mapping[str, Any]) -> Figure | None:
    """Bandwidth of writes over what was written so far: the curve by which reviewers find a cache and its end."""
    written, span = floats(windows["write_mib"]) * 2**20, floats(windows["end_s"]) - floats(windows["start_s"])
    if not written.any():
        return None
    x = np.cumsum(written) - written / 2
    trace = line(plain(x / GB, 6), plain(share(written / MB, span)), "writes", WRITE, shape="hv")
    layout = {"xaxis": axis("GB written so far"), "yaxis": axis("MB/s", rangemode="tozero"), "showlegend": False}
    return Figure("slc-curve", [trace], layout, "Bandwidth over what was written", "each step a window")


def _cache(table: Mapping[str, Any]) -> Figure | None:
    if not table:
        return None
    x = plain(table["at_s"], 7)
    names = (("capacity_bytes", "may hold", "dash"), ("used_bytes", "holds", "solid"), ("valid_bytes", "valid", "dot"))
    data = [
        line(x, plain(floats(table[key]) / GIB), name, colour, dash=dash)
        for (key, name, dash), colour in zip(names, RUN_COLOURS, strict=False)
    ]
    layout = {"xaxis": TIME, "yaxis": axis("GiB in SLC mode", rangemode="tozero")}
    return Figure("slc-cache-fill", data, layout, "What the cache holds")


def _power(table: Mapping[str, Any]) -> Figure | None:
    if not table:
        return None
    data = [line(plain(table["at_s"], 7), plain(table["watts"]), "power", READ, shape="vh")]
    layout = {"xaxis": TIME, "yaxis": axis("power, W", rangemode="tozero"), "showlegend": False}
    return Figure("power", data, layout, "Power", "means since the moment before")


def _temperatures(table: Mapping[str, Any]) -> Figure | None:
    if "controller_celsius" not in table:
        return None
    x = plain(table["at_s"], 7)
    names = (("controller_celsius", "controller", WRITE, "solid"), ("case_celsius", "case", READ, "dash"))
    data = [line(x, plain(table[key]), name, colour, dash=dash) for key, name, colour, dash in names]
    return Figure("heat", data, {"xaxis": TIME, "yaxis": axis("temperature, °C")}, "Temperature of the hottest drive")


def _zones(figures: Mapping[str, Any] | None) -> Figure | None:
    """Zones by state at the end and commands on them."""
    if not figures:
        return None
    states = [(name.replace("-", " "), count) for name, count in figures["states"].items() if count]
    commands = [(f"{name} (commands)", figures[name]) for name in COMMANDS if figures.get(name)]
    refused = [(f"refused: {name}", count) for name, count in figures["refused"].items() if count]
    rows = [*states, *commands, *refused][::-1]
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": [count for _, count in rows],
        "y": [name for name, _ in rows],
    }
    trace |= {"marker": {"color": READ}}
    layout = {"xaxis": axis("zones at the end, commands"), "yaxis": {"automargin": True}, "showlegend": False}
    return Figure("zones", [trace], layout, "Zones by state, and commands", height=90 + 28 * len(rows))


def handles(table: Mapping[str, Any]) -> Figure | None:
    """Write amplification of each reclaim unit handle from the start of measuring to each moment."""
    if not table:
        return None
    of, at = np.asarray(table["handle"]), floats(table["at_s"])
    host, moved = floats(table["host_bytes"]), floats(table["moved_bytes"])
    most = {int(handle): float(host[of == handle].max(initial=0.0)) for handle in np.unique(of)}
    shown = sorted((handle for handle in most if most[handle] > 0), key=lambda handle: -most[handle])[:MOST_HANDLES]
    data = []
    for number, handle in enumerate(sorted(shown)):
        own = of == handle
        factor = 1.0 + share(moved[own], host[own])
        dash = "solid" if number < len(RUN_COLOURS) else "dash"
        colour = RUN_COLOURS[number % len(RUN_COLOURS)]
        data.append(line(plain(at[own], 7), plain(factor), f"handle {handle}", colour, dash=dash))
    if not data:
        return None
    layout = {"xaxis": TIME, "yaxis": axis("bytes written for each of the host's"), "hovermode": "x unified"}
    left = sum(value > 0 for value in most.values()) - len(shown)
    hint = f"{left} handles with less are not drawn" if left else "since measuring began"
    return Figure("handles", data, layout, "Write amplification of handles", hint)
