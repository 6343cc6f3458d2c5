"""Figures 2, 6 and 7: the data loss probability over an array's life, and by assignment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outlast import models
from outlast.models import ArrayLife
from outlast.report.figure import Figure as Chart
from outlast.reproduce.diffraid.common import (
    ASSUMED_CURVE,
    FIRST_SHARES,
    RAID5,
    array_of,
    at_the_end,
    bars,
    life,
    lines,
    log_axis,
    name,
    no_cells,
    uneven,
)
from outlast.reproduce.model import CLOSED, TEXT, Cell, Figure, Found, Number, Row, Setting, Statement, Table

Records = Sequence[Mapping[str, Any]]
STEADY_AFTER = 15
"""Replacements after which section 4.1.1 calls the curve steady: 10 to 15."""
STEADY = 1.5
"""Peaks that differ by less are steady: it is a sixth of a decade, on an axis that has more than ten."""
HALF = math.sqrt(10.0)
"""An order of magnitude is met within half an order."""


def _samples(scheme: str, found: ArrayLife, array: Mapping[str, Any]) -> list[Row]:
    written = found.host_capacities * array["capacity"] / 1e12
    return [
        {"scheme": scheme, "written_tb": float(at), "replaced": int(count), "loss": float(oldest)}
        for at, count, oldest in zip(written, found.replaced, found.loss_oldest, strict=True)
    ]


def _fig02(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig02.toml")
    return _samples("RAID-5", life(array, replacements=20, samples=25), array)


def _peaks(table: Table) -> Found:
    """The loss rises until all are replaced together, and begins again where it began."""
    rows = table.where(scheme="RAID-5")
    starts = [row["loss"] for row in rows[::125]]
    peaks = [max(row["loss"] for row in rows if row["replaced"] // 5 == cycle) for cycle in range(4)]
    alike = max(peaks) / min(peaks) - 1 < 1e-6
    rises = all(peak > 1e3 * start for peak, start in zip(peaks, starts, strict=True))
    found = f"peaks {', '.join(f'{peak:.3f}' for peak in peaks)}, new arrays {starts[0]:.1e}"
    return Found(alike and rises, found)


def _together(table: Table) -> Found:
    rows = table.where(scheme="RAID-5")
    at = sorted({round(row["written_tb"], 6) for row in rows if row["replaced"] in (4, 9, 14, 19)})
    return Found(len(at) == 4, f"all five are replaced after {', '.join(f'{each:.0f}' for each in at)} TB each")


def _over_life(table: Table, chart: str, title: str) -> Chart:
    series = {
        str(scheme): (
            [row["written_tb"] for row in table.where(scheme=scheme)],
            [row["loss"] for row in table.where(scheme=scheme)],
        )
        for scheme in dict.fromkeys(row["scheme"] for row in table.rows)
    }
    return lines(chart, title, series, "data written to the array, TB", log_axis("data loss probability"))


FIG02 = Figure(
    "fig02",
    "Figure 2: RAID-5 becomes unreliable as it ages",
    "Probability that a rebuild loses data, if the oldest of five 80 GB devices fails.",
    no_cells,
    {"written_tb": "TB written", "replaced": "replaced", "loss": "loss probability"},
    lambda table: [_over_life(table, "fig02-loss", "RAID-5 over its life")],
    [
        Statement("The array becomes more unreliable as it ages, until it is replaced.", "2.2", _peaks),
        Statement("All devices reach their erasure limits at the same time.", "2.2", _together),
    ],
    (ASSUMED_CURVE, "Error rates that rise, and devices that are alike: neither could fail here."),
    _fig02,
    TEXT,
)


def _fig06(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig06.toml")
    diff = life(array, replacements=40, samples=40)
    return [
        *_samples("Diff-RAID", diff, array),
        *_samples("RAID-5", life(array, parity_percent=RAID5, replacements=40, samples=25), array),
        *_straight(array, diff),
    ]


def _straight(array: Mapping[str, Any], found: ArrayLife) -> list[Row]:
    """The bounds with another curve through the same two points: straight lines instead of an exponential."""
    low, high = (float(np.asarray(models.rber(array["chip"], cycles))) for cycles in (5000.0, 10_000.0))
    rows: list[Row] = []
    for index in range(STEADY_AFTER, len(found.ages)):
        for when, ages in (("before", found.ages[index]), ("after", _renewed(found, index))):
            rber = np.interp(ages, [0.0, 5000.0, 10_000.0], [0.0, low, high])
            uber = models.uber(rber, 4096 + 13 * array["ecc"], array["ecc"])
            # The oldest has failed, whatever its rate.
            survivors = np.delete(np.asarray(uber), int(np.argmax(ages)))
            loss = float(np.asarray(models.data_loss(survivors, array["capacity"] * 8.0)))
            rows.append({"scheme": "straight lines", "when": when, "replaced": index, "loss": loss, "written_tb": 0.0})
    return rows


def _renewed(found: ArrayLife, index: int) -> Any:
    ages = found.ages[index].copy()
    ages[found.member[index]] = 0.0
    return ages


def _bounds(table: Table, scheme: str) -> tuple[float, float]:
    losses = [row["loss"] for row in table.where(scheme=scheme) if row["replaced"] >= STEADY_AFTER]
    return min(losses), max(losses)


def _bounded(table: Table) -> Found:
    low, high = _bounds(table, "Diff-RAID")
    numbers = Number("least", low, 1e-7), Number("most", high, 1e-5)
    return Found(low >= 1e-7 and high <= 1e-5, f"between {low:.1e} and {high:.1e}", numbers)


def _why_bounds(table: Table) -> str:
    low, high = _bounds(table, "straight lines")
    return (
        "the bounds depend on the chip's RBER curve, of which the text has two points; an exponential through both is "
        f"assumed. Straight lines from 0 through the same two points give {low:.1e} to {high:.1e}, so that the paper's "
        "curve lies between the two at the upper bound"
    )


def _below(table: Table) -> Found:
    _, high = _bounds(table, "Diff-RAID")
    _, raid5 = _bounds(table, "RAID-5")
    words = f"at most {high:.1e} against {raid5:.2f} for RAID-5"
    return Found(1e4 / HALF <= raid5 / high <= 1e4 * HALF, words, (Number("times better", raid5 / high, 1e4),))


def _why_below(table: Table) -> str:
    _, raid5 = _bounds(table, "RAID-5")
    _, high = _bounds(table, "straight lines")
    return (
        "it is more, with the curve that is assumed; straight lines through the same two points give "
        f"{raid5 / high:.1e}, and the paper's own upper bound of 1e-5 is {raid5 / 1e-5:.1e} times below RAID-5"
    )


def _converges(table: Table) -> Found:
    """From replacement to replacement the peak changes less and less."""
    rows = table.where(scheme="Diff-RAID")
    peaks = [max(row["loss"] for row in rows if row["replaced"] == count) for count in range(40)]
    early = max(peaks[:10]) / min(peaks[:10])
    late = max(peaks[STEADY_AFTER:]) / min(peaks[STEADY_AFTER:])
    return Found(
        late < STEADY < early, f"peaks differ {early:.0f} times in the first ten, {late:.2f} times after fifteen"
    )


FIG06 = Figure(
    "fig06",
    "Figure 6: Diff-RAID's reliability converges",
    "Five devices, (90, 2.5, 2.5, 2.5, 2.5), D-MLC32-1, the oldest failing; RAID-5 beside it.",
    no_cells,
    {"written_tb": "TB written", "replaced": "replaced", "loss": "loss probability"},
    lambda table: [
        _over_life(
            Table([row for row in table.rows if row["scheme"] != "straight lines"]),
            "fig06-loss",
            "Over the array's life",
        )
    ],
    [
        Statement("After 10 to 15 replacements, the reliability curve reaches a steady state.", "4.1.1", _converges),
        Statement(
            "Once the age distribution converges, the data loss probability is bounded between 1e-7 and 1e-5.",
            "4.1.1",
            _bounded,
            _why_bounds,
        ),
        Statement("Up to four orders of magnitude more reliability than RAID-5.", "1", _below, _why_below),
    ],
    (ASSUMED_CURVE, "Writes of rebuilding and of moving parity are left out, as section 3.4 justifies."),
    _fig06,
    CLOSED,
)


def _fig07(setting: Setting, _: Sequence[Cell], __: Records) -> list[Row]:
    array = array_of(setting, "fig07.toml")
    rows: list[Row] = []
    for first in FIRST_SHARES:
        oldest, any_ = at_the_end(array, parity_percent=uneven(first))
        rows.append({"assignment": name(uneven(first)), "first": first, "loss": oldest, "loss_any": any_})
    return rows


def _monotone(table: Table) -> Found:
    losses = [row["loss"] for row in table.rows]
    holds = all(b > a for a, b in itertools.pairwise(losses))
    words = ", ".join(f"{row['first']} % {row['loss']:.1e}" for row in table.rows)
    return Found(holds, words)


FIG07 = Figure(
    "fig07",
    "Figure 7: reliability can be tuned",
    "Data loss probability in the steady state when the oldest device fails, by percentage on the first device.",
    no_cells,
    {"first": "% on the first", "loss": "oldest fails", "loss_any": "any fails"},
    lambda table: [
        bars(
            "fig07-loss",
            "By percentage of parity on the first device",
            [f"{row['first']}" for row in table.rows],
            {"oldest fails": [row["loss"] for row in table.rows]},
            log_axis("data loss probability"),
        )
    ],
    [Statement("Reliability goes up as more parity is concentrated on a single device.", "4.1.2", _monotone)],
    (ASSUMED_CURVE, "Taken just before a replacement, when it is greatest."),
    _fig07,
    CLOSED,
)
