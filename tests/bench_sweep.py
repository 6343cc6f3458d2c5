"""Cost of a sweep beside its runs: `make bench-sweep`, in CPU-milliseconds a point.

`resumed`: points of which every run is kept already, from the sweep's file to its data set, its report and its
summary. `run`: tiny points that are simulated by this process, less what their simulations alone take.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from outlast import _core, api, memory, points, sweeps
from outlast.points.job import store_record
from outlast.report.sweep import page
from outlast.sweeps import figures, plan, result
from outlast.sweeps.reading import read

TINY = {
    "extends": "demo",
    "name": "tiny",
    "device": {
        "geometry": {"channels": 2, "dies_per_chip": 1, "planes_per_die": 1, "blocks_per_plane": 128}
        | {"pages_per_block": 32, "page_size": "4KiB"},
        "ftl": {"capacity": "26MiB"},
        "controller": {"write_buffer": "64KiB"},
    },
    "workload": {"synthetic": {"rate_iops": 3000, "duration": "1s"}},
    "run": {"warm_up": "20ms", "window": "20ms"},
}


def spec(count: int) -> dict[str, Any]:
    """A sweep of so many points over the load and the reads."""
    rates = {"setting": "workload.synthetic.rate_iops", "from": 1000, "to": 4000}
    shares = {"setting": "workload.synthetic.read_percent", "from": 1.0, "to": 99.0}
    drawn = {"method": "latin-hypercube", "points": count}
    return {"name": "many", "scenario": TINY, "vary": [rates, shares]} | drawn


class Clock:
    """Prints what steps take of the processor."""

    def __init__(self, count: int) -> None:
        self._count, self.total = count, 0.0

    def of(self, name: str, step: Callable[[], Any]) -> Any:
        began = time.process_time()
        given = step()
        taken = time.process_time() - began
        self.total += taken
        print(f"{name:32} {taken:8.2f} CPU-s {1e3 * taken / self._count:8.3f} CPU-ms a point", flush=True)
        return given


def varied(record: dict[str, Any], number: int) -> dict[str, Any]:
    """The record with the figures of another point."""
    by, other = 1 + (number * 7919 % 10007) / 10007, 1 + (number * 3571 % 9973) / 9973
    summary = dict(record["summary"])
    for group, times in (("throughput", by), ("write_amplification", other)):
        figures = summary[group].items()
        summary[group] = {name: value * times if isinstance(value, float) else value for name, value in figures}
    latency = dict(summary["latency_us"])
    for op in ("read", "write"):
        latency[op] = {name: value / by if isinstance(value, float) else value for name, value in latency[op].items()}
    summary["latency_us"] = latency
    return record | {"summary": summary}


def resumed(count: int, folder: Path) -> None:
    """Points that are all kept."""
    specification = read(spec(count))
    clock = Clock(count)
    made = clock.of("planned", lambda: plan.make(specification))
    record = points.measure(made.runs[0].job)
    kept = folder / "points"
    kept.mkdir(parents=True)
    for run in made.runs:
        store_record(varied(record, run.point) | {"key": run.job.key, "scenario": run.job.scenario}, kept)
    jobs = [run.job for run in made.runs]
    outcome = clock.of("records read", lambda: points.run_all(jobs, kept, lambda _: points.Here(), keep=figures.of_run))
    done = clock.of("put together", lambda: sweeps.Sweep.of(made, outcome))
    clock.of("sweep.json and sweep.parquet", lambda: result.write_data(done, folder))
    clock.of("report drawn", lambda: page(done))
    print(f"{'resumed, all in all':32} {clock.total:8.2f} CPU-s {1e3 * clock.total / count:8.3f} CPU-ms a point")


def run(count: int, folder: Path) -> None:
    """Points that are run."""
    clock = Clock(count)
    done = clock.of("run as a sweep", lambda: sweeps.sweep(spec(count), folder, jobs=1))
    assert not done.failed
    scenarios = [entry.job.scenario for entry in plan.make(read(spec(count))).runs]
    whole = clock.total

    def simulate() -> None:
        for scenario in scenarios:
            _core.run([api.layer(scenario)], [("run.threads", "1")], None, None, {})

    clock.of("simulated alone", simulate)
    beside = 2 * whole - clock.total
    print(f"{'beside the simulation':32} {beside:8.2f} CPU-s {1e3 * beside / count:8.3f} CPU-ms a point")


def main() -> None:
    """Prints a line for each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resumed", type=int, default=2000, metavar="POINTS")
    parser.add_argument("--run", type=int, default=200, metavar="POINTS")
    arguments = parser.parse_args()
    for count, work in ((arguments.resumed, resumed), (arguments.run, run)):
        if count:
            with tempfile.TemporaryDirectory() as folder, memory.without_collector():  # as `sweep` does it
                work(count, Path(folder) / "sweep")


if __name__ == "__main__":
    main()
