"""What the figures of Diff-RAID share: arrays as scenarios say them, their lives, and charts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlast import api, models
from outlast.models import ArrayLife
from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.model import Setting

RAID5 = (20.0, 20.0, 20.0, 20.0, 20.0)
DIFF = (80.0, 5.0, 5.0, 5.0, 5.0)
PERCENT = "array.parity_percent"
ASSUMED_CURVE = (
    "The paper has two points of each chip's RBER (Table 1); between them and beyond, an exponential through both is "
    "assumed. The curves themselves are not in the text."
)
UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def uneven(first: float) -> tuple[float, ...]:
    """A percentage on the first of five devices, the rest spread evenly."""
    return (float(first), *([(100.0 - first) / 4] * 4))


def name(percent: Sequence[float]) -> str:
    """`(80, 5, 5, 5, 5)`."""
    return "(" + ", ".join(f"{share:g}" for share in percent) + ")"


def array_of(setting: Setting, file: str) -> dict[str, Any]:
    """The arguments of `models.array_life` that a scenario file stands for."""
    scenario = api.resolve([setting.scenarios / file])
    array, device = scenario["array"], scenario["device"]
    reliability = device["reliability"]
    limit = device["defects"]["endurance"] * array["replacement"].get("limit_percent", 100.0) / 100.0
    percent = array.get("parity_percent") or [100.0 / array["members"]] * array["members"]
    return {
        "parity_percent": percent,
        "chip": reliability["chip"],
        "ecc": reliability["ecc"]["strength"],
        "capacity": _bytes(device["ftl"]["capacity"]),
        "limit": limit,
        "shift": array["replacement"]["shift"],
    }


def _bytes(text: str) -> int:
    match = re.fullmatch(r"([\d.]+)\s*([A-Za-z]+)", text)
    if match is None:
        raise ValueError(f"{text}: not a size")
    return int(float(match[1]) * UNITS[match[2]])


def life(array: dict[str, Any], **more: Any) -> ArrayLife:
    """The life of an array, changed as `more` says."""
    given = array | more
    return models.array_life(given.pop("parity_percent"), **given)


def at_the_end(array: dict[str, Any], **more: Any) -> tuple[float, float]:
    """Data loss probability just before a replacement in the steady state, the oldest failing and any failing.

    RAID-5 is taken when the first of its members reaches the limit: then all do.
    """
    percent = more.get("parity_percent", array["parity_percent"])
    alike = len(set(percent)) == 1
    found = life(array, **more, replacements=1 if alike else 100, samples=1)
    return float(found.loss_oldest[-1]), float(found.loss_any[-1])


def log_axis(title: str, **more: Any) -> dict[str, Any]:
    """A logarithmic axis of probabilities."""
    return axis(title, type="log", exponentformat="power", **more)


def bars(
    chart: str, title: str, x: Sequence[str], series: Mapping[str, Sequence[float]], unit: dict[str, Any]
) -> Chart:
    """Bars by group, a colour for each series."""
    data = [
        {
            "type": "bar",
            "name": label,
            "x": list(x),
            "y": [float(f"{value:.5g}") if value and np.isfinite(value) else None for value in values],
            "marker": {"color": RUN_COLOURS[index % len(RUN_COLOURS)]},
            "hovertemplate": f"{label}, %{{x}}: %{{y:.3g}}<extra></extra>",
        }
        for index, (label, values) in enumerate(series.items())
    ]
    layout = {
        "barmode": "group",
        "xaxis": {"type": "category", "automargin": True},
        "yaxis": unit,
        "hovermode": "closest",
    }
    return Chart(chart, data, layout, title, "", 320)


def lines(
    chart: str, title: str, series: Mapping[str, tuple[Sequence[float], Sequence[float]]], x: str, y: dict[str, Any]
) -> Chart:
    """Curves, a colour for each."""
    data = [
        line(
            [float(f"{value:.6g}") for value in xs],
            [float(f"{value:.5g}") if value > 0 else None for value in ys],
            label,
            RUN_COLOURS[index % len(RUN_COLOURS)],
            hovertemplate="%{y:.3g}",
        )
        for index, (label, (xs, ys)) in enumerate(series.items())
    ]
    return Chart(chart, data, {"xaxis": axis(x), "yaxis": y, "hovermode": "x"}, title, "", 340)
