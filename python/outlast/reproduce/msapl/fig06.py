"""Figure 6: mean response times of eSAP and mSAPL."""

from __future__ import annotations

from collections.abc import Callable

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, near
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.msapl.common import BLOCKS, CLASSES, ESAP_MORE, MSAPL, WORKLOADS, cells_of, saved

LEISURE, HALF, BUSY = "38/s", "half as busy", "busy"
HIGH = {"Financial": 600, "Exchange": 500, "MSN": 180}
"""Requests a second at which eSAP keeps chips busy for well over half of the time."""


def rate(workload: str, load: str) -> int:
    """Requests a second."""
    return {LEISURE: 38, HALF: HIGH[workload] // 2, BUSY: HIGH[workload]}[load]


LOADS = (LEISURE, HALF, BUSY)
CACHE, RATE = "device.controller.write_cache", "workload.synthetic.rate_iops"


def cells(setting: Setting) -> list[Cell]:
    """Every scheme under every workload, at leisure and busy."""
    found = []
    for load in LOADS:
        for cell in cells_of(setting, {CACHE: "off"}, {"load": load}):
            own = dict(cell.overrides) | {RATE: rate(cell.labels["workload"], load)}
            found.append(Cell(cell.labels, cell.layers, own))
    return found


def _saves(name: str, load: str) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        value = saved(table, "response_mean_us", name, MSAPL, load=load)
        return near(f"{name}, {load}", value, WORKLOADS[name].response, 5.0, " % less")

    return check


def _why(load: str) -> Callable[[Table], str]:
    def because(table: Table) -> str:
        words = []
        for name in WORKLOADS:
            parts = ", ".join(
                f"{scheme} {saved(table, 'response_mean_us', name, scheme, load=load):.1f} %"
                for scheme in (BLOCKS, CLASSES, ESAP_MORE)
            )
            words.append(f"{name}: {parts}")
        return (
            f"what it saves follows from how long commands queue behind collection, and the text does not say how busy "
            f"its drive was; {'; '.join(words)}"
        )

    return because


def _faster(table: Table) -> Found:
    parts = []
    for name in WORKLOADS:
        value = saved(table, "response_mean_us", name, MSAPL, load=BUSY)
        parts.append(Found(value > 0, f"{name}: {value:.1f} % less"))
    return every(parts)


def _charts(table: Table) -> list[Chart]:
    return [
        bars(
            table,
            f"fig06-{index}",
            f"Mean response, {load}",
            "response_mean_us",
            "µs",
            across=("workload",),
            rows=table.where(load=load),
        )
        for index, load in enumerate(LOADS)
    ]


FIGURE = Figure(
    "fig06",
    "Figure 6: mean response time",
    "Reads and writes together; a write ends when it is on flash.",
    cells,
    {
        "response_mean_us": "mean response, µs",
        "read_mean_us": "mean read, µs",
        "write_mean_us": "mean write, µs",
        "busy_percent": "chips busy, %",
        "write_amplification": "write amplification",
        "wa_partial": "partial parity",
    },
    _charts,
    [
        Statement("mSAPL reduces the mean response time under all three.", "5.2", _faster),
        *(
            Statement(
                f"By {WORKLOADS[name].response} % under {name} (here: {load}).", "5.2", _saves(name, load), _why(load)
            )
            for load in LOADS
            for name in WORKLOADS
        ),
    ],
    (
        "DiskSim's SSD extension has no write buffer, so that a write ends on flash (write_cache = off); every write "
        "then also has its stripe's partial parity written at once, not after 50 ms.",
        "The rate is not in the text: 38 requests a second; so many that eSAP keeps the chips busy for well "
        "over half of the time; and half of that.",
        "Collection is not paced by the host's progress.",
    ),
)
