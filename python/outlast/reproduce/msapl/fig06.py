"""Figure 6: mean response times of eSAP and mSAPL, where eSAP keeps its chips busy for half of the time."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, percent
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.msapl.common import (
    BLOCKS,
    CLASSES,
    ESAP,
    ESAP_MORE,
    MSAPL,
    POINTS,
    WORKLOADS,
    cells_of,
    saved,
)

BUSY = 50.0
"""Percent of the time that eSAP keeps chips busy where the workloads are compared: half, for the text says nothing."""
FULL = 99.0
"""Above, the host waits for the drive alone, and a mean response says how long the run was."""
LOADS = (2.0, 2.8, 4.0, 5.6, 8.0)
"""Megabytes that the host writes in a second."""
WRITTEN_KB = {"Financial": 14 * 0.76, "Exchange": 17 * 0.67, "MSN": 27 * 0.96}
"""Kilobytes written for each request: Table 2."""
CACHE, RATE = "device.controller.write_cache", "workload.synthetic.rate_iops"


def rate(workload: str, load: float) -> int:
    """Requests a second that write so much."""
    return round(1000 * load / WRITTEN_KB[workload])


def cells(setting: Setting) -> list[Cell]:
    """Every scheme under every workload, at the same loads."""
    found = []
    for load in LOADS:
        for cell in cells_of(setting, {CACHE: "off"}, {"load": f"{load} MB/s"}):
            own = dict(cell.overrides) | {RATE: rate(cell.labels["workload"], load)}
            found.append(Cell(cell.labels, cell.layers, own))
    return found


def place(table: Table, name: str) -> tuple[str, str, float]:
    """The loads between which eSAP is busy for half of the time, and how far it is from the first to the second.

    Raises:
        LookupError: no load is below, or none above.

    """
    busy = [(row["load"], row["busy_percent"]) for row in table.where(workload=name, scheme=ESAP)]
    for (first, low), (second, high) in pairwise(busy):
        if low <= BUSY < high:
            return first, second, (BUSY - low) / (high - low)
    raise LookupError(f"eSAP under {name} at {BUSY:.0f} %")


def response_us(table: Table, name: str, scheme: str) -> float:
    """The mean response there: between two loads its logarithm is a straight line over eSAP's busy time."""
    first, second, way = place(table, name)
    low, high = (
        math.log(table.value("response_mean_us", workload=name, scheme=scheme, load=load)) for load in (first, second)
    )
    return math.exp(low + way * (high - low))


def saves(table: Table, name: str, scheme: str) -> float:
    """By how many percent the response is below eSAP's."""
    return 100 * (1 - response_us(table, name, scheme) / response_us(table, name, ESAP))


def _saves(name: str) -> Callable[[Table], Found]:
    return lambda table: percent(name, saves(table, name, MSAPL), WORKLOADS[name].response, POINTS)


def _why(name: str) -> Callable[[Table], str]:
    def because(table: Table) -> str:
        parts = ", ".join(f"{scheme} {saves(table, name, scheme):.1f} %" for scheme in (BLOCKS, CLASSES, ESAP_MORE))
        busy = table.values("busy_percent", workload=name, scheme=ESAP)
        each = ", ".join(
            f"{saved(table, 'response_mean_us', name, MSAPL, load=f'{load} MB/s'):.1f} % at {share:.0f} %"
            for load, share in zip(LOADS, busy, strict=True)
            if share < FULL
        )
        return (
            "what it saves follows from how long commands queue behind collection, and the text does not say how busy "
            f"its drive was: by how busy eSAP is, {each}. At {BUSY:.0f} %, {parts}"
        )

    return because


def _faster(table: Table) -> Found:
    parts = []
    for name in WORKLOADS:
        value = saves(table, name, MSAPL)
        parts.append(Found(value > 0, f"{name}: {value:.1f} % less"))
    return every(parts)


def _charts(table: Table) -> list[Chart]:
    title = "Mean response"
    loads = [f"{load} MB/s" for load in LOADS]
    return [
        bars(table, f"fig06-{index}", f"{title}, {load}", "response_mean_us", "µs", across=("workload",), rows=rows)
        for index, load in enumerate(loads)
        if (rows := table.where(load=load))
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
            Statement(f"By {WORKLOADS[name].response} % under {name}.", "5.2", _saves(name), _why(name))
            for name in WORKLOADS
        ),
    ],
    (
        "DiskSim's SSD extension has no write buffer, so that a write ends on flash (write_cache = off); every write "
        "then also has its stripe's partial parity written at once, not after 50 ms.",
        "The rate is not in the text. All three are compared where eSAP keeps its chips busy for half of the time: the "
        "same loads are run under each, and between the two on either side of that a straight line is drawn.",
        "Collection is not paced by the host's progress.",
    ),
)
