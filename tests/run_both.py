"""Runs Rust's tests and then Python's, whatever becomes of the first, and ends with one line for both.

`run_both.py run COMMAND COMMAND` runs the two; `run_both.py tally FILE FILE` says the same of what two runs printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

NAMES = ("Rust", "Python")
KINDS = ("passed", "failed", "skipped")
SAME = {"error": "failed", "errors": "failed", "ignored": "skipped", "xfailed": "skipped", "timed out": "failed"}
"""Name here of each outcome that the runners name otherwise."""

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
COUNT = re.compile(r"(\d+) (passed|failed|skipped|ignored|errors?|xfailed|timed out)\b")
SUMS = (
    re.compile(r"^\s*Summary \[.*\] .* tests? run: (.*)$", re.MULTILINE),
    re.compile(r"^=+ (.*) in [0-9.]+s.* =+$", re.MULTILINE),
    re.compile(r"^test result: \w+\. (.*); finished in .*$", re.MULTILINE),
)
"""The last lines of cargo nextest, of pytest, and of each program of cargo test."""


def counts(said: str) -> Counter[str]:
    """Passed, failed and skipped tests in a runner's output; empty without its last line."""
    plain = COLOURS.sub("", said)
    for pattern in SUMS:
        if sums := pattern.findall(plain):
            # A program of cargo test prints a line of its own; of the others the last line counts.
            lines = sums if pattern is SUMS[2] else sums[-1:]
            found = Counter[str]()
            for number, kind in (pair for line in lines for pair in COUNT.findall(line)):
                found[SAME.get(kind, kind)] += int(number)
            return found
    return Counter()


def line(halves: list[tuple[Counter[str], bool]]) -> str:
    """The line for both: of each its counts, and whether it has succeeded."""
    parts = []
    for name, (found, _) in zip(NAMES, halves, strict=True):
        told = ", ".join(f"{found[kind]} {kind}" for kind in KINDS)
        parts.append(f"{name} {told if found else 'did not get as far as its tests'}")
    failed = [name for name, (_, succeeded) in zip(NAMES, halves, strict=True) if not succeeded]
    return f"== Tests: {'; '.join(parts)}. {' and '.join(failed) + ' FAILED' if failed else 'All is well'}"


def run(command: str) -> tuple[Counter[str], bool]:
    """Runs a command, prints what it prints, and counts."""
    colours = {"CARGO_TERM_COLOR": "always", "PY_COLORS": "1"} if sys.stdout.isatty() else {}
    process = subprocess.Popen(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | colours,
        text=True,
        errors="replace",
    )
    said = []
    for text in process.stdout or ():
        sys.stdout.write(text)
        sys.stdout.flush()
        said.append(text)
    return counts("".join(said)), process.wait() == 0


def main(arguments: list[str]) -> int:
    """Runs both, or tells of both; the exit code says whether either has failed."""
    what, *both = arguments
    if what == "tally":
        texts = [Path(name).read_text(errors="replace") if Path(name).exists() else "" for name in both]
        found = [counts(text) for text in texts]
        halves = [(own, bool(own) and not own["failed"]) for own in found]
    else:
        halves = [run(command) for command in both]
    print(line(halves), flush=True)
    return 0 if all(succeeded for _, succeeded in halves) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
