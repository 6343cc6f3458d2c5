"""Is every figure and every column of a result in the reference, and nothing else?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT, TINY, summary_of
from forked import call
from outlast import endurance
from outlast.differences import flatten

ZONED = """\
name = "zoned"

[device.geometry]
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 48
pages_per_block = 12
page_size = "16KiB"

[device.timing]
read = "40us"
program = "300us"
erase = "3500us"
bus = "800MB/s"

[device.ftl]

[device.controller]
write_buffer = "4MiB"

[device.zones]
count = 30
max_active = 4
random_write = { size = "256KiB" }

[workload.zoned]
size = "64KiB"
queue_depth = 4
read_percent = 30
bytes = "200MiB"
finish_at = 0.7
rewrite_percent = 30

[precondition]
fill = "sequential"
fill_fraction = 0.5
overwrite = "none"

[run]
window = "20ms"
"""


def figures_of(folder: Path) -> set[str]:
    """The names of all figures, as the documentation shortens them."""
    summary = summary_of(folder)
    summary["scenario"] = None
    summary["latency_us"]["by_stream"] = None
    for job in summary["host"].get("jobs", ()):
        job["options"] = None
    short = (
        (
            r"^host\.jobs\[\d+\]\.(read|write|trim|sync)\.(latency_us|mib_s_samples|iops_samples)\..*",
            r"host.jobs[].OP.\2.*",
        ),
        (r"^host\.jobs\[\d+\]\.(read|write|trim|sync)\.", "host.jobs[].OP."),
        (r"^host\.jobs\[\d+\]\.", "host.jobs[]."),
        (r"^latency_us\.(read|write|trim|flush)\.", "latency_us.OP."),
        (r"^queues\[\d+\]\.(read|write)(\..*)?$", "queues[].OP.*"),
        (r"^queues\[\d+\]\.", "queues[]."),
        (r"^latency_causes\.(read|write)\.bands\b.*", "latency_causes.OP.bands"),
        (r"^latency_causes\.(read|write)\.", "latency_causes.OP."),
        (r"^reliability\.exact\.after_(ecc|rereads|stripe)\.", "reliability.exact.STEP."),
        (r"^protection\.by_class\[\d+\]\.", "protection.by_class[]."),
        (r"^placement\.(handles|groups)\[\d+\]\.", r"placement.\1[]."),
        (r"^reliability\.twin\.(read|write)_us\..*", "reliability.twin.OP_us.*"),
        (r"^after_host\.flash\.by_cause\..*", "after_host.flash.by_cause.*"),
        (r"^after_host\.flash\.\w+$", "after_host.flash.*"),
        (r"^array\.wear\[\d+\]\.", "array.wear[i]."),
        (r"^array\.latency_us_by_state\.\w+\.(read|write)(\..*)?", "array.latency_us_by_state.*.OP.*"),
        (r"^repair\[\d+\]\.", "repair[i]."),
        (r"^zones\.states\..*", "zones.states.*"),
        (r"^zones\.latency_us\.\w+\.mean_interval(\..*)?$", "zones.latency_us.*.mean_interval.*"),
        (r"^zones\.latency_us\.\w+(\.\w+)?$", "zones.latency_us.*.*"),
        (r"^protection\.redundancy\.losses\[\d+\]\.", "protection.redundancy.losses[]."),
    )
    names = set(flatten(summary))
    # A table of what was refused, which is empty where the host keeps to its zones.
    names |= {"zones.refused.*"} if summary.get("zones") else set()
    # Events that are absent where there was none.
    rare = ("reclaim_unit_time_limit_exceeded", "reset_modified_handles", "implicitly_modified_handle")
    names |= {f"placement.events.{event}" for event in rare} if summary.get("placement") else set()
    for pattern, replacement in short:
        names = {re.sub(pattern, replacement, name) for name in names}
    absent = {f"host.jobs[].{op}" for op in ("read", "write", "trim", "sync")}
    return names - {f"latency_us.{op}" for op in ("read", "write", "trim", "flush")} - absent


LACKING = """\
extends = "demo"
name = "lacking"
device.ftl.capacity = "512MiB"
device.protection = { data = 6, parity = 1 }
workload.synthetic.duration = "1500ms"
faults = [{ at = "600ms", kind = "die", die = 3 }]
"""
"""A die fails, and what it held is rebuilt from parity."""


@pytest.fixture(scope="module")
def lacking_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of a drive that has lost redundancy."""
    folder = tmp_path_factory.mktemp("lacking")
    (folder / "lacking.toml").write_text(LACKING)
    call("run", "lacking.toml", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture
def limited_result(tmp_path: Path) -> Path:
    """The folder of a finished run of an array whose members give up reads that need re-reads."""
    sets = ("array.limited_retry=true", "device.reliability.ecc.strength=12", "workload.synthetic.duration=700ms")
    call("run", "array-raid5-5", *(f"--set={name}" for name in sets), "--out", "limited", "--quiet", cwd=tmp_path)
    return tmp_path / "limited"


@pytest.fixture(scope="module")
def placed_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of a drive with reclaim unit handles, with its utilisation over time."""
    folder = tmp_path_factory.mktemp("placed")
    (folder / "tiny.toml").write_text(TINY)
    handles = '[{handles=["initially-isolated", "persistently-isolated"]}]'
    sets = (f"device.placement.configurations={handles}", "run.utilisation=true")
    call("run", "tiny.toml", *(f"--set={name}" for name in sets), "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


@pytest.fixture(scope="module")
def mechanism_results(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of finished runs: energy and heat, an SLC cache, a part of the map, reclaim groups, and zones."""
    folder = tmp_path_factory.mktemp("mechanisms")
    for name in ("heat", "slc-cache", "map-cache", "reclaim-groups"):
        scenario = ROOT / "scenarios" / "examples" / f"{name}.toml"
        call("run", str(scenario), "--out", name, "--quiet", cwd=folder)
    (folder / "zoned.toml").write_text(ZONED)
    call("run", "zoned.toml", "--out", "zoned", "--quiet", cwd=folder)
    return [folder / name for name in ("heat", "slc-cache", "map-cache", "reclaim-groups", "zoned")]


def test_every_figure_is_documented_and_no_other(
    demo_result: Path,
    weak_result: Path,
    array_result: Path,
    outlived_result: Path,
    repair_result: Path,
    cores_result: Path,
    jobs_result: Path,
    overloaded_result: Path,
    mount_result: Path,
    causes_result: Path,
    lacking_result: Path,
    limited_result: Path,
    placed_result: Path,
    mechanism_results: list[Path],
) -> None:
    drives = (
        demo_result,
        weak_result,
        cores_result,
        jobs_result,
        overloaded_result,
        mount_result,
        causes_result,
        lacking_result,
        placed_result,
        *mechanism_results,
    )
    arrays = (array_result, outlived_result, repair_result, limited_result)
    real = set().union(*(figures_of(result) for result in (*drives, *arrays)))
    # What is absent in one result and a group of figures in the other.
    real = {name for name in real if not any(other.startswith(f"{name}.") for other in real)}
    # Worked out from the others, where the flash has a rating.
    worn = endurance.endurance_of(summary_of(array_result))
    assert worn is not None
    real |= {f"endurance.{name}" for name in worn.figures()}
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    documented = set(re.findall(r"^\| `([^`]+)` \|", text, re.M))
    assert documented == real, sorted(documented ^ real)


def test_every_column_is_documented(
    demo_result: Path,
    weak_result: Path,
    array_result: Path,
    jobs_result: Path,
    causes_result: Path,
    placed_result: Path,
    mechanism_results: list[Path],
) -> None:
    import polars as pl

    from outlast.result import TABLES

    text = (ROOT / "docs" / "reference" / "metrics.md").read_text().split("## Tables")[1]
    whole = (demo_result, weak_result, array_result, jobs_result, causes_result, placed_result)
    files = {
        file.name: file
        for folder in (*whole, *mechanism_results)
        for file in sorted(folder.glob("*.parquet"))
        if file.name != "requests.parquet"  # the log, of which the guide tells
    }
    assert set(files) == {f"{table}.parquet" for table in TABLES}
    for file in files.values():
        assert f"`{file.stem}`" in text
        for column in pl.read_parquet(file).columns:
            short = re.sub(r"^(read|write)_(?=mean_us|p50_us|p99_us|max_us)", "", column)
            assert f"`{short}`" in text, (file.stem, column)
