"""Drives with known numbers, measured by the plan of `outlast fit`: what the round trip of a fit starts from."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import outlast
from drives import geometry
from outlast.fio_report import to_fio
from outlast.products.fit.machine import OPEN
from outlast.products.fit.plan import MIXED, Job, jobs

SKIPPED = ("fill", "wear")
SECONDS = 6.0
"""Seconds of each job: as long as collection takes to come to rest on these drives."""
COUNTED_S = 80.0
"""Seconds of each job for write amplification, where collection goes in bursts.

Over n cycles of burst and pause write amplification W is off by up to (1 - host share)(1 - 1/W)/n, since collection is
somewhere in a cycle at both ends, and by 0.41 of that as a root of the mean square. A full drive of seed 3 with bursts
of eight superblocks has 29 cycles in this time: 0.5 %, as much as repeated figures scatter. In `SECONDS` it has two.
"""
READS_S = 1.0
"""Seconds of jobs whose rates are only a means: within 0.5 % of those of six seconds, and noise of 1 % is added."""
PAGE = 16384
WORD_LINES = 16
"""A drive's superblock has hundreds; with fewer than a dozen collection stalls the dies."""


@dataclass(frozen=True)
class Drive:
    """A drive whose numbers are known."""

    seed: int
    dies: int
    planes: int
    shot: int
    blocks: int
    pages: int
    fill: float
    """Capacity over effective flash."""
    host: float
    read: float
    program: float
    command: float
    link: float
    buffer_mib: int
    suspension: tuple[float, float] | None = None
    """Overhead and least progress, where reads suspend programs."""
    gc: Mapping[str, Any] = field(default_factory=dict)
    """Settings of collection beside greedy."""

    @property
    def effective(self) -> float:
        """Flash that collection can use, in bytes."""
        return float((self.blocks - OPEN) * self.dies * self.planes * self.pages * PAGE)

    @property
    def capacity(self) -> int:
        """Bytes that the host addresses."""
        return int(self.effective * self.fill) // 4096 * 4096

    def truth(self) -> dict[str, float]:
        """True values of the numbers that a fit is to recover."""
        return {"host": self.host, "read": self.read, "program": self.program, "effective": self.effective}

    def settings(self) -> dict[str, Any]:
        """The drive as settings."""
        flash = geometry(8, self.blocks, self.pages, PAGE, dies=self.dies // 8, planes=self.planes)
        times: dict[str, Any] = {
            "read": _time(self.read),
            "program": _time(self.program),
            "erase": "200us",
            "bus": "1600MB/s",
        }
        if self.suspension is not None:
            overhead, progress = map(_time, self.suspension)
            suspend = {"program": True, "erase": True, "limit": 16, "overhead": overhead, "least_progress": progress}
            times["suspend"] = suspend
        controller: dict[str, Any] = {"master_cost": _time(self.command), "link": f"{round(self.link / 1e3)}kB/s"}
        controller["host_latency"] = {"submit": "1us", "complete": _time(self.host - 1e-6)}
        controller |= {"write_buffer": f"{self.buffer_mib}MiB"}
        gc = {"policy": "greedy", **self.gc}
        ftl = {"mapping_unit": "4KiB", "one_shot": self.shot, "capacity": self.capacity, "gc": gc}
        return {"device": {"geometry": flash, "timing": times, "ftl": ftl, "controller": controller}}


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"


def drawn(seed: int) -> Drive:
    """A drive drawn at random, of 4 to 30 GiB, so that its plan is simulated in seconds."""
    draw = random.Random(seed)
    dies, planes, shot = draw.choice((16, 24, 32)), draw.choice((1, 2)), draw.choice((1, 3))
    return Drive(
        seed=seed,
        dies=dies,
        planes=planes,
        shot=shot,
        blocks=draw.randint(440, 600),
        pages=shot * (max(WORD_LINES, round(512 / (dies * planes * shot))) + draw.randint(0, 3)),
        fill=draw.uniform(0.72, 0.9),
        host=draw.uniform(5e-6, 15e-6),
        read=draw.uniform(40e-6, 90e-6),
        program=shot * draw.uniform(400e-6, 900e-6),
        command=draw.uniform(0.5e-6, 1.5e-6),
        link=draw.uniform(1.5e9, 3.5e9),
        buffer_mib=draw.choice((8, 16, 32)),
    )


def measure(
    drive: Drive,
    folder: Path,
    *,
    noise: float = 0.01,
    wanted: tuple[str, ...] = (),
    reads_s: float = SECONDS,
    counted_s: float = SECONDS,
) -> Path:
    """Runs the plan on the drive, each job of reads for `reads_s` and each counted one for `counted_s`, and writes the
    measured.toml.

    Figures scatter by `noise`, as repeated runs do.
    """
    draw = random.Random(drive.seed + 1)
    waf: dict[str, float] = {}
    rates = {"READS": "1000", "WRITES_25": "2000", "WRITES_50": "4000", "WRITES_75": "6000"}
    plan, reads, counted = (
        jobs("/dev/nvme0n1", seconds=each, seed=drive.seed + 1) for each in (SECONDS, reads_s, counted_s)
    )
    lengths = ({job.name: job for job in plan} | {job.name: job for job in counted if job.counted}) | {
        job.name: job for job in reads if job.name.endswith("-reads.fio")
    }
    for job in lengths.values():
        name = job.name[3:-4]
        if name.startswith(SKIPPED) or (wanted and not name.startswith(wanted)):
            continue
        result = _run(drive, job, rates)
        if name == "uniform-100":
            most = result.summary["throughput"]["iops"]
            rates = {"READS": "1000"} | {f"WRITES_{share}": str(round(most * share / 100)) for share in MIXED}
        report = to_fio(result)
        for each in report["jobs"]:
            _disturb(each, draw, noise)
            if job.counted:
                total = result.summary["write_amplification"]["total"]
                waf[each["jobname"]] = total * math.exp(draw.gauss(0, noise / 2))
        (folder / f"{name}.json").write_text(json.dumps(report))
    known = {"channels": 8, "planes_per_die": drive.planes, "page_size": "16KiB"}
    lines = [f'name = "drawn {drive.seed}"', f"capacity = {drive.capacity}", 'fio = "*.json"', ""]
    lines += ["[known.device.geometry]", *(f"{name} = {json.dumps(value)}" for name, value in known.items())]
    lines += ["[known.device.ftl]", f"one_shot = {drive.shot}"]
    lines += ["[known.device.timing]", 'bus = "1600MB/s"', 'erase = "200us"', "[waf]"]
    lines += [f"{name} = {max(1.0, value)}" for name, value in waf.items()]
    file = folder / "measured.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def _run(drive: Drive, job: Job, rates: Mapping[str, str]) -> outlast.Result:
    """A job on the drive, worn in as the plan says."""
    worn = job.counted or job.name[3:].startswith(("mixed", "bursts"))
    layer: dict[str, Any] = drive.settings() | {
        "name": job.name,
        "seed": drive.seed + 1000,
        "workload": {"fio": {"job": job.text, "vars": rates if "mixed" in job.name else {}}},
        "precondition": {
            "fill_fraction": job.fill / 100,
            "overwrite": "random" if worn else "none",
            "min_drive_writes": 3.0,
        },
        "run": {"threads": 1},
    }
    if job.counted and not job.name[3:].startswith("uniform"):
        layer["precondition"] |= {"overwrite": "workload", "min_drive_writes": 12.0}
    return outlast.run(layer)


def _disturb(job: dict[str, Any], draw: random.Random, noise: float) -> None:
    """One factor for the rate of a job, and one for its latencies."""
    for side in ("read", "write"):
        own = job[side]
        if not own["total_ios"]:
            continue
        own["iops"] *= math.exp(draw.gauss(0, noise))
        latency, moved = own["clat_ns"], math.exp(draw.gauss(0, noise))
        latency["mean"] *= moved
        latency["percentile"] = {name: value * moved for name, value in latency["percentile"].items()}


FILLS = {372.6: "1.11", 447.0: "1.17", 521.7: "1.28", 596.0: "1.41", 670.6: "1.60", 745.2: "1.89"}
"""Micron 7450 MAX 800 GB: GiB filled, and the write amplification that its counters told (SSD-iq, PVLDB 2025)."""


def micron(folder: Path, held: set[float]) -> Path:
    """The measured.toml of the drive, with two fills held out."""
    lines = ["workload,user_gib,waf,use"]
    lines += [f"uniform,{gib},{waf},{'no' if gib in held else 'yes'}" for gib, waf in FILLS.items()]
    (folder / "waf.csv").write_text("\n".join(lines) + "\n")
    file = folder / "measured.toml"
    file.write_text('name = "Micron 7450 MAX"\ncapacity = "800GB"\ncsv = "waf.csv"\n')
    return file
