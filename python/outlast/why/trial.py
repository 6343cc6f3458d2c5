"""Gain of each part made a tenth better: the scenario run again with one part changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast import api, points
from outlast.errors import OutlastError, ScenarioError
from outlast.output import check_writable
from outlast.plain_values import jobs_of
from outlast.points import Job, Record, key_of
from outlast.points.workers import local
from outlast.sweeps.plan import repeat_seed
from outlast.sweeps.statistics import mean_of
from outlast.why.changes import Change, changes

CONFIDENCE = 0.95
ASIDE = ("log", "twin", "causes", "utilisation")
"""Settings of `run` that are of no use to a trial."""
FOLDER = Path("out") / "explain"
"""Folder for runs, unless another is named."""
FIGURES = {
    "iops": "throughput.iops",
    "read_p99": "latency_us.read.p99",
    "write_p99": "latency_us.write.p99",
}


@dataclass(frozen=True)
class Gain:
    """Relative change of a figure, and the half-width of its interval over seeds; `None` where unknown."""

    mean: float | None
    half: float | None

    @property
    def beyond_chance(self) -> bool:
        """True if the interval excludes zero."""
        return self.mean is not None and self.half is not None and abs(self.mean) > self.half


@dataclass(frozen=True)
class Trials:
    """Gains of each change."""

    repeats: int
    """Seeds that everything was run with."""
    rows: list[tuple[Change, dict[str, Gain]]]
    """Changes and their gains, by the names of `FIGURES`, the best first."""
    left_out: list[tuple[Change, str]]
    """Changes that the scenario does not take, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Content for JSON."""
        rows = [
            {
                "part": change.part,
                "settings": change.settings,
                "before": change.before,
                "after": change.after,
                "gain": {name: {"mean": gain.mean, "half": gain.half} for name, gain in gains.items()},
            }
            for change, gains in self.rows
        ]
        left_out = [{"part": change.part, "why": why} for change, why in self.left_out]
        return {"repeats": self.repeats, "confidence": CONFIDENCE, "rows": rows, "left_out": left_out}


def tried(
    scenario: dict[str, Any],
    summary: dict[str, Any],
    *,
    repeats: int = 3,
    jobs: int | None = None,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trials:
    """Runs the resolved scenario as it is and once for each change, under `repeats` seeds, the first its own.

    Under one seed all runs get the same requests, so that gains are of pairs. Every run is kept in `folder`, and not
    made again by the next call. `jobs` runs at a time, one for each core by default. What a change breaks is left out.
    """
    if repeats < 1:
        raise ScenarioError(f"repeats = {repeats}: must be at least 1")
    where = FOLDER if folder is None else folder
    check_writable(where / "points")
    base = _bare(scenario)
    possible: list[tuple[Change, list[Job]]] = []
    left_out = []
    for change in changes(base, summary):
        try:
            made = api.resolve(base, change.settings)
            api.validate(base, change.settings)
        except OutlastError as error:
            left_out.append((change, " ".join(str(error).split())))
        else:
            possible.append((change, _jobs(made, repeats)))
    bases = _jobs(base, repeats)
    every = [*bases, *(job for _, jobs_of_change in possible for job in jobs_of_change)]
    count = jobs_of(jobs)
    outcome = points.run_all(every, where / "points", lambda left: local(min(count, left)), progress=progress)
    before = [outcome.records[job.key] for job in bases]
    rows = []
    for change, jobs_of_change in possible:
        after = [outcome.records[job.key] for job in jobs_of_change]
        rows.append((change, {name: _gain(before, after, figure) for name, figure in FIGURES.items()}))
    return Trials(repeats, sorted(rows, key=lambda row: _rank(row[1]), reverse=True), left_out)


def _bare(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario without what only one run can write or needs."""
    run = {name: value for name, value in scenario["run"].items() if name not in ASIDE}
    return api.resolve(scenario | {"run": run})


def _jobs(scenario: dict[str, Any], repeats: int) -> list[Job]:
    seeded = (scenario | {"seed": repeat_seed(scenario["seed"], repeat)} for repeat in range(repeats))
    return [Job(each, key_of(each)) for each in seeded]


def _figure(record: Record, name: str) -> float | None:
    value: Any = record["summary"]
    for step in name.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return None if value is None else float(value)


def _gain(before: list[Record], after: list[Record], figure: str) -> Gain:
    pairs = [(_figure(one, figure), _figure(later, figure)) for one, later in zip(before, after, strict=True)]
    shares = [new / old - 1 for old, new in pairs if old and new is not None]
    if len(shares) < len(pairs):
        return Gain(None, None)
    found = mean_of(shares, CONFIDENCE)
    return Gain(found.mean, found.half)


def _rank(gains: dict[str, Gain]) -> tuple[float, float]:
    """Sort key: gain in requests a second; where rates differ only by chance, the shorter tail."""
    shift = {name: gain.mean or 0.0 if gain.beyond_chance or gain.half is None else 0.0 for name, gain in gains.items()}
    # Rates that agree to a thousandth are of the same load.
    return (round(shift["iops"], 3), max(-shift["read_p99"], -shift["write_p99"]))
