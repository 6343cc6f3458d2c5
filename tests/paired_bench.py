"""Two builds of the benchmarks in turns, so that a machine whose speed drifts is as slow for one as for the other.

    python tests/paired_bench.py BEFORE AFTER [--pairs 9] random-write-gc mixed-70-30 random-read

BEFORE and AFTER are programs `outlast-bench`. For each case: the median rate of either, and the median, the least and
the greatest of the pairs' ratios AFTER / BEFORE.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess


def rates(program: str, cases: list[str]) -> dict[str, float]:
    """Requests a second of processor time, by case."""
    done = subprocess.run([program, *cases], check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) > 2 and words[0] in cases:
            found[words[0]] = float(words[2])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--pairs", type=int, default=9)
    asked = parser.parse_args()
    pairs: dict[str, list[tuple[float, float]]] = {case: [] for case in asked.cases}
    for turn in range(asked.pairs):
        # Which goes first changes from pair to pair.
        order = [asked.before, asked.after][:: 1 if turn % 2 == 0 else -1]
        ran = {program: rates(program, asked.cases) for program in order}
        for case in asked.cases:
            pairs[case].append((ran[asked.before][case], ran[asked.after][case]))
    print("| case | before | after | after / before | least | greatest |\n|---|---|---|---|---|---|")
    for case, both in pairs.items():
        before, after = (statistics.median(column) / 1e6 for column in zip(*both, strict=True))
        ratios = sorted(rate / of for of, rate in both)
        middle, least, most = statistics.median(ratios), ratios[0], ratios[-1]
        print(f"| {case} | {before:.2f} M | {after:.2f} M | {middle:.3f} | {least:.3f} | {most:.3f} |")


main()
