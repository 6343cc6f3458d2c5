"""Coverage of 90 % intervals of a fit: drives drawn at random are measured by the plan, and fitted.

    python tests/fit_coverage.py --drives 50 --jobs 2 --kept out/fit-coverage.jsonl --docs docs/guide/fit.md

Prints a line for each drive and the table; exit code 1 where a limit is missed. What is kept is not made again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from fitted import drawn, measure
from outlast.products.fit import fit

WANTED = ("reads", "floor", "sequential", "uniform")
LIMITS: dict[str, float | None] = {"effective": 0.01, "read": 0.05, "program": 0.05, "host": None}
"""Largest error of each number, as a share. The host's latency shares its figure with the firmware's time."""
TITLES = {"effective": "effective flash", "read": "tR", "program": "tPROG", "host": "host latency"}
COVERAGE = (0.80, 0.97)
LEAST = 30
"""Drives below which a share says too little to be judged."""
BEGIN, END = "<!-- coverage: made by make fit-coverage -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class Outcome:
    """Errors of one fit: by number, the shares by which it, and the ends of its interval, are off the truth."""

    seed: int
    off: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    seconds: float
    """Processor time of the fit."""

    def held(self, name: str) -> bool:
        """True if the interval includes the truth."""
        return self.low[name] <= 0 <= self.high[name]


def one(seed: int) -> Outcome:
    """Measures and fits a drive."""
    drive = drawn(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        file = measure(drive, folder, wanted=WANTED)
        began = time.process_time()
        done = fit(file, points=folder / "points")
    off, low, high = {}, {}, {}
    for name, truth in drive.truth().items():
        found = done.found[name]
        off[name] = found.value / truth - 1
        low[name] = (found.interval.low or 0.0) / truth - 1
        high[name] = (found.interval.high or math.inf) / truth - 1
    return Outcome(seed, off, low, high, time.process_time() - began)


def all_of(first: int, drives: int, jobs: int, kept: Path | None) -> Iterator[Outcome]:
    """The outcome of each drive; those that are kept first."""
    wanted = range(first, first + drives)
    lines = kept.read_text().splitlines() if kept is not None and kept.exists() else []
    had = {each.seed: each for each in (Outcome(**json.loads(line)) for line in lines) if each.seed in wanted}
    yield from had.values()
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(one, seed) for seed in wanted if seed not in had]):
            outcome = future.result()
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
            yield outcome


def table(outcomes: list[Outcome]) -> tuple[str, bool]:
    """The table of all drives, and whether every limit is kept."""
    head = "| number | intervals that hold the truth | bias | rms error | largest error | limit | half an interval |"
    lines, good, count = [head, "|---|---|---|---|---|---|---|"], True, len(outcomes)
    judged = []
    for name, limit in LIMITS.items():
        off = [each.off[name] for each in outcomes]
        held = [each.held(name) for each in outcomes]
        share = sum(held) / count
        most, mean, square = max(map(abs, off)), sum(off) / count, math.sqrt(sum(each**2 for each in off) / count)
        half = sorted((each.high[name] - each.low[name]) / 2 for each in outcomes)[count // 2]
        shown = "–" if limit is None else f"{limit:.0%}"
        wide = math.sqrt(share * (1 - share) / count)
        cells = [TITLES[name], f"{share:.0%} ± {wide:.0%}", f"{mean:+.2%}", f"{square:.2%}", f"{most:.2%}", shown]
        lines.append(f"| {' | '.join([*cells, f'{half:.2%}'])} |")
        if limit is not None:
            judged += held
            good &= most <= limit and (count < LEAST or COVERAGE[0] <= share <= COVERAGE[1])
    seconds = sum(each.seconds for each in outcomes) / count
    share = sum(judged) / len(judged)
    lines.append(
        f"\n{count} drives; of the first three numbers {share:.0%} of {len(judged)} intervals hold the truth. "
        f"A fit takes {seconds:.0f} s of one processor, {max(each.seconds for each in outcomes):.0f} s at most."
    )
    return "\n".join(lines), good


def into(page: Path, text: str) -> None:
    """Puts the table between its marks."""
    whole = page.read_text()
    before, rest = whole.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def main() -> int:
    """Runs the drives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drives", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="seed of the first drive")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="outcomes, a line for each drive; what is there is not made again")
    parser.add_argument("--docs", type=Path, help="the page that has the table")
    asked = parser.parse_args()
    outcomes = []
    for outcome in all_of(asked.first, asked.drives, asked.jobs, asked.kept):
        outcomes.append(outcome)
        held = ", ".join(
            f"{name} {off:+.2%}{'' if outcome.held(name) else ' (not held)'}" for name, off in outcome.off.items()
        )
        print(f"drive {outcome.seed}: {held}; {outcome.seconds:.0f} s", flush=True)
    text, good = table(outcomes)
    print(text)
    if asked.docs is not None:
        into(asked.docs, text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
