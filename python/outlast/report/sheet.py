"""Figures beside what the maker of the drive promises."""

from __future__ import annotations

from typing import Any

from outlast.report import closed
from outlast.report.closed import Beside
from outlast.report.numbers import micros, short
from outlast.why.quantity import bytes_of, bytes_per_s, nanos

LARGE = 64 << 10
"""Bytes from which on requests in order count as sequential ones of a data sheet."""


def beside(summary: dict[str, Any]) -> list[Beside]:
    """Figures that the data sheet gives, too: rates under the sheet's load, and latencies of single requests."""
    scenario = summary["scenario"]
    sheet = (scenario.get("device") or {}).get("data_sheet")
    synthetic = (scenario.get("workload") or {}).get("synthetic") or {}
    if not sheet or not synthetic.get("size") or "array" in summary or not summary["time"]["simulated_s"]:
        return []
    size = bytes_of(synthetic["size"])
    if synthetic.get("pattern") == "sequential":
        return _bandwidth(summary, sheet) if size >= LARGE else []
    if size != max(summary["device"]["mapping_unit"], 4096):
        return []
    return [*_rates(summary, sheet), *_latencies(summary, sheet, synthetic)]


def _bandwidth(summary: dict[str, Any], sheet: dict[str, Any]) -> list[Beside]:
    found = []
    for kind in ("read", "write"):
        measured = summary["throughput"].get(f"{kind}_mib_s")
        if measured and kind in sheet:
            rate, promised = measured * 2**20 / 1e6, float(bytes_per_s(sheet[kind])) / 1e6
            shown = (f"{short(rate)} MB/s", f"{short(promised)} MB/s")
            figure = f"throughput.{kind}_mib_s"
            found.append(Beside(f"sequential {kind}s", rate, promised, shown, is_limit=True, figure=figure, of=SHEET))
    return found


def _rates(summary: dict[str, Any], sheet: dict[str, Any]) -> list[Beside]:
    found = []
    for kind in ("read", "write"):
        latency, promised = summary["latency_us"][kind], sheet.get(f"random_{kind}")
        if latency and promised:
            rate = latency["count"] / summary["time"]["simulated_s"]
            shown = (f"{short(rate)} IOPS", f"{short(promised)} IOPS")
            figure = f"throughput.{kind}_iops"
            found.append(Beside(f"random {kind}s", rate, promised, shown, is_limit=True, figure=figure, of=SHEET))
    return found


def _latencies(summary: dict[str, Any], sheet: dict[str, Any], synthetic: dict[str, Any]) -> list[Beside]:
    if synthetic.get("queue_depth") != 1:
        return []
    found = []
    for kind in ("read", "write"):
        latency, promised = summary["latency_us"][kind], sheet.get(f"{kind}_latency")
        if latency and promised:
            us = float(nanos(promised)) / 1e3
            shown = (micros(latency["p50"]), micros(us))
            found.append(Beside(f"{kind} latency, median", latency["p50"], us, shown, figure=f"latency_us.{kind}.p50"))
    return found


SHEET = "the data sheet’s"
COLUMNS = ("figure", "measured", "data sheet", "difference")


def table(summary: dict[str, Any]) -> str:
    """The figures as a card; empty where the data sheet speaks of none."""
    return closed.table(summary, COLUMNS, beside(summary))
