"""Latency against load of four drives: one run for each, all loads in the order in which they were measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outlast.reproduce.check import every
from outlast.reproduce.drives import charts, common, load, measured
from outlast.reproduce.drives.common import DRIVES, FITTED, HOST_US, P5520, PREDICTED, Drive
from outlast.reproduce.drives.measured import FIGURES, Load
from outlast.reproduce.drives.shapes import RULES, Point, shapes
from outlast.reproduce.model import Cell, Figure, Found, Number, Row, Setting, Statement, Table

RATE = 0.05
WITHIN = {"50": 0.15, "99": 0.3}
TAIL = 2.0
"""Of the measured value; percentiles of 99.9 within a factor."""
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of the maximum write rate: the measured loads nearest to them are judged."""
BEYOND = 1.02
"""The drive is saturated for sure by a load of so many times its maximum write rate."""
FAR_BEYOND = 200_000
"""Saturates whatever is simulated of these drives, should the simulated one take more than the real one."""
RAMP, RUNTIME = "2s", "10s"
SLOWEST, MOST_CAUSES = 99.0, 3
"""Requests beyond this percentile, and so many causes of their latency, are named where something differs."""
KEYS = {"50": "p50", "99": "p99", "99.9": "p99_9"}


def chosen(drive: Drive) -> list[Load]:
    """The loads that are simulated: all up to the first that saturates the drive for sure, and one far beyond."""
    last = saturating(drive).rate
    return [own for own in measured.loads(drive.name) if own.rate <= last or own.rate == FAR_BEYOND]


def saturating(drive: Drive) -> Load:
    """The lightest measured load that saturates the drive for sure."""
    most = measured.most(drive.name)
    return next(own for own in measured.loads(drive.name) if own.rate >= BEYOND * most)


def judged(drive: Drive) -> dict[float, Load]:
    """The load that stands for each share of the maximum write rate; the saturating one for all of it."""
    most, loads = measured.most(drive.name), chosen(drive)
    found = {share: min(loads, key=lambda own: abs(own.rate - share * most)) for share in SHARES[:-1]}
    return found | {SHARES[-1]: saturating(drive)}


def cells_of(drive: Drive) -> Callable[[Setting], list[Cell]]:
    """The one run of a drive: from the heaviest load down, as they were measured."""

    def cells(setting: Setting) -> list[Cell]:
        share = drive.quick_share if setting.mode.name == "quick" else 1
        changes = common.smaller(common.scenario(setting, drive), share)
        rates = [own.rate for own in reversed(chosen(drive))]
        changes |= {"workload.fio.job": load.job(rates, RAMP, RUNTIME), "run.causes": True}
        return [Cell({"drive": drive.name}, [setting.scenarios / f"{drive.key}.toml"], changes)]

    return cells


def rows_of(drive: Drive) -> Callable[[Setting, Sequence[Cell], Sequence[Mapping[str, Any]]], list[Row]]:
    """A row for each load: every figure measured and simulated, with the host's software."""

    def rows(_: Setting, __: Sequence[Cell], gave: Sequence[Mapping[str, Any]]) -> list[Row]:
        jobs = gave[0]["summary"]["host"]["jobs"]
        causes = slowest(gave[0]["summary"].get("latency_causes") or {})
        made: list[Row] = []
        for own in chosen(drive):
            (mine,) = (job for job in jobs if job["name"] == f"{load.MEASURED}-{own.rate}")
            beside = [job for job in jobs if job["name"] in (mine["name"], f"{load.OTHERS}-{own.rate}")]
            row: Row = {
                "load": f"{own.rate // 1000} k/s",
                "asked": asked(own.rate),
                "writes measured": own.writes,
                "writes simulated": sum(job["write"]["iops"] for job in beside),
            }
            for figure in FIGURES:
                latency = mine["read" if figure[0] == "r" else "write"]["latency_us"]
                row[f"{figure} measured"] = own.latency_us[figure]
                row[f"{figure} simulated"] = latency[KEYS[figure[1:]]] + HOST_US
            row["fitted"] = ", ".join(name for name in FIGURES if kind(drive, own, name) == FITTED) or "none"
            made.append(row | {"causes": causes})
        return made

    return rows


def slowest(causes: Mapping[str, Any]) -> list[str]:
    """What the slowest hundredth of the reads and writes of a run spends most of its time on, in words."""
    found = []
    for op in ("read", "write"):
        bands = [band for band in (causes.get(op) or {}).get("bands", ()) if band["from"] >= SLOWEST]
        parts: dict[str, float] = {}
        for band in bands:
            for cause, mean in band["mean_ns"].items():
                parts[cause] = parts.get(cause, 0.0) + mean * band["requests"]
        whole = sum(parts.values())
        most = sorted(parts, key=lambda cause: -parts[cause])[:MOST_CAUSES]
        if whole:
            words = ", ".join(f"{cause.replace('_', ' ')} {100 * parts[cause] / whole:.0f} %" for cause in most)
            found.append(f"{op}s {words}")
    return found


def asked(rate: int) -> float:
    """Writes a second that a load asks for."""
    return load.OWN_RATE + load.THREADS * load.rates(rate)[1]


def kind(drive: Drive, own: Load, figure: str) -> str:
    """Whether a number of the preset was fitted to that figure."""
    return FITTED if (own.rate, figure) in common.LATENCY_FITTED[drive.name] else PREDICTED


def _within(figure: str, ours: float, theirs: float) -> bool:
    if figure.endswith("99.9"):
        return 1 / TAIL <= ours / theirs <= TAIL
    return abs(ours / theirs - 1) <= WITHIN[figure[1:]]


def _point(drive: Drive, own: Load, percentile: str) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        row, found = table.row(load=f"{own.rate // 1000} k/s"), []
        for figure in (f"r{percentile}", f"w{percentile}"):
            ours, theirs = float(row[f"{figure} simulated"]), float(row[f"{figure} measured"])
            which = kind(drive, own, figure)
            words = f"{figure} {ours:.0f} µs (measured {theirs:.0f}, {common.percent(ours, theirs)}, {which})"
            holds = which == FITTED or _within(figure, ours, theirs)
            found.append(Found(holds, words, (Number(figure, ours, theirs, " µs"),)))
        return every(found)

    return check


def _most(drive: Drive) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        ours, theirs = max(table.values("writes simulated")), measured.most(drive.name)
        words = f"{ours:,.0f} writes/s (measured {theirs:,.0f}, {common.percent(ours, theirs)})"
        return Found(abs(ours / theirs - 1) <= RATE, words, (Number("maximum", ours, theirs, " /s"),))

    return check


def points(table: Table, who: str) -> list[Point]:
    """The curve of the measured or of the simulated drive."""
    found = []
    for row in table.rows:
        latency = {figure: float(row[f"{figure} {who}"]) for figure in FIGURES}
        found.append(Point(float(row["asked"]), float(row[f"writes {who}"]), latency))
    return found


def _shape(name: str) -> Callable[[Table], Found]:
    def check(table: Table) -> Found:
        theirs, ours = (shapes(points(table, who))[name] for who in ("measured", "simulated"))
        yes = {True: "yes", False: "no"}
        words = f"{name}: measured {yes[theirs]}, simulated {yes[ours]} ({len(table.rows)} loads)"
        return Found(theirs == ours, words)

    return check


def _statements(drive: Drive) -> list[Statement]:
    why = _because(drive)
    found = []
    # Where the time of a program was fitted to the rate of the full drive, that rate is not predicted.
    if drive.name != P5520.name:
        text = f"The maximum write rate is met within {100 * RATE:g} %."
        found.append(Statement(text, "latency.csv", _most(drive), why))
    for share, own in judged(drive).items():
        where = f"At {100 * share:.0f} % of the maximum write rate ({own.rate // 1000} k/s)"
        for percentile, words in (("50", "medians"), ("99", "99th percentiles"), ("99.9", "percentiles of 99.9")):
            limit = f"a factor of {TAIL:g}" if percentile == "99.9" else f"{100 * WITHIN[percentile]:g} %"
            which = [name for name in (f"r{percentile}", f"w{percentile}") if kind(drive, own, name) == PREDICTED]
            if which:
                text = f"{where} the {words} of reads and writes are met within {limit}."
                found.append(Statement(text, "latency.csv", _point(drive, own, percentile), why))
    return found + [
        Statement(f"Whether the curve has the shape “{name}”: {rule}.", "latency.csv", _shape(name), why)
        for name, rule in RULES.items()
    ]


def _because(drive: Drive) -> Callable[[Table], str]:
    """Of the figures that are off, by how much: what the preset's mechanisms leave open."""

    def because(table: Table) -> str:
        off = []
        for share, own in judged(drive).items():
            row = table.row(load=f"{own.rate // 1000} k/s")
            for figure in FIGURES:
                ours, theirs = float(row[f"{figure} simulated"]), float(row[f"{figure} measured"])
                if kind(drive, own, figure) == PREDICTED and not _within(figure, ours, theirs):
                    off.append(f"{figure} at {100 * share:.0f} % {ours / theirs:.2f}×")
        causes = "; ".join(table.rows[0]["causes"])
        spent = f". What the slowest hundredth spends its time on here, over all loads: {causes}" if causes else ""
        return f"{drive.open}. Off are {', '.join(off) or 'none of the judged percentiles'}{spent}"

    return because


def figure(drive: Drive) -> Figure:
    """The figure of a drive."""
    columns = {"writes measured": "writes/s measured", "writes simulated": "writes/s simulated"}
    for name in FIGURES:
        columns |= {f"{name} {who}": f"{name} {who}, µs" for who in ("measured", "simulated")}
    return Figure(
        drive.key,
        f"{drive.name}: latency against load",
        "Percentiles of one thread's reads and writes beside six threads that write, from the lightest load to one "
        "that the drive cannot take.",
        cells_of(drive),
        columns,
        lambda table: charts.of_drive(drive, table),
        _statements(drive),
        (
            f"The host's software takes {HOST_US:g} µs of each request, which is added to what is simulated.",
            f"The drive is a part of the real one (1/{drive.quick_share} of the pages of a block in the quick mode, "
            "all of it in full), with as many superblocks; erasures are as much shorter. It is filled, and overwritten "
            f"at random until it is steady; then the loads come from the heaviest down, each {RAMP} unmeasured and "
            f"{RUNTIME} measured. The measurement had 130 s for each, and 30 s of rest between them.",
            "“100 %” is the lightest load that saturates the drive for sure, 2 % beyond its maximum.",
        ),
        rows_of(drive),
    )


LATENCIES = [figure(drive) for drive in DRIVES]
