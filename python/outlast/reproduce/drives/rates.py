"""Host rates under random writes, as many as the drive takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outlast import api
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every
from outlast.reproduce.drives import common, measured
from outlast.reproduce.drives.common import FITTED, MAX, P5520, PREDICTED, PRO, SPARE
from outlast.reproduce.drives.measured import Writes
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Number, Row, Setting, Statement, Table

WITHIN = 0.05
SHARE = 16
"""Timed runs are on a drive of this part; a quarter of that in full."""


def lines(names: Sequence[str]) -> list[Writes]:
    """Host rates of these drives under uniform writes."""
    return [own for own in measured.writes() if own.drive in names and own.workload == "uniform" and own.host]


def cells(setting: Setting) -> list[Cell]:
    """A run for each fill; the MAX and the PRO are one hardware."""
    shape = api.resolve(str(setting.scenarios / "rates.toml"))
    over = {name: shape[name] for name in ("workload", "run")}
    found = []
    for drive in (MAX, P5520):
        whole = common.scenario(setting, drive)
        for own in lines([drive.name]):
            share = SHARE if setting.mode.name == "quick" else SHARE // 4
            changes = common.smaller(whole, share) | {SPARE: common.spare_for(whole, own.gib)}
            own_labels = {"hardware": drive.name, "written to": f"{own.gib:g} GiB"}
            found.append(Cell(own_labels, [setting.scenarios / f"{drive.key}.toml", over], changes))
    return found


def rows(_: Setting, planned: Sequence[Cell], gave: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Each drive's rates beside those of its hardware."""
    rate = {}
    for cell, record in zip(planned, gave, strict=True):
        throughput = record["summary"]["throughput"]["write_mib_s"]
        rate[cell.labels["hardware"], cell.labels["written to"]] = throughput * 2**20 / 1e6
    made: list[Row] = []
    for hardware, names in ((MAX.name, (MAX.name, PRO)), (P5520.name, (P5520.name,))):
        for own in lines(names):
            ours, theirs = rate[hardware, f"{own.gib:g} GiB"], own.host or 1.0
            fitted = (own.drive, own.gib) in common.RATES_FITTED
            made.append(
                {
                    "drive": own.drive,
                    "written to": f"{own.gib:g} GiB",
                    "kind": FITTED if fitted else PREDICTED,
                    "measured": theirs,
                    "simulated": ours,
                    "off_percent": 100 * (ours / theirs - 1),
                }
            )
    return made


def _each(name: str) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        found = []
        for row in table.where(drive=name, kind=PREDICTED):
            ours, theirs = float(row["simulated"]), float(row["measured"])
            words = f"{row['written to']} {ours:.0f} MB/s (measured {theirs:.0f}, {common.percent(ours, theirs)})"
            number = Number(str(row["written to"]), ours, theirs, " MB/s")
            found.append(Found(abs(ours / theirs - 1) <= WITHIN, words, (number,)))
        return every(found)

    return check


def _charts(table: Table) -> list[Chart]:
    own = [
        {"written to": f"{row['drive']} {row['written to']}", "scheme": kind, "rate": row[kind]}
        for row in table.rows
        for kind in ("measured", "simulated")
    ]
    return [bars(Table(own), "rates-chart", "Host rate", "rate", "MB/s", across=("written to",))]


FIGURE = Figure(
    "rates",
    "Maximum rate of random writes",
    "What the host can write when it always has 512 writes under way. The time of a program, and whether collection "
    "reads page by page, are fitted to two rates of the 7450 MAX, the time of a program of the P5520 to its only one; "
    "the rest is predicted.",
    cells,
    {"measured": "measured, MB/s", "simulated": "simulated, MB/s", "off_percent": "off, %"},
    _charts,
    [
        Statement(
            f"Predicted within {100 * WITHIN:g} %: the {name}.",
            "waf.csv, host",
            _each(name),
            "how long collection holds a die for a page that it moves is not known of the chips",
        )
        for name in (MAX.name, PRO)
    ],
    ("The MAX and the PRO are one hardware: what is written to decides, and one run stands for both.",),
    rows,
)
