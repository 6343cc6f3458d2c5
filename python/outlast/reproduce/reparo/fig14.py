"""Figure 14 and Table 3: enterprise workloads after a die has failed and been repaired."""

from __future__ import annotations

from typing import Any

from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table
from outlast.reproduce.reparo.common import (
    CDR,
    DIES,
    IDR,
    NEW,
    SCATTER,
    SCHEME,
    WITHIN,
    drive,
    points,
    repaired,
)
from outlast.reproduce.reparo.fig12 import DIES_GONE, LARGE, QUEUE_PER_DIE, SMALL, STREAM, rows

MEDIA, FILES, OLTP, ARCHIVE, MEDICAL = "Media Streaming", "File Servers", "Database OLTP", "Archive", "Medical Imaging"
SMALL_REQUESTS: dict[str, Any] = {"device.geometry.pages_per_block": 8, "device.timing.erase": "36us"}
"""Small requests need no large blocks."""
BY_8K: dict[str, Any] = {"device.ftl.mapping_unit": "8KiB", STREAM + "size": "8KiB"} | SMALL_REQUESTS


def _stream(read: int, jumps: int, requests: int, **more: Any) -> dict[str, Any]:
    own = {STREAM + "read_percent": read, STREAM + "random_percent": jumps, STREAM + "requests": requests}
    return own | more


WORKLOADS: dict[str, dict[str, Any]] = {
    MEDIA: _stream(98, 0, 200_000) | {STREAM + "size": "64KiB"} | SMALL_REQUESTS,
    FILES: _stream(90, 75, 500_000) | BY_8K,
    OLTP: _stream(70, 100, 500_000) | BY_8K,
    ARCHIVE: _stream(55, 95, 200_000),
    MEDICAL: _stream(5, 5, 200_000) | {STREAM + "size": "64KiB"},
}
"""Table 3: reads and jumps in percent. Media Streaming has 64 KB; 1 and 2 MB are 16 times smaller, as blocks are."""
SCHEMES: dict[str, dict[str, Any]] = {NEW: {}, IDR: {SCHEME: "isolated"}, CDR: {SCHEME: "cooperative"}}
QUICK = {SMALL: tuple(WORKLOADS), LARGE: (OLTP,)}
"""What the quick mode runs: a drive of 32 TB takes long, above all with the blocks of 48 pages of large requests."""


def _cell(setting: Setting, name: str, capacity: str, scheme: str) -> Cell:
    gone = {} if scheme == NEW else {DIES_GONE: repaired(DIES[capacity], 1)}
    depth = {STREAM + "queue_depth": QUEUE_PER_DIE * DIES[capacity]}
    labels = {"stream": name, "capacity": capacity, "scheme": scheme}
    changes = WORKLOADS[name] | SCHEMES[scheme] | drive(capacity) | gone | depth
    return Cell(labels, [setting.scenarios / "fig14.toml"], changes)


def _cells(setting: Setting) -> list[Cell]:
    planned = QUICK if setting.mode.name == "quick" else dict.fromkeys(DIES, tuple(WORKLOADS))
    return [
        _cell(setting, name, capacity, scheme)
        for capacity, names in planned.items()
        for name in names
        for scheme in SCHEMES
    ]


def lead(table: Table, workload: str, capacity: str = SMALL) -> float:
    """How many times as fast CDR is as IDR."""
    cdr, idr = (table.value("speed", stream=workload, scheme=scheme, capacity=capacity) for scheme in (CDR, IDR))
    return cdr / idr


def _lead(workload: str, paper: float) -> Any:
    return lambda table: points(f"{workload}, % faster:", 100 * (lead(table, workload) - 1), paper)


def _why(workload: str) -> Any:
    def because(table: Table) -> str:
        waf = ", ".join(
            f"{scheme} {table.value('waf', stream=workload, scheme=scheme, capacity=SMALL):.2f}"
            for scheme in (NEW, IDR, CDR)
        )
        core = table.value("waf_core", stream=workload, scheme=IDR, capacity=SMALL)
        return (
            f"WAF is {waf}, of which IDR's victim core alone has {core:.1f}, and the writer waits for it, as under "
            "random writes (Figure 12d)"
        )

    return because


READ_DROP = 3.4
"""Percent: the most by which reads differ in Figure 12b, with which these are in line (section 7.2.2)."""


def _alike(*names: str) -> Any:
    def check(table: Table) -> Found:
        leads = {name: 100 * (lead(table, name) - 1) for name in names}
        words = ", ".join(f"{name} {value:.1f} %" for name, value in leads.items())
        return Found(max(leads.values()) <= READ_DROP + SCATTER, f"CDR is faster by: {words}")

    return check


def _why_files(table: Table) -> str:
    waf = table.value("waf", stream=FILES, scheme=IDR, capacity=SMALL)
    return (
        f"a tenth of the requests writes, at a WAF of {waf:.1f} under IDR, and the writer waits for the victim core; "
        "with "
        "fewer writes, or an offered load below what the drive can do, it would be less"
    )


def _writes(table: Table) -> Found:
    leads = {name: lead(table, name) for name in WORKLOADS}
    words = ", ".join(f"{name} {value:.2f}×" for name, value in leads.items())
    return Found(min(leads[ARCHIVE], leads[MEDICAL]) > max(leads[MEDIA], leads[FILES]), words)


def _mixed(table: Table) -> Found:
    ours, paper = lead(table, MEDICAL) / lead(table, ARCHIVE), 1.995 / 1.964
    return near("5 % of jumps over 95 %:", ours, paper, WITHIN * paper, "×")


def _smaller(table: Table) -> Found:
    parts = []
    for name in WORKLOADS:
        at = [lead(table, name, capacity) for capacity in DIES if table.has(stream=name, capacity=capacity)]
        if len(at) > 1:
            holds = at[-1] < at[0] + 2 * SCATTER / 100
            parts.append(Found(holds, f"{name} {100 * (at[0] - 1):.1f} %, at 32 TB {100 * (at[-1] - 1):.1f} %"))
    return every(parts)


def _why_oltp(table: Table) -> str:
    waf = table.value("waf", stream=OLTP, scheme=NEW, capacity=SMALL)
    return (
        f"a random write costs {waf:.1f} programs and nearly as many reads, so that 30 % of writes take most of the "
        "dies' time, and flash bounds the drive. If the paper's drive was offered fewer requests than it could serve, "
        "no difference would be seen; its figure's values are not in the text"
    )


def _charts(table: Table) -> list[Chart]:
    found = []
    for capacity in DIES:
        names = [name for name in WORKLOADS if table.has(stream=name, capacity=capacity)]
        if names:
            series = {
                scheme: [table.value("speed", stream=name, scheme=scheme, capacity=capacity) for name in names]
                for scheme in SCHEMES
            }
            unit = axis("IOPS beside new", rangemode="tozero")
            found.append(
                bars(f"fig14-{capacity.replace(' ', '-')}", f"Enterprise workloads, {capacity}", names, series, unit)
            )
    return found


FIGURE = Figure(
    "fig14",
    "Figure 14: enterprise workloads after a die has been repaired",
    "The five workloads of Table 3, in requests a second beside those of a new SSD.",
    _cells,
    {"iops": "requests/s", "speed": "beside new", "waf": "WAF", "waf_ratio": "WAF beside new"},
    _charts,
    [
        Statement("Archive: CDR is 96.4 % faster than IDR.", "7.2.2, Figure 14", _lead(ARCHIVE, 96.4), _why(ARCHIVE)),
        Statement(
            "Medical Imaging: CDR is 99.5 % faster than IDR.", "7.2.2, Figure 14", _lead(MEDICAL, 99.5), _why(MEDICAL)
        ),
        Statement(
            "IDR and CDR differ most under write-intensive workloads.", "7.2.2, Figure 14", _writes, _why(MEDICAL)
        ),
        Statement(
            "Among sequential requests a low part of random ones is enough for it.",
            "7.2.2, Figure 14",
            _mixed,
            _why(MEDICAL),
        ),
        Statement(
            "Read-intensive workloads hardly differ: Media Streaming and File Servers.",
            "7.2.2, Figure 14",
            _alike(MEDIA, FILES),
            _why_files,
        ),
        Statement(
            "Nor does Database OLTP, if its 70 % of reads are read-intensive.",
            "7.2.2, Figure 14",
            _alike(OLTP),
            _why_oltp,
        ),
        Statement("On a large SSD CDR leads by less than on a small one.", "7.2.2, Figure 14", _smaller, _why(OLTP)),
    ],
    (
        "Scaled as Figure 12; for Archive and Medical Imaging blocks have 48 pages and requests are 16 times smaller "
        "than Table 3's, in proportion to blocks. The link moves 1200 MB/s; four requests a die are under "
        "way. The quick mode has 4 TB, and Database OLTP at 32 TB; the full one has all.",
        "A request is random, or goes on where the last one ended; reads and writes share the place. The drive was "
        "overwritten by the workload itself before.",
    ),
    rows,
)
