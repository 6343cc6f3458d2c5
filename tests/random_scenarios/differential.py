"""Runs that must come to the same: again, on other threads, with or without accounts, from a snapshot, in legs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import outlast
from outlast.differences import VARYING
from random_scenarios.draw import Settings, merged
from random_scenarios.generate import Case
from random_scenarios.laws import figures
from random_scenarios.run import Summary, apart, attempt

REQUESTS = 1000
"""Requests of a synthetic workload, which runs a dozen times here."""

SHOWN = 4
"""Figures of those that differ that are told."""

Way: TypeAlias = tuple[str, Callable[[], Summary], tuple[str, ...]]
"""A run that must come to the same: its name, how it is done, and the figures that only it or the other one has."""


def without_cost(summary: Mapping[str, Any], absent: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every figure by name, without the run's cost and settings, and those whose names begin with one of `absent`."""
    kept = {key: value for key, value in summary.items() if key != "scenario"}
    return {name: value for name, value in figures(kept) if name not in VARYING and not name.startswith(absent)}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The first figures that differ."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return [f"{name}: {one.get(name)} or {other.get(name)}" for name in names[:SHOWN]]


def smaller(case: Case) -> Case:
    """The same with so few requests that it may run a dozen times."""
    if case.requests is None or case.requests <= REQUESTS:
        return case
    settings = merged(case.settings, {"workload": {"synthetic": {"requests": REQUESTS}}})
    return Case(case.seed, settings, case.files, REQUESTS)


def _toggled(settings: Settings, name: str) -> Settings:
    own = settings.get("run", {}).get(name)
    return merged(settings, {"run": {name: None if own else True}})


def ways(case: Case, folder: Path) -> Iterator[Way]:
    """Every run that must come to the same as that of `case`, whose files are in `folder`."""

    def run(settings: Settings, name: str) -> Callable[[], Summary]:
        place = Case(case.seed, settings, case.files).write(folder / name)
        return lambda: outlast.run(str(place)).summary

    settings = case.settings
    yield "again", run(settings, "again"), ()
    for threads in (1, 3):
        yield f"threads {threads}", run(merged(settings, {"run": {"threads": threads}}), f"threads-{threads}"), ()
    if case.timed:
        yield "causes", run(_toggled(settings, "causes"), "causes"), ("latency_causes",)
        yield "utilisation", run(_toggled(settings, "utilisation"), "utilisation"), ("utilisation", "queue.controller")
        yield "legs", lambda: _in_legs(str(folder / "again" / "scenario.toml")), ()
    if case.get("run.twin"):
        # No snapshot has its other drive.
        return
    snapshot = folder / "prepared.outlast"
    prepared = merged(settings, {"precondition": {"from": str(snapshot)}})
    resumed = run(prepared, "snapshot")

    def from_snapshot() -> Summary:
        outlast.snapshot(str(folder / "again" / "scenario.toml"), snapshot)
        return resumed()

    yield "snapshot", from_snapshot, ()


def _in_legs(place: str) -> Summary:
    """Five times so many requests and so much time, and then the rest; between them nothing contradicts itself.

    Here it is exact what `laws.programs_by_cause` bounds: pages counted and not programmed are those in the buffers.
    """
    simulation = outlast.open(place)
    for _ in range(5):
        simulation.advance(requests=150)
        simulation.self_check()
        simulation.advance(seconds=0.003)
        simulation.self_check()
    return simulation.run().summary


def compared(case: Case) -> list[str] | None:
    """Differences between runs that must agree; `None` where the scenario does not run at all."""
    case = smaller(case)

    def work() -> list[str] | None:
        with tempfile.TemporaryDirectory(prefix="random-scenario-") as folder:
            return _compared(case, Path(folder))

    answer = apart(work)
    return [f"crash: {answer[1]}"] if answer and answer[0] == "Broken" else answer


def _compared(case: Case, folder: Path) -> list[str] | None:
    place = str(case.write(folder))
    kind, value = attempt(lambda: outlast.run(place).summary)
    if kind != "Ran":
        return None
    first, found = _plain(value), []
    for way, run, absent in ways(case, folder):
        kind, value = attempt(run)
        if kind == "Ran":
            other = without_cost(_plain(value), absent)
            found += [f"{way}: {own}" for own in differences(without_cost(first, absent), other)]
        else:
            found.append(f"{way}: {kind}: {value}")
    return found


def _plain(summary: Summary) -> Summary:
    """The figures as a file would have them."""
    figures: Summary = json.loads(json.dumps(summary))
    return figures
