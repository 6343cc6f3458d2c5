"""Write amplification under random writes: six fills of one drive, skews, and two drives that were counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outlast import api
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every
from outlast.reproduce.drives import common, measured
from outlast.reproduce.drives.common import DRIVES, FITTED, MAX, PREDICTED, SPARE
from outlast.reproduce.drives.measured import Writes
from outlast.reproduce.hrm.chart import bars
from outlast.reproduce.model import Cell, Figure, Found, Number, Row, Setting, Statement, Table

UNIFORM, SKEWED, STRONG = 0.025, 0.03, 0.05
"""How far a predicted write amplification may be off; `STRONG`: three whose measurement or scale is uncertain."""
UNIFORM_MEAN = 0.01
UNCERTAIN = ("two zones 90/10", "two zones 95/5", "zipf 1")
LONG_DRIVE_WRITES = 25.0
"""Before these are measured: cold data takes so long to come to rest."""
MEASURED_DRIVE_WRITES = 2


def lines() -> list[Writes]:
    """What is simulated of the measurements."""
    names = {drive.name for drive in DRIVES}
    return [own for own in measured.writes() if own.drive in names and own.waf and own.workload != "sequential 512K"]


def labels(own: Writes) -> dict[str, str]:
    """The labels of a row."""
    drive = next(drive for drive in DRIVES if drive.name == own.drive)
    fitted = (own.drive, own.gib, own.workload) in common.AMPLIFICATION_FITTED
    found = {"drive": drive.name, "written to": f"{own.gib:g} GiB", "workload": own.label}
    return found | {"measured as": own.how, "kind": FITTED if fitted else PREDICTED}


def pattern(own: Writes) -> dict[str, Any]:
    """The workload's settings that say which addresses are written."""
    share = own.parameter or 0.0
    if own.workload == "two-zone":
        return {"pattern": "hotcold", "hot_fraction": round(1 - share, 6), "hot_access": share}
    return {"pattern": "zipf", "zipf_theta": share} if own.workload == "zipf" else {}


def cells(setting: Setting) -> list[Cell]:
    """A run for each line of the measurements."""
    shape = api.resolve(str(setting.scenarios / "waf.toml"))
    over = {name: shape[name] for name in ("workload", "precondition", "run")}
    found = []
    for own in lines():
        drive = next(drive for drive in DRIVES if drive.name == own.drive)
        whole = common.scenario(setting, drive)
        share = common.UNTIMED_SHARE if setting.mode.name == "quick" else common.UNTIMED_SHARE // 4
        changes = common.smaller(whole, share) | {SPARE: common.spare_for(whole, own.gib)}
        amount = round(MEASURED_DRIVE_WRITES * own.gib * 2**30) // share
        changes |= {f"workload.synthetic.{name}": value for name, value in pattern(own).items()}
        changes["workload.synthetic.bytes"] = f"{amount}B"
        if own.label in UNCERTAIN:
            changes["precondition.min_drive_writes"] = LONG_DRIVE_WRITES
            changes["precondition.max_drive_writes"] = 2 * LONG_DRIVE_WRITES
        found.append(Cell(labels(own), [setting.scenarios / f"{drive.key}.toml", over], changes))
    return found


def rows(_: Setting, planned: Sequence[Cell], gave: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Measured beside simulated; what the drive writes of its own is a factor."""
    made: list[Row] = []
    for own, cell, record in zip(lines(), planned, gave, strict=True):
        drive = next(drive for drive in DRIVES if drive.name == own.drive)
        counted = record["summary"]["write_amplification"]["total"]
        ours, theirs = counted * drive.factor, own.waf or 1.0
        steady = record["summary"]["steady_state"]["precondition"]
        made.append(
            dict(cell.labels)
            | {
                "measured": theirs,
                "simulated": ours,
                "off_percent": 100 * (ours / theirs - 1),
                "factor": drive.factor,
                "steady_after": steady["drive_writes"],
                "steady": float(bool(steady["reached"])),
            }
        )
    return made


def _predicted(table: Table, words: str) -> list[Row]:
    return [row for row in table.where(kind=PREDICTED) if row["workload"].startswith(words)]


def _uniform(table: Table) -> Found:
    found = [_near(row, UNIFORM) for row in _predicted(table, "uniform")]
    return every(found)


def _uniform_mean(table: Table) -> Found:
    off = [abs(row["off_percent"]) for row in _predicted(table, "uniform")]
    if not off:
        raise LookupError("no predicted point")
    mean = sum(off) / len(off)
    return Found(mean <= 100 * UNIFORM_MEAN, f"mean deviation {mean:.2f} % of {len(off)} points")


def _near(row: Row, within: float) -> Found:
    ours, theirs = float(row["simulated"]), float(row["measured"])
    name = f"{row['workload']}, {row['written to']}" if row["workload"] == "uniform" else str(row["workload"])
    words = f"{name} {ours:.3f} (measured {theirs:.3f}, {common.percent(ours, theirs)})"
    return Found(abs(ours / theirs - 1) <= within, words, (Number(name, ours, theirs),))


def _skew(name: str, within: float) -> Callable[[Table], Found]:
    return lambda table: _near(table.row(workload=name, kind=PREDICTED), within)


def _because(table: Table) -> str:
    rows = [row for row in table.where(kind=PREDICTED) if abs(row["off_percent"]) > 100 * SKEWED]
    unsettled = [row["workload"] for row in rows if not row["steady"]]
    words = (
        f"not steady after {rows[0]['steady_after']:.0f} drive writes: {', '.join(unsettled)}. " if unsettled else ""
    )
    return (
        f"{words}These are implied by the host's rate and a physical rate of 1235 MB/s, which is known under "
        "uniform writes only (to 3 %, perhaps 6 % at 95/5); the drive was counted after 5 to 8 drive writes, and "
        "cold data still moves then; zipf 1 depends on the size of the drive, and the drive's buffer joins writes to "
        "the hottest pages"
    )


def _charts(table: Table) -> list[Chart]:
    own = [
        {"workload": f"{row['workload']} {row['written to']}", "scheme": kind, "waf": row[kind]}
        for row in table.where(drive=MAX.name)
        for kind in ("measured", "simulated")
    ]
    return [bars(Table(own), "waf-chart", f"Write amplification of a {MAX.name}", "waf", "ratio", across=("workload",))]


def _statement(own: Writes) -> Statement:
    within = STRONG if own.label in UNCERTAIN else SKEWED
    text = f"Predicted within {100 * within:g} %: {own.label} over the whole {own.drive}."
    return Statement(text, "waf.csv, implied", _skew(own.label, within), _because)


FIGURE = Figure(
    "waf",
    "Write amplification under random writes",
    "Bytes programmed for each byte that the host writes. Two numbers of the 7450, its effective flash and a factor "
    "for what the drive writes of its own, are fitted to two fills; the other fills and all skews are predicted.",
    cells,
    {
        "measured": "measured",
        "simulated": "simulated",
        "off_percent": "off, %",
        "factor": "factor",
        "steady_after": "drive writes before",
        "steady": "steady",
    },
    _charts,
    [
        Statement(
            f"Four fills of the {MAX.name} under uniform writes are predicted within {100 * UNIFORM:g} % each.",
            "waf.csv, counted",
            _uniform,
            "two numbers do not carry all six fills",
        ),
        Statement(
            f"Their mean deviation is at most {100 * UNIFORM_MEAN:g} %.",
            "waf.csv, counted",
            _uniform_mean,
            "two numbers do not carry all six fills",
        ),
        *(_statement(own) for own in lines() if own.how == "implied"),
    ],
    (
        "Victims are chosen greedily; no measurement here tells policies apart.",
        f"The factors: {'; '.join(f'{drive.name} {drive.factor:g}, {drive.known_from}' for drive in DRIVES)}.",
        "Blocks are shorter than the drive's (a sixty-fourth of their pages, a sixteenth in full) and superblocks as "
        "many, so that the same share of them is open or held free.",
    ),
    rows,
)
