"""The measurements that a fit wants, as job files of fio, in the order in which they are to be run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.printable import printable
from outlast.products.fit.guide import readme
from outlast.products.fit.table import from_size

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FILLS = (60, 75, 90, 100)
"""Percent of the drive that hold data."""
SKEWS = (("two-zone-80", "zoned:80/20:20/80"), ("two-zone-90", "zoned:90/10:10/90"), ("zipf-08", "zipf:0.8"))
MIXED = (25, 50, 75)
"""Percent of the steady rate of random writes."""
BURSTS = (1, 4, 16, 64, 256)
"""MiB."""
WEAR_MINUTES = 40
"""No job that wears the drive in takes longer, so that the whole plan ends within six hours."""
FILL_MINUTES = 15
RAMP = 6
"""Share of a job's time that passes before it measures: buffers have filled by then."""
DRIVE_WRITES = 3


@dataclass(frozen=True)
class Job:
    """A job file of the plan."""

    name: str
    text: str
    purpose: str
    seconds: float
    """Longest time that it takes."""
    destructive: bool
    counted: bool = False
    """True if the drive's counters are to be read before and after."""
    fill: int = 100
    """Percent of the drive that hold data while it runs."""


def jobs(target: str, *, seconds: float = 60.0, size: str | None = None, seed: int = 1) -> list[Job]:
    """The job files for a device, or for a file of `size`."""
    if size is None and not target.startswith("/dev/"):
        raise ScenarioError(f"{target}: not a device; give the maximum size of the file with --size")
    if printable(target, keep="") != target:
        raise ScenarioError(f"--plan {target!a}: must be one line without control characters, as a job file has it")
    if size is not None and from_size("--size", size) < BURSTS[-1] << 20:
        raise ScenarioError(f"--size = {size}: must be at least {BURSTS[-1]}MiB, as much as the longest burst writes")
    maker = _Maker(target, seconds, size, seed)
    plan = [maker.fill(100), maker.reads(), maker.floor(), maker.sequential()]
    for fill in FILLS:
        plan += [maker.fill(fill), maker.wear(fill, ""), maker.uniform(fill)]
    for name, distribution in SKEWS:
        plan += [maker.wear(100, distribution, name), maker.skewed(name, distribution)]
    plan += [maker.wear(100, "", "again"), maker.mixed(), maker.bursts()]
    return [
        Job(f"{number:02}-{job.name}.fio", job.text, job.purpose, job.seconds, job.destructive, job.counted, job.fill)
        for number, job in enumerate(plan, 1)
    ]


class _Maker:
    def __init__(self, target: str, seconds: float, size: str | None, seed: int) -> None:
        self.size = size
        self._whole = seconds * (1 + 1 / RAMP)
        self.runtime = f"{round(seconds * 1000)}ms"
        self.ramp = f"{round(seconds * 1000 / RAMP)}ms"
        lines = ["[global]", f"filename={target}", "ioengine=io_uring", "direct=1", f"randseed={seed}", "norandommap=1"]
        self.common = [*lines, "clat_percentiles=1"]

    def _size(self, percent: int) -> str:
        if self.size is None:
            return f"{percent}%"
        return f"{round(from_size('--size', self.size) * percent / 100) >> 20}m"

    def _text(self, *sections: list[str]) -> str:
        return "\n".join(
            ["; made by outlast fit --plan", *self.common, "", *("\n".join([*each, ""]) for each in sections)]
        )

    def _timed(self, name: str, percent: int, *lines: str) -> list[str]:
        return [
            f"[{name}]",
            "stonewall",
            f"size={self._size(percent)}",
            "time_based=1",
            f"runtime={self.runtime}",
            f"ramp_time={self.ramp}",
            *lines,
        ]

    def fill(self, percent: int) -> Job:
        section = [f"[prepare-fill-{percent}]", "rw=write", "bs=1m", "iodepth=32", f"size={self._size(percent)}"]
        section.append(f"runtime={FILL_MINUTES}m")
        return Job(
            f"fill-{percent}", self._text(section), f"fills {percent} % of the drive in order", FILL_MINUTES * 60, True
        )

    def reads(self) -> Job:
        own = [self._timed(f"read-qd{depth}", 100, "rw=randread", "bs=4k", f"iodepth={depth}") for depth in DEPTHS]
        own.append(self._timed("sequential-read", 100, "rw=read", "bs=128k", "iodepth=32"))
        return Job("reads", self._text(*own), "tR, dies, firmware time, link", len(own) * self._whole, False)

    def floor(self) -> Job:
        own = self._timed("write-qd1", 100, "rw=randwrite", "bs=4k", "iodepth=1")
        return Job("floor", self._text(own), "host latency", self._whole, True)

    def sequential(self) -> Job:
        own = self._timed("sequential-write", 100, "rw=write", "bs=128k", "iodepth=32")
        return Job("sequential-write", self._text(own), "tPROG", self._whole, True)

    def wear(self, percent: int, distribution: str, name: str = "") -> Job:
        label = name or str(percent)
        minutes = WEAR_MINUTES if not name else WEAR_MINUTES // 2
        section = [f"[wear-{label}]", f"size={self._size(percent)}", f"loops={DRIVE_WRITES}", f"runtime={minutes}m"]
        section += ["rw=randwrite", "bs=4k", "iodepth=128"]
        section += [f"random_distribution={distribution}"] if distribution else []
        return Job(f"wear-{label}", self._text(section), "wears the drive in", minutes * 60, True, fill=percent)

    def uniform(self, percent: int) -> Job:
        own = self._timed(f"uniform-{percent}", percent, "rw=randwrite", "bs=4k", "iodepth=128")
        purpose = "effective flash and constant factor"
        return Job(f"uniform-{percent}", self._text(own), purpose, self._whole, True, counted=True, fill=percent)

    def skewed(self, name: str, distribution: str) -> Job:
        own = self._timed(name, 100, "rw=randwrite", "bs=4k", "iodepth=128", f"random_distribution={distribution}")
        return Job(name, self._text(own), "collection policy", self._whole, True, counted=True)

    def mixed(self) -> Job:
        own = []
        for percent in MIXED:
            rates = f"rate_iops=${{READS}},${{WRITES_{percent}}}"
            lines = ("rw=randrw", "rwmixread=10", "bs=4k", "iodepth=64", rates, "rate_process=poisson")
            own.append(self._timed(f"mixed-{percent}", 100, *lines))
        return Job("mixed", self._text(*own), "suspension, pacing", len(own) * self._whole, True)

    def bursts(self) -> Job:
        own = []
        for size in BURSTS:
            lines = ["stonewall", f"size={self._size(100)}", f"io_size={size}m", "startdelay=10s"]
            own.append([f"[burst-{size}m]", *lines, "rw=randwrite", "bs=64k", "iodepth=32"])
        return Job("bursts", self._text(*own), "write buffer", 11 * len(own), True)


def write(target: str, folder: Path, *, seconds: float = 60.0, size: str | None = None) -> list[Path]:
    """Writes the plan: a file for each job, those that only read once more in `reads-only`, and a README."""
    from outlast.output import OutputFolder, write_file

    plan = jobs(target, seconds=seconds, size=size)
    OutputFolder(folder)
    written = [write_file(folder / job.name, job.text) for job in plan]
    harmless = [job for job in plan if not job.destructive]
    written += [write_file(folder / "reads-only" / job.name, job.text) for job in harmless]
    return [*written, write_file(folder / "README.md", readme(target, plan, size, WEAR_MINUTES))]
