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

from random_scenarios import differential, monotone
from random_scenarios.generate import Case, case
from random_scenarios.laws import broken
from random_scenarios.run import Refused, outcome
from random_scenarios.shrink import shrink

EVERY = {"agree": 20, "monotone": 40}
"""Of so many scenarios one is compared with runs that must come to the same, or to better."""
ALL = EVERY | {"untimed": 40}
"""Those, and runs that must write as much without time."""

COMPARISONS: dict[str, Callable[[Case], list[str] | None]] = {
    "agree": differential.compared,
    "monotone": monotone.compared,
    "untimed": monotone.untimed,
}
"""Every way to compare. On drives of some MiB the last may fail by chance: it is done where asked for (`--untimed`)."""


@dataclass
class Verdict:
    """What became of the scenario of a seed: how it ended, what was compared, and what it breaks."""

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
    running.add_argument("--first", type=int, default=0)
    running.add_argument("--count", type=int, default=5000)
    running.add_argument("--processes", type=int, default=2)
    running.add_argument("--untimed", action="store_true", help="compare runs with and without time, too")
    for name, text in (("show", "print the scenario of a seed"), ("shrink", "make it small while it breaks the same")):
        command = commands.add_parser(name, help=text)
        command.add_argument("seed", type=int)
        command.add_argument("--out", type=Path, help="folder for the scenario and its files")
    given = parser.parse_args(arguments)
    if given.command == "run":
        return run(given.first, given.count, given.processes, ALL if given.untimed else EVERY)
    own = case(given.seed)
    if given.command == "shrink":
        own = shrink(own, look_at(given.seed))
    place = own.write(given.out or Path("out") / "random-scenarios" / str(given.seed))
    print(place.read_text(), end="")
    print(f"# {place}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
