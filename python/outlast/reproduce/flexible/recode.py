"""Section 3.4: changing the encoding on the fly."""

from __future__ import annotations

import itertools

from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table

TIMES = (2, 3, 5, 10, 20, 40, 80)
"""Ends of runs, in seconds; the change is at 1 s."""
WAYS = {"cleaning alone": None, "cleaned with priority": {"reprotect": True}}


def cells(setting: Setting) -> list[Cell]:
    """The same run, ended at several times."""
    return [
        Cell(
            {"way": way, "time": f"{time} s"},
            [setting.scenarios / "recode.toml"],
            {"device.scrub": scrub, "workload.synthetic.duration": f"{time}s"},
        )
        for way, scrub in WAYS.items()
        for time in TIMES
    ]


def outdated(table: Table, way: str) -> list[float]:
    """Block groups with the old code, in percent, at the times."""
    return [table.value("outdated_percent", way=way, time=f"{time} s") for time in TIMES]


def _words(table: Table, way: str) -> str:
    shares = ", ".join(f"{share:.0f} % at {time} s" for time, share in zip(TIMES, outdated(table, way), strict=True))
    return f"old code, {way}: {shares}"


def _slow_change(table: Table) -> Found:
    shares = outdated(table, "cleaning alone")
    falls = all(later <= before + 1e-9 for before, later in itertools.pairwise(shares))
    return Found(falls and shares[0] > 50 and shares[-1] == 0, _words(table, "cleaning alone"))


def _priority(table: Table) -> Found:
    plain, first = (outdated(table, way) for way in WAYS)
    holds = all(b <= a for a, b in zip(plain, first, strict=True)) and first[-1] == 0
    return Found(holds, _words(table, "cleaned with priority"))


def _no_loss(table: Table) -> Found:
    lost = sum(row.get("uncorrectable_reads") or 0 for row in table.rows)
    made = all(row["changes"] == ["class 0 gets (6, 2)"] for row in table.rows)
    return Found(made and lost == 0, f"the change was made in {len(table.rows)} runs; {lost} reads lost")


def _charts(table: Table) -> list[Chart]:
    data = [
        line([float(time) for time in TIMES], outdated(table, way), way, RUN_COLOURS[index])
        for index, way in enumerate(WAYS)
    ]
    layout = {"xaxis": axis("time, s"), "yaxis": axis("block groups with the old code, %"), "hovermode": "x"}
    return [Chart("recode-progress", data, layout, "From (7,1) to (6,2)", "changed at 1 s", 320)]


FIGURE = Figure(
    "recode",
    "Section 3.4: another code, on the fly",
    "Under reads and writes (7,1) becomes (6,2); how many block groups still have the old one.",
    cells,
    {
        "outdated_percent": "old code, %",
        "protected_superblocks": "block groups",
        "wa_reencode": "moved for it, pages a page written",
        "read_mean_us": "mean read, µs",
        "write_mean_us": "mean write, µs",
    },
    _charts,
    [
        Statement("A new encoding for future block groups leads to a slow change of the whole.", "3.4", _slow_change),
        Statement("Old block groups may be given priority for cleaning.", "3.4", _priority),
        Statement("The system does this while it is used.", "3.4", _no_loss),
    ],
    ("640 MiB of the 1 GiB are user data; 1000 writes and 1000 reads a second, uniform. None is in the text.",),
)
