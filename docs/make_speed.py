"""Fills the tables of docs/reference/speed.md from one run of the benchmarks: `make speed-tables`.

The machine should be quiet. `make_speed.py instructions` fills in only the committed table of instructions, as
`make bench-instructions ARGS=--write` does; a test compares the two. A table stands between `<!-- NAME -->` and
`<!-- end -->`; the words around it are written by hand.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parent / "reference" / "speed.md"
INSTRUCTIONS = Path(__file__).parent.parent / "crates" / "bench" / "instructions.txt"

RUNS = 3
"""Times that each case is run; the median counts."""

PEERS = {
    "random-write-gc": "random writes, garbage collection active",
    "mixed-70-30": "70 % reads, 30 % writes, no collection",
    "random-read": "random reads",
    "untimed-write": 'random writes without time (`run.timing = "none"`)',
}


class Case:
    """What the runs of one case found."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.rate = statistics.median(float(row[2]) for row in rows)
        self.amplification = float(rows[0][4])
        self.preparing = statistics.median(float(row[5]) for row in rows)
        self.peak_mib = max(float(row[7]) for row in rows)


def run(program: str, *groups: str) -> dict[str, Case]:
    """The cases of `groups` by name."""
    rows: dict[str, list[list[str]]] = {}
    for _ in range(RUNS):
        done = subprocess.run([program, *groups], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 9 and words[1].isdigit():
                rows.setdefault(words[0], []).append(words)
    return {name: Case(own) for name, own in rows.items()}


def line(program: str, case: str) -> str:
    """What a case that is no table says."""
    done = subprocess.run([program, case], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def number(value: float) -> str:
    """To three digits, with thin groups."""
    digits = max(0, len(str(int(value))) - 3)
    return f"{round(value, -digits):,.0f}".replace(",", " ")


def millions(value: float) -> str:
    """Millions, to two decimals."""
    return f"{value / 1e6:.2f}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---" for _ in head], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (list(cells) for cells in lines))


def peers(cases: dict[str, Case]) -> str:
    """The drive on which other simulators were measured."""
    rows = []
    for name, words in PEERS.items():
        own = cases[name]
        amplified = f" (write amplification {own.amplification:.2f})" if own.amplification > 1.0 else ""
        rows.append([words + amplified, number(own.rate)])
    return table(["case", "requests per CPU-second"], rows)


def instructions() -> str:
    """The committed table of instructions."""
    rows = [text.split() for text in INSTRUCTIONS.read_text().splitlines()[2:]]
    return table(["case", "instructions", "L1 misses", "L2 misses"], ([f"`{row[0]}`", *row[1:4]] for row in rows))


def scale(cases: dict[str, Case]) -> str:
    """The same work on larger drives."""
    sizes = sorted({int(name.removeprefix("write-")[:-1]) for name in cases if name.startswith("write-")})
    columns = ("write-{}g", "read-{}g", "read-1g-of-{}g")
    rows = ([f"{size} GiB", *(number(cases[name.format(size)].rate) for name in columns)] for size in sizes)
    return table(["raw flash", "random writes with collection", "random reads", "reads within 512 MiB"], rows)


def errors(cases: dict[str, Case]) -> str:
    """What errors cost."""
    kinds = ("off", "corrected", "75-bit", "stripes")
    works = {"mixed": "70 % reads, 30 % writes", "read": "random reads"}
    rows = (
        [words, *(millions(cases[f"{work}-errors-{kind}"].rate) for kind in kinds)] for work, words in works.items()
    )
    return table(["million requests a CPU-second", "no errors", "corrected", "75-bit", "stripes"], rows)


def protection(cases: dict[str, Case]) -> str:
    """What parity costs."""
    kinds = ("off", "15-1", "6-2", "7-1-block-63", "classes")
    mixed = [cases[f"mixed-parity-{kind}"] for kind in kinds]
    rows = [
        ["million requests a CPU-second", *(millions(own.rate) for own in mixed)],
        ["write amplification", *(f"{own.amplification:.2f}" for own in mixed)],
        [
            "with bytes, thousand writes a CPU-second",
            *(f"{cases[f'bytes-{kind}'].rate / 1e3:.0f}" for kind in kinds),
        ],
    ]
    head = ["", "none", "(15, 1)", "(6, 2)", "(7, 1) and (63, 1) within blocks", "three classes, covers in blocks"]
    return table(head, rows)


def traces(said: str) -> str:
    """What a record of a trace costs."""
    found = re.findall(r"([a-z0-9-]+) (\d+) and (\d+)", said.partition(": ")[2])
    return table(["format", "one pass", "with the survey for packing"], (list(row) for row in found))


def fill(text: str, name: str, table: str) -> str:
    """The page with a table in its place."""
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert place.search(text), f"docs/reference/speed.md has no place for {name}"
    return place.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)


def main(program: str) -> None:
    """Runs everything and writes the page."""
    cases = run(program, "peers")
    first = cases["random-write-gc"]
    tables = {
        "peers": peers(cases),
        "preparing": (
            "Filling the drive and overwriting it until its write amplification is steady takes "
            f"{first.preparing:.1f} s of processor time; the process peaks at {first.peak_mib:.0f} MiB."
        ),
        "instructions": instructions(),
        "scale": scale(run(program, "scale")),
        "errors": errors(run(program, "errors")),
        "protection": protection(run(program, "protection")),
        "traces": traces(line(program, "traces")),
        "array": line(program, "array").removeprefix("array: ").replace("; ", ".\n").capitalize() + ".",
    }
    write(tables)


def write(tables: dict[str, str]) -> None:
    """Puts tables into the page, each in its place."""
    text = PAGE.read_text()
    for name, own in tables.items():
        text = fill(text, name, own)
    PAGE.write_text(text)


if __name__ == "__main__":
    if sys.argv[1] == "instructions":
        write({"instructions": instructions()})
    else:
        main(sys.argv[1])
