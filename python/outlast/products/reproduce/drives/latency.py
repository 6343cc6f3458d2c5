"""Latency against load of four drives: one run for each, all loads in the order in which they were measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from outlast import api
from outlast.products.reproduce.check import every
from outlast.products.reproduce.drives import charts, load, measured
from outlast.products.reproduce.drives.common import DRIVES, FITTED, PREDICTED, Drive, smaller
from outlast.products.reproduce.drives.measured import FIGURES, Line
from outlast.products.reproduce.drives.shapes import RULES, Point, shapes
from outlast.products.reproduce.model import Cell, Figure, Found, Number, Row, Setting, Statement, Table

HOST_US = 4.0
"""The host's own software (io_uring), which the measured latencies include: 3 to 5 µs, assumed."""
RATE = 0.05
WITHIN = {"50": 0.15, "99": 0.3}
TAIL = 2.0
"""Tolerance, of the measured value; 99.9th percentiles within a factor."""
WORDS = {"50": "medians", "99": "99th percentiles", "99.9": "99.9th percentiles"}
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Loads, of the maximum write rate: the measured loads nearest to them are judged."""
BEYOND = 1.02
"""The drive is saturated for sure by a load of so many times its maximum write rate."""
FAR_BEYOND = 200_000
"""Saturates whatever is simulated of these drives, should the simulated one take more than the real one."""
RAMP, RUNTIME = "2s", "10s"
SLOWEST, MOST_CAUSES = 99.0, 3
"""Requests beyond this percentile, and so many causes of their latency, are named where something differs."""


def chosen(drive: Drive) -> list[Line]:
    """The loads that are simulated: all up to the first that saturates the drive for sure, and one far beyond."""
    last = saturating(drive)["rate"]
    return [own for own in measured.loads(drive.name) if own["rate"] <= last or own["rate"] == FAR_BEYOND]


def saturating(drive: Drive) -> Line:
    """The lightest measured load that saturates the drive for sure."""
    return next(own for own in measured.loads(drive.name) if own["rate"] >= BEYOND * measured.most(drive.name))


def judged(drive: Drive) -> dict[float, Line]:
    """The load that stands for each share of the maximum write rate; the saturating one for all of it."""
    most, loads = measured.most(drive.name), chosen(drive)
    found = {share: min(loads, key=lambda own: abs(own["rate"] - share * most)) for share in SHARES[:-1]}
    return found | {SHARES[-1]: saturating(drive)}


def name(own: Line) -> str:
    """The label of a load."""
    return f"{own['rate'] // 1000} k/s"


def cells_of(drive: Drive, setting: Setting) -> list[Cell]:
    """The one run of a drive: from the heaviest load down, as they were measured."""
    file = setting.scenarios / f"{drive.key}.toml"
    changes = smaller(api.resolve(str(file)), drive.quick_share if setting.mode.name == "quick" else 1)
    job = load.job([own["rate"] for own in reversed(chosen(drive))], RAMP, RUNTIME)
    return [Cell({"drive": drive.name}, [file], changes | {"workload.fio.job": job, "run.causes": True})]


def rows_of(drive: Drive, summary: Mapping[str, Any]) -> list[Row]:
    """A row for each load: every figure measured and simulated, with the host's software."""
    jobs = summary["host"]["jobs"]
    causes = slowest(summary.get("latency_causes") or {})
    made: list[Row] = []
    for own in chosen(drive):
        (mine,) = (job for job in jobs if job["name"] == f"{load.MEASURED}-{own['rate']}")
        others = [job for job in jobs if job["name"] == f"{load.OTHERS}-{own['rate']}"]
        row: Row = {
            "load": name(own),
            "asked": requested_rate(own["rate"]),
            "writes measured": own["writes"],
            "writes simulated": sum(job["write"]["iops"] for job in (mine, *others)),
        }
        for figure in FIGURES:
            times = mine["read" if figure[0] == "r" else "write"]["latency_us"]
            row[f"{figure} measured"] = own[figure]
            row[f"{figure} simulated"] = times[f"p{figure[1:].replace('.', '_')}"] + HOST_US
        row["fitted"] = ", ".join(figure for figure in FIGURES if kind(drive, own, figure) == FITTED) or "none"
        made.append(row | {"causes": causes})
    return made


def slowest(causes: Mapping[str, Any]) -> list[str]:
    """Main cause of the time of the slowest hundredth of the reads and writes of a run, in words."""
    found = []
    for op in ("read", "write"):
        parts: dict[str, float] = {}
        for band in (causes.get(op) or {}).get("bands", ()):
            for cause, mean in band["mean_ns"].items() if band["from"] >= SLOWEST else ():
                parts[cause] = parts.get(cause, 0.0) + mean * band["requests"]
        most = sorted(parts, key=lambda cause: -parts[cause])[:MOST_CAUSES]
        if whole := sum(parts.values()):
            words = ", ".join(f"{cause.replace('_', ' ')} {100 * parts[cause] / whole:.0f} %" for cause in most)
            found.append(f"{op}s ({words})")
    return found


def requested_rate(rate: int) -> float:
    """Writes a second that a load asks for."""
    return load.OWN_RATE + load.THREADS * load.rates(rate)[1]


def kind(drive: Drive, own: Line, figure: str) -> str:
    """True if a number of the preset was fitted to that figure."""
    return FITTED if figure in drive.fitted.get(str(own["rate"]), ()) else PREDICTED


def _within(figure: str, ratio: float) -> bool:
    if figure.endswith("99.9"):
        return 1 / TAIL <= ratio <= TAIL
    return abs(ratio - 1) <= WITHIN[figure[1:]]


def _point(drive: Drive, own: Line, percentile: str, table: Table) -> Found:
    row, found = table.row(load=name(own)), []
    for figure in (f"r{percentile}", f"w{percentile}"):
        ours, theirs, which = row[f"{figure} simulated"], row[f"{figure} measured"], kind(drive, own, figure)
        words = f"{figure} {ours:.0f} µs (measured {theirs:.0f}, {100 * (ours / theirs - 1):+.1f} %, {which})"
        holds = which == FITTED or _within(figure, ours / theirs)
        found.append(Found(holds, words, (Number(figure, ours, theirs, " µs"),)))
    return every(found)


def _most(drive: Drive, table: Table) -> Found:
    ours, theirs = max(row["writes simulated"] for row in table.rows), measured.most(drive.name)
    words = f"{ours:,.0f} writes/s (measured {theirs:,.0f}, {100 * (ours / theirs - 1):+.1f} %)"
    return Found(abs(ours / theirs - 1) <= RATE, words, (Number("maximum", ours, theirs, " /s"),))


def points(table: Table, who: str) -> list[Point]:
    """The curve of the measured or of the simulated drive."""
    return [
        {"asked": row["asked"]} | {name: row[f"{name} {who}"] for name in ("writes", *FIGURES)} for row in table.rows
    ]


def _shape(name: str, table: Table) -> Found:
    theirs, ours = (shapes(points(table, who))[name] for who in ("measured", "simulated"))
    yes = {True: "yes", False: "no"}
    words = f"{name}: measured {yes[theirs]}, simulated {yes[ours]} ({len(table.rows)} loads)"
    return Found(theirs == ours, words)


def _statements(drive: Drive) -> list[Statement]:
    asked: list[tuple[str, Callable[[Table], Found]]] = []
    # Where the time of a program was fitted to the rate of the full drive, that rate is not predicted.
    if drive.key != "p5520":
        asked.append((f"The maximum write rate is within {100 * RATE:g} % of the measured one.", partial(_most, drive)))
    for share, own in judged(drive).items():
        for percentile, words in WORDS.items():
            limit = f"{100 * WITHIN[percentile]:g} %" if percentile in WITHIN else f"a factor of {TAIL:g}"
            if PREDICTED in (kind(drive, own, f"{op}{percentile}") for op in "rw"):
                where = f"At {100 * share:.0f} % of the maximum write rate ({name(own)})"
                text = f"{where}, the simulated {words} of reads and writes are within {limit} of the measured ones."
                asked.append((text, partial(_point, drive, own, percentile)))
    for shape, rule in ((shape, rule) for shape, rule in RULES.items() if shape not in drive.fitted_shapes):
        asked.append((f"Measured and simulated curves agree on the shape “{shape}”: {rule}.", partial(_shape, shape)))
    return [Statement(text, "latency.csv", check, partial(_because, drive)) for text, check in asked]


def _because(drive: Drive, table: Table) -> str:
    """Deviations of the figures that are off: what the preset's mechanisms leave open."""
    off = []
    for share, own in judged(drive).items():
        row = table.row(load=name(own))
        for figure in FIGURES:
            ratio = row[f"{figure} simulated"] / row[f"{figure} measured"]
            if kind(drive, own, figure) == PREDICTED and not _within(figure, ratio):
                off.append(f"{figure} at {100 * share:.0f} % {ratio:.2f}×")
    causes = ", ".join(table.rows[0]["causes"])
    spent = f". Main causes in the slowest 1 % of simulated requests, over all loads: {causes}" if causes else ""
    return f"{drive.open}. Simulated over measured, where outside the tolerance: {', '.join(off) or 'nowhere'}{spent}"


def figure(drive: Drive) -> Figure:
    """The figure of a drive."""
    figures = {f"{own} {who}": f"{own} {who}, µs" for own in FIGURES for who in ("measured", "simulated")}
    return Figure(
        drive.key,
        f"{drive.name}: latency against load",
        "Latency percentiles of one thread that reads and writes while six other threads write, from the lightest load "
        "to one beyond saturation.",
        partial(cells_of, drive),
        {"writes measured": "writes/s measured", "writes simulated": "writes/s simulated"} | figures,
        partial(charts.of_drive, drive),
        _statements(drive),
        (
            f"The host's software takes {HOST_US:g} µs of each request, which are added to the simulated latencies.",
            f"In the quick mode, blocks have 1/{drive.quick_share} of the real drive's pages, and erases take the same "
            "share of their time; the number of superblocks is that of the real drive. The drive is filled, and "
            "overwritten at random until it is steady. The loads then run from the heaviest to the lightest: each "
            f"{RAMP} unmeasured and {RUNTIME} measured. The measurement had 130 s for each, and 30 s of rest after it.",
            "“100 %” is the lightest load that certainly saturates the drive: 2 % or more above its maximum rate.",
        ),
        lambda _, __, gave: rows_of(drive, gave[0]["summary"]),
    )


MICRON, SOLIDIGM, SAMSUNG, HYNIX = (figure(drive) for drive in DRIVES)
