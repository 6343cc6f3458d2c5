"""Section 9: data that moves between cores inside the drive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.report.figure import axis
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo import fig10
from outlast.reproduce.reparo.common import CDR, Records
from outlast.reproduce.reparo.fig10 import SMALL

HOST, INSIDE = "by the host", "inside the drive"
WAYS: dict[str, dict[str, Any]] = {HOST: {}, INSIDE: {"device.repair.migration": "device"}}


def _cells(setting: Setting) -> list[Cell]:
    found = []
    for way, more in WAYS.items():
        own = fig10.cell(setting, SMALL, CDR, more=more)
        found.append(Cell({"way": way}, own.layers, own.overrides))
    return found


def _rows(_: Setting, cells: Sequence[Cell], records: Records) -> list[Row]:
    found: list[Row] = []
    for each, record in zip(cells, records, strict=True):
        scale = record["scenario"]["run"].get("capacity_scale", 1.0)
        found.append(dict(each.labels) | fig10.repair_of(record["summary"], scale))
    return found


def _saves(way: str, column: str, unit: str) -> Any:
    def check(table: Table) -> Found:
        before, after = (table.value(column, way=own) for own in (HOST, way))
        return Found(after < before, f"{after:.1f} {unit} in place of {before:.1f}")

    return check


def _charts(table: Table) -> Any:
    series = {name: table.values(f"{name}_gb") for name in ("read", "written")}
    return [bars("future-traffic", "What the host moves, 4 TB", list(WAYS), series, axis("GB", rangemode="tozero"))]


FIGURE = Figure(
    "future",
    "Section 9: what migration inside the drive saves",
    "A die of one of eight 4-TB SSDs fails as in Figure 10, under CDR: units that are to change cores go by the host "
    "or "
    "inside the drive.",
    _cells,
    {
        "total_min": "repair, min",
        "identify_min": "Identifier, min",
        "failed_units": "failed units",
        "read_gb": "host reads, GB",
        "written_gb": "host writes, GB",
    },
    _charts,
    [
        Statement(
            "Migration between cores inside the SSD reduces transfers between it and the host.",
            "9",
            _saves(INSIDE, "moved_gb", "GB"),
            "nothing is left to move that the host does not write",
        ),
    ],
    ("Nothing else differs from Figure 10. Predicted failures are not shown.",),
    _rows,
)
