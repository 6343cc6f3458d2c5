"""Figures 12 to 16 again, with dies that fail while the drive runs and are repaired before it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.report.figure import axis
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import bars
from outlast.reproduce.model import Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo import fig12
from outlast.reproduce.reparo.common import CDR, DIES, IDENTIFIER, IDR, POINTS, Records, repaired
from outlast.reproduce.reparo.fig12 import DIES_GONE, RANDOM_WRITE, SEQUENTIAL_WRITE, SMALL, STREAM

BEFORE, RUNNING = "before it was filled", "while it ran"
FAST = "100GB/s"
MIRROR: dict[str, Any] = {
    "array.level": "raid1",
    "array.members": 2,
    "array.light.devices": [1],
    "array.background.min_rate": FAST,
    "array.background.max_rate": FAST,
    "array.repair.queries": 16,
}
"""A mirror, so that each write of the host is one of the drive's; the other member has no flash, and is never "
"waited for."""
CASES: dict[str, tuple[str, str, int, str, int]] = {
    "IDR, random": (RANDOM_WRITE, IDR, 1, "60s", 1_100_000),
    "CDR, random": (RANDOM_WRITE, CDR, 1, "30s", 1_300_000),
    "CDR, random, two dies": (RANDOM_WRITE, CDR, 2, "60s", 1_800_000),
    "IDR, sequential": (SEQUENTIAL_WRITE, IDR, 1, "20s", 300_000),
}
"""Stream, scheme and failed dies; how long the drive goes on before it is measured, and its requests in all."""


def cells(setting: Setting) -> list[Cell]:
    """Each drive twice: repaired before it was filled, and failing at the start of a run."""
    found = []
    for name, (stream, scheme, failures, settled, requests) in CASES.items():
        own = fig12.cell(setting, SMALL, scheme, stream)
        gone = repaired(DIES[SMALL], failures)
        changes = {key: value for key, value in own.overrides.items() if key != DIES_GONE}
        found.append(Cell({"case": name, "repaired": BEFORE}, own.layers, changes | {DIES_GONE: gone}))
        alone = {IDENTIFIER: "l2p-one-core"} if scheme == IDR else {}
        faults = [{"at": "0ns", "kind": "die", "device": 0, "die": die} for die in gone]
        changes |= alone | MIRROR | {"faults": faults, "run.warm_up": settled, STREAM + "requests": requests}
        found.append(Cell({"case": name, "repaired": RUNNING}, own.layers, changes))
    return found


def rows(_: Setting, planned: Sequence[Cell], records: Records) -> list[Row]:
    """Requests a second and WAF of each drive, and of those that failed in the run what the repair was.

    Raises:
        LookupError: a repair was not done when measuring began, or lost data.

    """
    found: list[Row] = []
    for each, record in zip(planned, records, strict=True):
        summary = record["summary"]
        row: Row = dict(each.labels) | {"iops": summary["throughput"]["iops"]}
        row["waf"] = summary["write_amplification"]["total"]
        row |= {"repairs": None, "finished_s": None, "failed_units": None, "fake_failures": None}
        if each.labels["repaired"] == RUNNING:
            repairs = summary["repair"]
            ends = [repair["finished_s"] for repair in repairs]
            settled = float(str(each.overrides["run.warm_up"]).removesuffix("s"))
            if len(repairs) != len(each.overrides["faults"]) or not all(end and end < settled for end in ends):
                raise LookupError(f"{each.labels['case']}: repairs end at {ends} s, measuring begins at {settled} s")
            if any(repair["lost_bytes"] for repair in repairs):
                raise LookupError("a repair lost data")
            row |= {"repairs": len(repairs), "finished_s": max(ends)}
            row |= {name: sum(repair[name] for repair in repairs) for name in ("failed_units", "fake_failures")}
        found.append(row)
    return found


def ratio(table: Table, name: str, case: str) -> float:
    """A drive that was repaired while it ran beside one that was repaired before."""
    return table.value(name, case=case, repaired=RUNNING) / table.value(name, case=case, repaired=BEFORE)


def _same(name: str) -> Any:
    def check(table: Table) -> Found:
        known = [case for case in CASES if table.has(case=case)]
        return every([near(f"{case}:", ratio(table, name, case), 1, POINTS / 100, "×") for case in known])

    return check


def _charts(table: Table) -> Any:
    known = [case for case in CASES if table.has(case=case)]
    series = {own: [table.value("iops", case=case, repaired=own) for case in known] for own in (BEFORE, RUNNING)}
    return [bars("runtime-speed", "Writes after a repair", known, series, axis("requests/s", rangemode="tozero"))]


FIGURE = Figure(
    "runtime",
    "Figures 12 to 16: dies that fail while the drive runs",
    "A die fails at the start of a run, is found, repaired by the host and left behind; then the drive is measured. "
    "Beside "
    "it a drive that was repaired before it was filled, as Figures 12 to 16 have them.",
    cells,
    {
        "iops": "requests/s",
        "waf": "WAF",
        "finished_s": "repaired after, s",
        "failed_units": "failed units",
        "fake_failures": "fake failures",
    },
    _charts,
    [
        Statement(
            "A drive that was repaired while it ran is as fast as one that was before it was filled.",
            "7.2.2, 7.2.3",
            _same("iops"),
            "what is left of the repair, or of the state before it, has not settled when measuring begins",
        ),
        Statement(
            "Its write amplification is the same, too.",
            "7.2.2, 7.2.3",
            _same("waf"),
            "what is left of the repair, or of the state before it, has not settled when measuring begins",
        ),
    ],
    (
        "The drive is one of a mirror whose other member is light, so that the host has what is to be written again; "
        "it goes "
        "on writing during the repair, and is measured after the time that the cell names.",
        f"They are the same within {POINTS:g} %, which is what Figures 12 to 16 allow for: so those have dies that "
        "were "
        "repaired before, which is quicker. Reads are not compared: a mirror reads from either member.",
    ),
    rows,
)
