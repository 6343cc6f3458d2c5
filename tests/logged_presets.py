"""Do the parts of every request sum to its latency, on every preset?

    python tests/logged_presets.py [--own]

Runs each preset twice, its blocks a few pages long and its load short: under its own load, and, without --own, under
jobs that read, write, trim and flush. Prints a line for each run; exit code 1 where parts and latencies differ.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import outlast
from outlast.causes import LATENCY

PRESETS = list(outlast.presets())
KINDS = ("read", "write", "trim", "flush")
PAGES = "device.geometry.pages_per_block"
BLOCKS = "device.geometry.blocks_per_plane"
REQUESTS = 10_000
"""Requests of a preset's own load."""

JOBS = """\
[global]
size=16m
bs={block}
norandommap
[mixed]
rw=randrw
rwmixread=70
iodepth=32
number_ios=4000
[flushed]
rw=write
number_ios=48
fsync=4
[trims]
rw=trim
bs=64k
number_ios=16
"""


@dataclass(frozen=True)
class Logged:
    """A run of a preset and its log."""

    preset: str
    load: str
    summary: Mapping[str, Any]
    rows: Mapping[str, Any]

    def off(self) -> int:
        """Largest difference, in nanoseconds, between the sum of a request's parts and its latency."""
        parts = sum(self.rows[f"{cause.name}_ns"].astype(np.int64) for cause in LATENCY)
        latency = self.rows["completed_ns"].astype(np.int64) - self.rows["submitted_ns"].astype(np.int64)
        return int(np.abs(parts - latency).max())

    def kinds(self) -> dict[str, int]:
        """Requests by kind."""
        return Counter(self.rows["kind"])


def small(preset: str) -> dict[str, Any]:
    """Overrides that leave a few pages of a block, an eighth of many blocks, and a drive write of preconditioning."""
    whole = outlast.resolve(preset)
    device = whole["device"]
    if {"zones", "slc_cache"} & device.keys():
        # Their zones and caches are of some superblocks, and nothing fills them before.
        return {"run.warm_up": 0}
    pages, one_shot = device["geometry"]["pages_per_block"], device["ftl"].get("one_shot", 1)
    # The lists by which dies are repaired take pages of each block; else the fewer there are, the more is collected.
    left = min(pages, (32 if "repair" in device else 3) * one_shot)
    blocks = device["geometry"]["blocks_per_plane"]
    fewer = 8 if blocks >= 2048 else 1
    changes: dict[str, Any] = {PAGES: left, BLOCKS: blocks // fewer, "run.warm_up": 0}
    changes["run.capacity_scale"] = fewer * pages / left
    if "capacity" in device["ftl"] and "over_provisioning" not in device["ftl"]:
        changes["device.ftl.capacity"] = f"{_kibibytes(device['ftl']['capacity']) * left // (pages * fewer)}KiB"
    changes |= {"precondition.min_drive_writes": 1.0, "precondition.max_drive_writes": 1.0}
    faults = [fault | {"at": "20ms"} for fault in whole.get("faults", [])]
    return changes | ({"faults": faults} if faults else {})


def _kibibytes(size: str) -> int:
    units = {"KiB": 1.0, "MiB": 2.0**10, "GiB": 2.0**20, "GB": 1e9 / 1024}
    number = size.rstrip("BGKMi")
    return int(float(number) * units[size[len(number) :]])


def loads(preset: str, folder: Path, *, own: bool) -> dict[str, dict[str, Any]]:
    """Overrides by name of load: the preset's own, shortened, and, unless `own`, jobs with every kind of request."""
    device = outlast.resolve(preset)["device"]
    if "zones" in device:
        return {"own": {"workload.zoned.requests": REQUESTS}}
    # Requests of a drive with a cache, which is filled from empty, have a mebibyte.
    alone = {"own": {"workload.synthetic.requests": REQUESTS // 10 if "slc_cache" in device else REQUESTS}}
    if own:
        return alone
    file = folder / f"{preset}.fio"
    unit = device["ftl"]["mapping_unit"].replace("KiB", "k")
    file.write_text(JOBS.format(block=unit))
    return alone | {"every kind": {"workload.fio.file": str(file)}}


def logged(preset: str, folder: Path, *, own: bool = False) -> Iterator[Logged]:
    """Runs of a preset under each load."""
    changes = small(preset) | {"run.causes": True, "run.log": "requests.parquet"}
    for load, overrides in loads(preset, folder, own=own).items():
        result = outlast.run(preset, changes | overrides)
        assert result.log is not None
        yield Logged(preset, load, result.summary, result.log.columns())


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--own", action="store_true", help="each under its own load alone")
    own = parser.parse_args().own
    head = ("preset", "load", "requests", *KINDS)
    line = "{:<22}{:<12}" + "{:>10}" * (len(head) - 2) + "{:>26}"
    print(line.format(*head, "sum of parts - latency"))
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for preset in PRESETS:
            for run in logged(preset, Path(folder), own=own):
                kinds, off = run.kinds(), run.off()
                counts = (len(run.rows), *(kinds.get(kind, 0) for kind in KINDS))
                print(line.format(preset, run.load, *counts, f"{off} ns"), flush=True)
                worst = max(worst, off)
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main())
