"""What starting, small runs, sweeps and serving take in CPU-milliseconds, beside peers: `make bench-small`.

Fills the tables `small` and `wires` of docs/reference/speed.md. Programs are run with compiled byte code, nine times
each, and the median counts; the figures of sweeps are those of `make bench-sweep`, the figures of served requests those
of `outlast-bench serve --quick`, and those of protocols of `outlast-bench wires`. Peers that are not installed have a
dash.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from make_speed import table, write

ROOT = Path(__file__).parent.parent
RUNS = 9
ROWS = 300_000
TEN = ("demo", "--set", "precondition.fill=none", "--set", "workload.synthetic.requests=10", "--set", "run.warm_up=0s")
FIO = ("--name=ten", "--ioengine=null", "--size=1m", "--bs=4k", "--number_ios=10", "--output-format=json")
LOADS = {
    "randread  depth  1 x 1": "1,000 reads served, one at a time",
    "randread  depth 32 x 4": "1,000 reads served, 32 at a time on four connections",
    "randwrite depth 32 x 1": "1,000 writes served, 32 at a time",
}


def cpu_ms(*command: str) -> float | None:
    """Processor time of a program, system calls included; `None` where it is not installed."""
    if shutil.which(command[0]) is None:
        return None
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    spent = []
    for _ in range(RUNS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1e3 * statistics.median(spent[1:])  # the first may compile


def text(value: float | None) -> str:
    """To two digits and more; a dash for what is not known."""
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def starts() -> list[tuple[str, float | None, str, float | None]]:
    """CPU time of whole programs."""
    outlast = (sys.executable, "-m", "outlast")
    bare = cpu_ms(sys.executable, "-c", "pass")
    return [
        ("`import outlast`", cpu_ms(sys.executable, "-c", "import outlast"), "Python alone", bare),
        ("`outlast validate demo`", cpu_ms(*outlast, "validate", "demo"), "Python alone", bare),
        ("`outlast run --json`, ten requests", cpu_ms(*outlast, "run", *TEN, "--json"), "fio", cpu_ms("fio", *FIO)),
    ]


def logged() -> list[tuple[str, float | None, str, float | None]]:
    """CPU time of a row of the log of requests."""
    many = (
        "--set",
        "precondition.fill=none",
        "--set",
        f"workload.synthetic.requests={ROWS}",
        "--set",
        "run.warm_up=0s",
    )
    command = (sys.executable, "-m", "outlast", "run", "demo", *many, "--json")
    with tempfile.TemporaryDirectory() as folder:
        bare, whole = cpu_ms(*command), cpu_ms(*command, "--set", f"run.log={folder}/requests.parquet")
    assert bare is not None
    assert whole is not None
    thousands = ROWS / 1000
    return [("1,000 rows of `run.log`", (whole - bare) / thousands, "the requests", bare / thousands)]


def sweeps() -> list[tuple[str, float | None, str, float | None]]:
    """CPU time of the points of a sweep."""
    program = ROOT / "tests" / "bench_sweep.py"
    command = [sys.executable, str(program), "--resumed", "10000", "--run", "1000"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {name.strip(): float(value) for name, value in re.findall(r"(.{32}).* CPU-s +([\d.]+) CPU-ms", said)}
    alone = found["simulated alone"]
    return [
        ("a point of a sweep, beside its run", found["beside the simulation"], "the run", alone),
        ("a point that is kept, of 10,000", found["resumed, all in all"], "the run", alone),
        ("a point in the report, of 10,000", found["report drawn"], "the run", alone),
    ]


def served(program: str) -> list[tuple[str, float | None, str, float | None]]:
    """CPU time of a server for its requests."""
    said = subprocess.run([program, "serve", "--quick"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^(.{24}) (rand\w+ +depth +\d+ x \d): +\d+ IOPS +([\d.]+) us", said, re.M)
    found = {(name.strip(), load): float(cost) for name, load, cost in rows}
    return [
        (
            f"{words} (fresh, virtual)",
            found["fresh, virtual", load],
            "nbdkit memory",
            found.get(("nbdkit memory", load)),
        )
        for load, words in LOADS.items()
    ]


def wires(program: str) -> str:
    """The table of what a request costs the server by protocol, and of the same as a multiple of NBD's."""
    said = subprocess.run([program, "wires"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^(.{24}) rand(read|write) +depth +(\d+) x (\d): +([\d.]+) us +([\d.]+)$", said, re.M)
    heads = [
        f"{rw}s, depth {depth}" + (f", {queues} queues" if queues != "1" else "") for _, rw, depth, queues, *_ in rows
    ]
    found: dict[str, list[str]] = {}
    for name, *_, cost, times in rows:
        found.setdefault(name.strip(), []).append(cost if name.strip() == "NBD" else f"{cost} ({times})")
    return table(["", *dict.fromkeys(heads)], [[name, *cells] for name, cells in found.items()])


def main(programs: Sequence[str]) -> None:
    """Measures and writes the tables."""
    write({"wires": wires(programs[0])})
    rows = [*starts(), *logged(), *sweeps(), *(row for program in programs for row in served(program))]
    cells = ([name, text(own), peer, text(other)] for name, own, peer, other in rows)
    write({"small": table(["", "CPU-ms", "beside it", "CPU-ms"], cells)})


if __name__ == "__main__":
    main(sys.argv[1:])
