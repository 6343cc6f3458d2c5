"""Fixtures of all tests: the program as a person calls it, a scenario that runs in a moment, a browser."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from browsing import browser as browser
from browsing import chromium as chromium
from forked import call as call
from hooks import pytest_addoption as pytest_addoption
from hooks import pytest_collection_modifyitems as pytest_collection_modifyitems
from hooks import pytest_configure as pytest_configure
from hooks import pytest_runtest_makereport as pytest_runtest_makereport
from hooks import pytest_terminal_summary as pytest_terminal_summary
from hooks import pytest_unconfigure as pytest_unconfigure
from served import small as small

# New cases each time, or those of --hypothesis-seed; hypothesis by itself draws the same ones for ever where CI is set.
settings.register_profile("drawn", settings.get_profile("ci"), derandomize=False)
settings.load_profile("drawn")
ROOT = Path(__file__).resolve().parent.parent


TINY = """\
extends = "demo"
name = "tiny"

[device]
model = "tiny 26 MiB"

[device.geometry]
channels = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 128
pages_per_block = 32
page_size = "4KiB"

[device.ftl]
capacity = "26MiB"

[device.controller]
write_buffer = "64KiB"

[workload.synthetic]
rate_iops = 3000
duration = "1s"

[run]
warm_up = "20ms"
window = "20ms"
"""

WEAK = """\
extends = "tiny.toml"
name = "weak"

[device.geometry]
channels = 4
blocks_per_plane = 64

[device.ftl]
capacity = "16MiB"

[device.controller]
write_buffer = "256KiB"

[device.reliability]
chip = "tlc-72-layer"
ecc = { strength = 40 }
rereads = { scale_factor = 1.3, max_retries = 3 }
initial = { pe_cycles = 3000, pe_spread = 100, age = ["1d", "60d"] }

[device.protection]
data = 3

[device.scrub]
expected_errors = 38

[workload.synthetic]
read_percent = 90
"""
"""The tiny drive with four dies and worn flash, so that much is re-read; parity over its dies, and a scrubber."""

Outlast = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def outlast(tmp_path: Path) -> Outlast:
    """The program, in an empty folder."""

    def run(*arguments: str | Path, check: bool = True, anew: bool = False) -> subprocess.CompletedProcess[str]:
        return call(*arguments, cwd=tmp_path, check=check, anew=anew)

    return run


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A scenario file of a drive so small that its run takes a moment."""
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    return file


@pytest.fixture
def weak(tmp_path: Path, tiny: Path) -> Path:
    """A scenario file of a tiny drive whose flash errs."""
    file = tmp_path / "weak.toml"
    file.write_text(WEAK)
    return file


@pytest.fixture(scope="session")
def weak_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of a tiny drive whose flash errs, beside its twin."""
    folder = tmp_path_factory.mktemp("weak")
    (folder / "tiny.toml").write_text(TINY)
    (folder / "weak.toml").write_text(WEAK)
    call("run", "weak.toml", "--set", "run.twin=true", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


JOBS = """\
[global]
size=8m
description=one of two
[reads]
rw=randread
bs=4k
rate_iops=2000
runtime=1200ms
time_based
[writes]
rw=write
bs=64k
number_ios=64
fsync=8
[trims]
rw=trim
bs=64k
number_ios=16
"""


@pytest.fixture(scope="session")
def jobs_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of three fio jobs on a tiny drive."""
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "tiny.toml").write_text(TINY)
    (folder / "three.fio").write_text(JOBS)
    queues = 'device.controller.queues={arbitration="weighted", classes=["high", "low"]}'
    sets = ("--set", "workload.fio.file=three.fio", "--set", queues)
    call("run", "tiny.toml", *sets, "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def overloaded_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of which more was asked than the drive can do."""
    folder = tmp_path_factory.mktemp("overloaded")
    (folder / "tiny.toml").write_text(TINY)
    call("run", "tiny.toml", "--set", "workload.synthetic.rate_iops=200000", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def array_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of an array of five drives, of which one fails."""
    folder = tmp_path_factory.mktemp("array")
    fault = 'faults=[{at="10s", device=2, kind="device"}]'
    call("run", "array-raid5-5", "--set", fault, "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def outlived_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of an array whose rebuild takes longer than the workload."""
    folder = tmp_path_factory.mktemp("outlived")
    sets = ("workload.synthetic.duration=1s", 'faults=[{at="900ms", device=2, kind="device"}]')
    call("run", "array-raid5-5", *(f"--set={name}" for name in sets), "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def repair_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run in which a die fails and is repaired, said to be of a drive twice as large."""
    folder = tmp_path_factory.mktemp("repair")
    sets = ["run.capacity_scale=2", "device.geometry.pages_per_block=12", "device.ftl.capacity=576MiB"]
    sets += ["workload.synthetic.duration=8s", "workload.synthetic.rate_iops=2000"]
    sets += ["device.repair.predict={bad_blocks=15}"]
    call("run", "die-repair", *(f"--set={name}" for name in sets), "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def cores_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of a drive with four flash cores."""
    folder = tmp_path_factory.mktemp("cores")
    options = ("--set", "device.controller.flash_cores=4", "--set", "workload.synthetic.duration=1s")
    call("run", "demo", *options, "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def mount_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of a drive whose power fails and that mounts from flash."""
    folder = tmp_path_factory.mktemp("mount")
    (folder / "tiny.toml").write_text(TINY)
    sets = ('device.mount={checkpoint_every="1MiB"}', 'faults=[{at="100ms", kind="power"}]')
    short = ("--set=workload.synthetic.duration=200ms", "--set=run.warm_up=0s")
    call("run", "tiny.toml", *(f"--set={name}" for name in sets), *short, "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def tiny_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the tiny scenario."""
    folder = tmp_path_factory.mktemp("result")
    (folder / "tiny.toml").write_text(TINY)
    call("run", "tiny.toml", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def causes_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the tiny scenario with causes, a log `requests.parquet` and a policy of the user's."""
    folder = tmp_path_factory.mktemp("causes")
    (folder / "tiny.toml").write_text(TINY)
    memory = (f"device.controller.{name}" for name in ("read_cache=256KiB", "coalesce=true", "hold_back=32KiB"))
    policy = f"policies.gc={ROOT}/tests/own_policies.py:greedy"
    asked = ("run.causes=true", "run.utilisation=true", "run.log=requests.parquet", policy, *memory)
    call("run", "tiny.toml", *(f"--set={name}" for name in asked), "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="session")
def demo_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    call("run", "demo", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


def traces_folder() -> Path | None:
    """Folder of real traces: `OUTLAST_TRACES`, or `shared/traces` beside the checkout; `None` without one."""
    place = Path(os.environ.get("OUTLAST_TRACES", ROOT.parent / "shared" / "traces"))
    return place if place.is_dir() else None


def files_below(folder: Path) -> set[Path]:
    """Every file and folder, hidden ones included."""
    return {path.relative_to(folder) for path in folder.rglob("*")}


def mean_from_histograms(summary: dict[str, Any]) -> float:
    """The mean latency over all kinds of requests in microseconds, from the distributions alone."""
    figures = [each for op in ("read", "write", "trim", "flush") if (each := summary["latency_us"][op])]
    return float(sum(each["mean"] * each["count"] for each in figures) / sum(each["count"] for each in figures))


def mean_from_queue(summary: dict[str, Any]) -> float:
    """The same from the number in flight and the rate, by Little's law, which histograms have no part in."""
    return float(summary["queue"]["mean_in_flight"] / summary["throughput"]["iops"] * 1e6)


def summary_of(folder: Path) -> dict[str, Any]:
    """The result.json in a folder."""
    return dict(json.loads((folder / "result.json").read_text()))
