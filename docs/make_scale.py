"""Cost and memory of a request against the size of drives, arrays and traces: `make bench-scale`.

Fills the tables `large-drives`, `large-arrays` and `large-traces` of docs/reference/speed.md from runs in processes of
their own. The largest drive needs 9 GiB of memory, the largest trace 10 GB of disk in the temporary folder.
`--quick` runs small sizes only and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from make_speed import table, write

DRIVES_GIB = (8, 64, 512, 4096)
ARRAYS = (4, 8, 16, 32, 64)
RECORDS = (1_000_000, 10_000_000, 100_000_000)
QUICK_GIB, QUICK_ARRAYS, QUICK_RECORDS = (2, 4), (4, 8), (20_000, 40_000)
REQUESTS = 2_000_000
FEW = 1000
"""Records of a trace whose run is the start of the program and little else: it is subtracted from the others."""
LINES = 100_000
"""Records of a trace that are written at once."""


@dataclass(frozen=True)
class Measured:
    """A run in a process of its own."""

    requests_per_cpu_s: float
    prepared_cpu_s: float
    cpu_s: float
    """Of the whole process, system calls included."""
    peak_mib: float


PROGRAM = "import json, outlast, sys; print(outlast.run(json.load(sys.stdin), any_memory=True).to_json())"


def measured(scenario: dict[str, Any]) -> Measured:
    """Runs a scenario, given as nested dictionaries."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as out:
        json.dump(scenario, given)
        given.seek(0)
        process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=given, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(process.returncode)
        out.seek(0)
        summary = json.load(out)
    rate = summary["throughput"]["requests_per_cpu_s"]
    prepared = summary["time"]["precondition_cpu_s"]
    return Measured(rate, prepared, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def drive(gib: float) -> dict[str, Any]:
    """The drive on which other simulators were measured, with `gib` GiB of raw flash."""
    blocks = round(gib * 16)
    return {
        "geometry": {"channels": 8, "chips_per_channel": 2, "dies_per_chip": 2, "planes_per_die": 2}
        | {"blocks_per_plane": blocks, "pages_per_block": 256, "page_size": "4KiB"},
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "667MB/s"},
        "ftl": {"capacity": f"{round(blocks * 64 * 0.85)}MiB"},
    }


def load(read_percent: int, requests: int) -> dict[str, Any]:
    """Uniform requests of 4 KiB in a closed loop."""
    work = {"pattern": "uniform", "read_percent": read_percent, "size": "4KiB", "queue_depth": 32, "requests": requests}
    return {"workload": {"synthetic": work}, "precondition": {"max_drive_writes": 2.0}}


def drives(sizes: tuple[int, ...], requests: int) -> str:
    """Random writes with collection, and random reads, on larger drives."""
    rows = []
    for gib in sizes:
        writes, reads = (measured({"device": drive(gib)} | load(reads, requests)) for reads in (0, 100))
        rows.append((f"{gib} GiB", writes, reads))
    first = rows[0]
    cells = [
        [
            name,
            *(cost(writes), against(writes, first[1]), cost(reads), against(reads, first[2])),
            *(f"{writes.prepared_cpu_s:.1f}", f"{writes.peak_mib:,.0f}"),
        ]
        for name, writes, reads in rows
    ]
    head = ["raw flash", "ns a write", "", "ns a read", "", "CPU-s to the steady state", "peak MiB"]
    return table(head, cells)


def arrays(sizes: tuple[int, ...], requests: int) -> str:
    """Random requests on RAID-5 of more members of 4 GiB."""
    rows = []
    for members in sizes:
        array = {"array": {"level": "raid5", "members": members}, "device": drive(4)}
        writes, mixed = (measured(array | load(reads, requests)) for reads in (0, 70))
        rows.append((str(members), writes, mixed))
    first = rows[0]
    cells = [
        [
            name,
            cost(writes),
            against(writes, first[1]),
            cost(mixed),
            against(mixed, first[2]),
            f"{writes.peak_mib:,.0f}",
        ]
        for name, writes, mixed in rows
    ]
    return table(["members", "ns a write", "", "ns a request, 70 % reads", "", "peak MiB"], cells)


def traces(sizes: tuple[int, ...]) -> str:
    """Replay of longer traces of two formats on the drive of 8 GiB."""
    cells = []
    for name, line in (("msr", msr), ("blkparse", blkparse)):
        first, start_s = None, 0.0
        for records in (FEW, *sizes):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"trace.{name}"
                with file.open("w") as out:
                    for start in range(0, records, LINES):
                        out.writelines(line(*each) for each in requests_of(start, min(start + LINES, records)))
                size_gb = file.stat().st_size / 1e9
                trace = {"file": str(file), "format": name, "addresses": "fit"}
                plain = {"precondition": {"fill": "none", "overwrite": "none"}}
                run = measured({"device": drive(8), "workload": {"trace": trace}, "run": {"timing": "none"}} | plain)
            if records == FEW:
                start_s = run.cpu_s
                continue
            each = (run.cpu_s - start_s) / (records - FEW)
            first = first or each
            row = [name, f"{records:,}", f"{size_gb:.1f}", f"{1e9 * each:.0f}", f"{each / first - 1:+.0%}"]
            cells.append([*row, f"{run.peak_mib:,.0f}"])
    return table(["format", "records", "GB", "ns a record, all in all", "", "peak MiB"], cells)


def requests_of(start: int, end: int) -> Iterator[tuple[int, int, int, int, bool]]:
    """Number, microsecond, sector, sectors and kind of made-up requests: 4 to 64 KiB, 70 % reads, within 4 GiB."""
    for number in range(start, end):
        mixed = number * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        mixed ^= mixed >> 29
        sectors = 8 << (mixed >> 8) % 5
        yield number, 30 * number, (mixed >> 16) % (1 << 20) * 8, sectors, mixed % 10 < 7


def msr(number: int, micros: int, sector: int, sectors: int, read: bool) -> str:
    """A record of the Microsoft Research traces."""
    kind = "Read" if read else "Write"
    return f"{128166372003061629 + 10 * micros},hm,0,{kind},{512 * sector},{512 * sectors},{100 + number % 9000}\n"


def blkparse(number: int, micros: int, sector: int, sectors: int, read: bool) -> str:
    """A record as blkparse prints it."""
    seconds, rest = divmod(micros, 1_000_000)
    kind = "R" if read else "W"
    return (
        f"259,2    {number % 4}   {number:>8}     {seconds}.{rest:06}581  4020  Q {kind}S {sector} + {sectors} [java]\n"
    )


def cost(run: Measured) -> str:
    """Processor time of a request."""
    return f"{1e9 / run.requests_per_cpu_s:.0f}"


def against(run: Measured, first: Measured) -> str:
    """Change of that against the first row."""
    return f"{first.requests_per_cpu_s / run.requests_per_cpu_s - 1:+.0%}"


def main() -> None:
    """Measures, and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes; prints, and writes nothing")
    parser.add_argument("--only", choices=("drives", "arrays", "traces"), help="one table")
    options = parser.parse_args()
    quick = options.quick
    made: dict[str, Callable[[], str]] = {
        "drives": lambda: drives(QUICK_GIB if quick else DRIVES_GIB, REQUESTS // 100 if quick else REQUESTS),
        "arrays": lambda: arrays(QUICK_ARRAYS if quick else ARRAYS, REQUESTS // 100 if quick else REQUESTS // 4),
        "traces": lambda: traces(QUICK_RECORDS if quick else RECORDS),
    }
    for name, make in made.items():
        if options.only in (None, name):
            rows = make()
            print(rows, flush=True)
            if not quick:
                write({f"large-{name}": rows})


if __name__ == "__main__":
    main()
