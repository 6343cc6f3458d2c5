"""The headline figures of one result, with small curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from outlast import endurance
from outlast.report.figure import amplification_by_cause
from outlast.report.latency import FEW, FEW_SHORT, marked
from outlast.report.names import terabytes, tip, tips, words
from outlast.report.numbers import Floats, micros, plain, seconds, share, short, thinned
from outlast.report.page import Tile, sparkline

if TYPE_CHECKING:
    from outlast.result import Result

Series = dict[str, Floats]
MOST_WINDOWS = 900
"""Windows of the time series that a chart draws; of more, neighbours are joined."""


def series_of(result: Result, most: int) -> Series | None:
    """The time series of a result in at most so many windows; `None` where it has none."""
    rows = dict(result.tables.get("timeseries", {}))
    return thinned(rows, most) if rows and len(rows["start_s"]) else None


def tiles(result: Result, most: int = MOST_WINDOWS) -> str:
    """Tiles with the main figures, each with a small curve of at most `most` points."""
    return "".join(tile.html() for tile in _tiles(result.summary, series_of(result, most)))


def _tiles(summary: dict[str, Any], series: Series | None) -> list[Tile]:
    rate, wa = summary["throughput"], summary["write_amplification"]
    read, write = summary["latency_us"]["read"], summary["latency_us"]["write"]
    curves: dict[str, list[float | None]] = {}
    if series is not None:
        span = series["end_s"] - series["start_s"]
        curves["iops"] = plain(share(series["reads"] + series["writes"], span))
        host = series["write_mib"]
        curves["wa"] = plain(np.where(host >= 0.02 * host.max(), series["write_amplification"], np.nan))
        for op in ("read", "write"):
            curves[op] = plain(np.where(series[f"{op}s"] > 0, series[f"{op}_p99_us"], np.nan))

    def spark(name: str) -> str:
        return sparkline(curves.get(name, []))

    note = f"{short(rate['read_iops'])} reads, {short(rate['write_iops'])} writes per second"
    made: list[Tile | None] = []
    if rate["iops"] is not None:
        made.append(Tile("IOPS", short(rate["iops"]), note, spark("iops"), tip("throughput.iops")))
    for op, figures in (("read", read), ("write", write)):
        if figures:
            note = f"median {micros(figures['p50'])}, slowest {micros(figures['max'])}"
            name, value = f"latency_us.{op}.p99", marked(figures, "p99")
            note += FEW_SHORT if value.endswith(FEW) else ""
            made.append(Tile(words(name), value, note, spark(op), tip(name)))
    if rate["iops"] is not None:
        mib = short(rate["read_mib_s"] + rate["write_mib_s"])
        note = f"{short(rate['read_mib_s'])} read, {short(rate['write_mib_s'])} written"
        note += f", over {seconds(summary['time']['simulated_s'])} of simulated time"
        made.append(Tile("MiB/s", mib, note, tip=tips("throughput.read_mib_s", "throughput.write_mib_s")))
    if wa["total"] is not None:
        formula = summary["closed_form"]["greedy_waf"]
        without = " without parity" if amplification_by_cause(wa)["parity"] else ""
        collected = f"{wa['gc']:.3f} of it by garbage collection"
        note = f"closed form{without} {formula:.3f}" if formula is not None else collected
        total = "write_amplification.total"
        made.append(Tile(words(total), f"{wa['total']:.3f}", note, spark("wa"), tip(total)))
    made.append(_wear(summary))
    return [tile for tile in made if tile is not None]


def _wear(summary: dict[str, Any]) -> Tile | None:
    """Tile with the endurance, or without a rating of the flash with its wear."""
    cycles = summary["wear"]
    if (worn := endurance.endurance_of(summary)) is not None:
        note = f"{short(worn.dwpd)} drive writes a day for {endurance.YEARS} years"
        if worn.left_bytes is not None:
            note = f"{terabytes(worn.left_bytes)} of it left; {note}"
        return Tile("TBW", terabytes(worn.tbw_bytes), note, tip=tips("endurance.tbw_bytes", "endurance.dwpd"))
    if cycles["mean_pe"] is None:
        return None
    note = f"{short(cycles['min_pe'])} to {short(cycles['max_pe'])} over the blocks"
    return Tile("P/E cycles, mean", short(cycles["mean_pe"]), note, tip=tip("wear.mean_pe"))
