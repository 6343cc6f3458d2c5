"""The command line: `python -m random_scenarios run --count 5000`, `show SEED`, `shrink SEED`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from random_scenarios import differential, monotone, untimed
from random_scenarios.generate import Case, case
from random_scenarios.laws import broken, pages_in_buffers, unprogrammed
from random_scenarios.run import Ran, Refused, outcome
from random_scenarios.shrink import shrink
from random_scenarios.work import work

EVERY = {"agree": 20, "monotone": 40}
"""Distance of scenarios that are compared with runs that must come to the same, or to better."""
ALL = EVERY | {"untimed": 40}
"""Distances including runs without time that must write as much, which take as long as fifty others."""

COMPARISONS: dict[str, Callable[[Case], list[str] | None]] = {
    "agree": differential.compared,
    "monotone": monotone.compared,
    "untimed": untimed.compared,
}
"""Every way to compare."""


@dataclass
class Verdict:
    """Outcome of the scenario of a seed: its end, the comparisons made, and the laws it breaks."""

    seed: int
    kind: str
    compared: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


def judge(seed: int, every: Mapping[str, int] = EVERY) -> Verdict:
    """Runs the scenario of a seed, with the comparisons that are its turn by `every`."""
    own = case(seed)
    found = outcome(own)
    verdict = Verdict(seed, type(found).__name__.lower(), violations=broken(own, found))
    if isinstance(found, Refused):
        return verdict
    for name, turn in every.items():
        if seed % turn == 0 and (differences := COMPARISONS[name](own)) is not None:
            verdict.compared.append(name)
            verdict.violations += [f"{name}: {own}" for own in differences]
    return verdict


def verdicts(seeds: range, processes: int, every: Mapping[str, int]) -> Iterator[Verdict]:
    """The verdicts of seeds, in their order."""
    look = partial(judge, every=every)
    if processes == 1:
        yield from map(look, seeds)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(look, seeds, chunksize=4)


def run(first: int, count: int, processes: int, every: Mapping[str, int]) -> int:
    """Judges so many seeds from the first on, prints each violation and the sum; returns the exit code."""
    kinds, compared, violations = Counter[str](), Counter[str](), 0
    for done, verdict in enumerate(verdicts(range(first, first + count), processes, every), 1):
        kinds[verdict.kind] += 1
        compared.update(verdict.compared)
        violations += len(verdict.violations)
        for violation in verdict.violations:
            print(f"seed {verdict.seed}: {violation}\n    {again(verdict.seed, every)}", flush=True)
        if done % 500 == 0:
            print(f".. {summary(done, kinds, compared, violations)}", flush=True)
    print(summary(count, kinds, compared, violations))
    return 1 if violations else 0


def summary(count: int, kinds: Counter[str], compared: Counter[str], violations: int) -> str:
    """The line at the end."""
    pairs = ", ".join(f"{compared[name]} {name}" for name in COMPARISONS)
    return (
        f"{count} random scenarios: {kinds['ran']} ran, {kinds['refused']} refused, {kinds['broken']} crashed; "
        f"compared: {pairs}; {violations} violations"
    )


def again(seed: int, every: Mapping[str, int] = EVERY) -> str:
    """The command that judges one seed again."""
    more = " --untimed" if "untimed" in every else ""
    return f"PYTHONPATH=tests .venv/bin/python -m random_scenarios run --first {seed} --count 1{more}"


def ratios(seed: int) -> tuple[float, float] | None:
    """Shares of two laws' limits that a scenario reaches: work for each request, and units not programmed."""
    own = case(seed)
    found = outcome(own)
    if not isinstance(found, Ran):
        return None
    done, asked = work(own, found.summary)
    return done / asked, abs(unprogrammed(found.summary)) / pages_in_buffers(own, found.summary) if own.timed else 0.0


def measure(first: int, count: int, processes: int) -> int:
    """Prints the largest of `ratios`, and whose they are; the limits in `laws` follow from these."""
    seeds = range(first, first + count)
    with ProcessPoolExecutor(processes) as pool:
        each = {seed: own for seed, own in zip(seeds, pool.map(ratios, seeds, chunksize=4), strict=True) if own}
    for index, name in enumerate(("operations for each thing asked", "of the pages in buffers that are allowed")):
        order = sorted(each, key=lambda seed: each[seed][index], reverse=True)
        print(f"{name}, of {len(each)}: " + ", ".join(f"{each[seed][index]:.3g} (seed {seed})" for seed in order[:5]))
    return 0


def look_at(seed: int) -> Callable[[Case], list[str]]:
    """Judges a changed scenario as that of the seed is judged, by what that breaks alone."""
    found = judge(seed, ALL).violations
    comparisons = [name for name in COMPARISONS if any(own.startswith(f"{name}: ") for own in found)]

    def look(own: Case) -> list[str]:
        if comparisons:
            return [f"{name}: {each}" for name in comparisons for each in COMPARISONS[name](own) or ()]
        return broken(own, outcome(own))

    return look


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="random_scenarios", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="judge the scenarios of COUNT seeds, beginning with FIRST")
    measuring = commands.add_parser("measure", help="print how near they come to the limits of laws")
    for command in (running, measuring):
        command.add_argument("--first", type=int, default=0)
        command.add_argument("--count", type=int, default=5000)
        command.add_argument("--processes", type=int, default=2)
    running.add_argument("--untimed", action="store_true", help="compare runs with and without time, too")
    for name, text in (("show", "print the scenario of a seed"), ("shrink", "make it small while it breaks the same")):
        command = commands.add_parser(name, help=text)
        command.add_argument("seed", type=int)
        command.add_argument("--out", type=Path, help="folder for the scenario and its files")
    given = parser.parse_args(arguments)
    if given.command == "run":
        return run(given.first, given.count, given.processes, ALL if given.untimed else EVERY)
    if given.command == "measure":
        return measure(given.first, given.count, given.processes)
    own = case(given.seed)
    if given.command == "shrink":
        own = shrink(own, look_at(given.seed))
    place = own.write(given.out or Path("out") / "random-scenarios" / str(given.seed))
    print(place.read_text(), end="")
    print(f"# {place}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
