"""Section 3.6: a card is added, which the paper leaves open."""

from __future__ import annotations

from outlast.report.figure import Figure as Chart
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Setting, Statement, Table

TIMES = (2, 5, 10, 20, 40)
"""Ends of runs, in seconds; the card comes at 1 s."""
WAYS = {"written data alone": None, "old data is moved": {"reprotect": True}}
NEVER = "never added"


def cells(setting: Setting) -> list[Cell]:
    """The same run, ended at several times, and one without the card."""
    file = setting.scenarios / "newcard.toml"
    found = [
        Cell(
            {"way": way, "time": f"{time} s"}, [file], {"device.scrub": own, "workload.synthetic.duration": f"{time}s"}
        )
        for way, own in WAYS.items()
        for time in TIMES
    ]
    return [*found, Cell({"way": NEVER, "time": f"{TIMES[-1]} s"}, [file], {"changes": None})]


def _amplification(table: Table, way: str) -> float:
    return table.value("write_amplification", way=way, time=f"{TIMES[-1]} s")


def _added(table: Table) -> Found:
    rows = [row for row in table.rows if row["way"] != NEVER]
    made = all(row["changes"] == ["8 dies are added"] for row in rows)
    lost = sum(row.get("uncorrectable_reads") or 0 for row in rows)
    return Found(made and lost == 0, f"8 banks added in {len(rows)} runs; {lost} reads lost")


def _fewer(table: Table) -> Found:
    before = table.value("protected_superblocks", way=NEVER, time=f"{TIMES[-1]} s")
    after = table.value("protected_superblocks", way="old data is moved", time=f"{TIMES[0]} s")
    return Found(after < before, f"the data takes {before:.0f} block groups on seven cards, {after:.0f} on eight")


def _less_cleaning(table: Table) -> Found:
    never, plain = _amplification(table, NEVER), _amplification(table, "written data alone")
    return Found(plain < never, f"pages written a page: {never:.2f} without it, {plain:.2f} with it")


def _charts(table: Table) -> list[Chart]:
    rows = [row | {"scheme": row["way"]} for row in table.rows]
    return [
        bars(table, "newcard-groups", "Block groups in use", "protected_superblocks", "", across=("time",), rows=rows)
    ]


FIGURE = Figure(
    "newcard",
    "Section 3.6: a card is added",
    "Seven cards are in use, with six pages of data for each parity; an eighth comes at 1 s.",
    cells,
    {
        "protected_superblocks": "block groups",
        "write_amplification": "write amplification",
        "wa_reencode": "moved for it",
        "read_mean_us": "mean read, µs",
        "write_mean_us": "mean write, µs",
    },
    _charts,
    [
        Statement("Devices can be added while data is live.", "3.6 (ours)", _added),
        Statement("Block groups are restructured: data moves to all cards.", "3.6, 5 (ours)", _fewer),
        Statement("What the card adds is spare space, so that cleaning moves less.", "3.6 (ours)", _less_cleaning),
    ],
    (
        "The paper leaves scaling open. Here stripes that are written while a card is absent lack its member, and new "
        "ones use it; old ones are moved by cleaning, or at once.",
    ),
)
