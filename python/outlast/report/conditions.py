"""Conditions of a drive over time: what is in its SLC cache, how warm it is, what it draws, when it is throttled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from outlast.report.figure import READ, WRITE, Figure, axis, line
from outlast.report.numbers import plain
from outlast.report.timeline import OVER_TIME, Shade, shaded

if TYPE_CHECKING:
    from outlast.result import Result

THROTTLED = 0.5
"""Share of a row's span from which on it is shaded as throttled."""


def charts(result: Result) -> list[Figure | None]:
    """Every chart of the tables of `run.utilisation` that the result has."""
    cache, energy = (dict(result.tables.get(f"{name}_over_time", {})) for name in ("slc_cache", "energy"))
    steps = (result.summary["scenario"]["device"].get("heat") or {}).get("throttle", [])
    return [slc_cache(cache), temperature(energy, [step["from"] for step in steps]), power(energy)]


def _has_rows(table: dict[str, Any]) -> bool:
    return bool(table) and len(table["at_s"]) > 1


def slc_cache(table: dict[str, Any]) -> Figure | None:
    """Bytes in the SLC cache, those of them that are valid, and what it may hold."""
    if not _has_rows(table):
        return None
    x, columns = plain(table["at_s"], 7), {name: np.asarray(table[f"{name}_bytes"]) / 2**30 for name in NAMES}
    data = [
        line(x, plain(columns[name]), label, colour, dash=dash, hovertemplate="%{y:,.4~r} GiB")
        for name, (label, colour, dash) in NAMES.items()
    ]
    hint = "used and not valid: folded or overwritten, not yet erased"
    layout = OVER_TIME | {"yaxis": axis("GiB", rangemode="tozero")}
    return Figure("slc-cache", data, layout, "SLC cache", hint)


NAMES = {
    "used": ("used", WRITE, "solid"),
    "valid": ("valid", READ, "solid"),
    "capacity": ("may hold", "var:--ink", "dash"),
}
"""Label, colour and dash of the curves of an SLC cache, by column."""


def temperature(table: dict[str, Any], steps: list[float]) -> Figure | None:
    """Temperatures of the hottest drive, with those from which it throttles; shaded while it does."""
    if not _has_rows(table) or "controller_celsius" not in table:
        return None
    x, hover = plain(table["at_s"], 7), "%{y:.1f} °C"
    data = [
        line(x, plain(table["controller_celsius"]), "controller", "var:--bad", hovertemplate=hover),
        line(x, plain(table["case_celsius"]), "case", READ, hovertemplate=hover),
    ]
    for number, celsius in enumerate(steps, 1):
        name = "throttles from" if len(steps) == 1 else f"step {number} from"
        data.append(line([x[0], x[-1]], [celsius] * 2, name, "var:--ink", dash="dash", hovertemplate=hover))
    spans = throttled(table)
    layout = OVER_TIME | {"yaxis": axis("°C"), "shapes": shaded(spans)}
    return Figure("temperature", data, layout, "Temperature", "shaded: throttled or shut down" if spans else "")


def throttled(table: dict[str, Any]) -> list[Shade]:
    """Spans in which the drive let commands in slowly, or not at all; neighbouring ones joined."""
    shares = table.get("throttled_share")
    if shares is None:
        return []
    spans: list[Shade] = []
    start = 0.0
    for end, share in zip(table["at_s"], shares, strict=True):
        if share >= THROTTLED and spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], float(end), "var:--bad")
        elif share >= THROTTLED:
            spans.append((start, float(end), "var:--bad"))
        start = float(end)
    return spans


def power(table: dict[str, Any]) -> Figure | None:
    """Power of all drives together, the mean of each span."""
    if not _has_rows(table):
        return None
    x = plain(table["at_s"], 7)
    data = [line(x, plain(table["watts"]), "power", WRITE, shape="vh", hovertemplate="%{y:.3~r} W")]
    return Figure("power", data, OVER_TIME | {"yaxis": axis("W", rangemode="tozero")}, "Power")
