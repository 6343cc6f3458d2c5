"""Do fio jobs run from the command line, does every job get its figures, and is what is written in fio's layout?"""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import outlast as api
from conftest import TINY, Outlast
from outlast.differences import load_any, with_measured
from outlast.fio import Measured, figures, requests
from outlast.fio_report import to_fio

PAIR = """\
[global]
time_based
size=8m
[reader]
rw=randread
bs=4k
runtime=100ms
[writer]
rw=write
bs=256k
offset=8m
iodepth=2
runtime=300ms
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    scenario = tmp_path / "tiny.toml"
    # The workload is the job's to say, the drive is 26 MiB.
    scenario.write_text(TINY.replace('[workload.synthetic]\nrate_iops = 3000\nduration = "1s"\n', ""))
    return scenario


def run(tiny: Path, job: str, **more: Any) -> api.Result:
    layer = {"workload": {"fio": {"job": job} | more}, "run": {"warm_up": "0s"}}
    return api.run(str(tiny), layer)


def by_name(result: api.Result) -> dict[str, dict[str, Any]]:
    return {job["name"]: job for job in result.summary["host"]["jobs"]}


def test_each_job_has_its_own_depth_runtime_and_figures(tiny: Path) -> None:
    result = run(tiny, PAIR)
    jobs = by_name(result)
    reader, writer = jobs["reader"], jobs["writer"]
    # A job ends with its last request; one that began before its time was over may take that much longer.
    slack = 1e-6 * max(reader["read"]["latency_us"]["max"], writer["write"]["latency_us"]["max"])
    assert 0.1 <= reader["runtime_s"] <= 0.1 + slack
    assert 0.3 <= writer["runtime_s"] <= 0.3 + slack
    for job, op, depth in ((reader, "read", 1), (writer, "write", 2)):
        # Little's law over the job's own time: its depth is always in flight, except for the last requests.
        found = job[op]
        in_flight = found["iops"] * found["latency_us"]["mean"] * 1e-6
        assert depth * (1 - slack / job["runtime_s"]) <= in_flight <= depth * (1 + 1e-9)
    host = result.summary["host"]
    assert (host["reads"], host["writes"]) == (reader["read"]["ios"], writer["write"]["ios"])
    assert host["bytes_written"] == writer["write"]["bytes"]


def test_a_ramp_is_not_measured(tiny: Path) -> None:
    job = "[a]\nrw=randread\nsize=8m\nrate_iops=1000\nramp_time=200ms\nruntime=300ms\ntime_based\n"
    result = run(tiny, job)
    (found,) = result.summary["host"]["jobs"]
    # 1,000 a second over the runtime; the request that ends the ramp, and the one at its end, may fall on either side.
    assert abs(found["read"]["ios"] - 300) <= 2
    assert abs(found["runtime_s"] - 0.3) < 0.002
    assert result.summary["time"]["warm_up_s"] >= 0.2


def test_groups_report_together(tiny: Path) -> None:
    clones = "[a]\nrw=randread\nsize=4m\nnumber_ios=50\nnumjobs=3\n"
    apart = run(tiny, clones).summary["host"]["jobs"]
    together = run(tiny, clones + "group_reporting\n").summary["host"]["jobs"]
    assert [(job["members"], job["read"]["ios"]) for job in apart] == [(1, 50)] * 3
    assert [(job["members"], job["read"]["ios"]) for job in together] == [(3, 150)]


def test_the_workload_of_a_job_preconditions(tiny: Path) -> None:
    settings = {"precondition": {"overwrite": "workload", "min_drive_writes": 1.0, "max_drive_writes": 2.0}}
    layer = {"workload": {"fio": {"job": "[a]\nrw=randwrite\nsize=20m\nrandseed=3\nnumber_ios=100\n"}}}
    result = api.run(str(tiny), layer | settings)
    assert result.summary["steady_state"]["precondition"]["drive_writes"] >= 1.0
    # Passes with one order of addresses would collect nothing but dead superblocks.
    assert result.summary["steady_state"]["precondition"]["write_amplification"] > 1.05


def test_a_job_file_runs_on_a_preset(outlast: Outlast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tmp_path / "mix.fio"
    job.write_text("[a]\nrw=randrw\nbs=${BLOCK}k\nsize=64m\nnumber_ios=200 ; enough\n")
    monkeypatch.setenv("BLOCK", "8")
    summary = json.loads(outlast("run", job, "--preset", "demo", "--set", "precondition.fill=none", "--json").stdout)
    (found,) = summary["host"]["jobs"]
    assert found["read"]["ios"] + found["write"]["ios"] == 200
    assert found["read"]["bytes"] == 8192 * found["read"]["ios"]
    assert summary["scenario"]["workload"]["fio"]["vars"] == {"BLOCK": "8"}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["run", "mix.fio"], ["name the drive with --preset"]),
        (["run", "demo", "--trace", "mix.fio"], ["is a fio job, not a trace", "outlast run mix.fio --preset"]),
        (["run", "bad.fio", "--preset", "demo"], ["bad.fio, line 3", "latency_target=1ms", "not supported"]),
        (["run", "var.fio", "--preset", "demo"], ["var.fio, line 2", "${NOBODY_SAID}", "vars"]),
        (["run", "inc.fio", "--preset", "demo"], ["inc.fio, line 2", "include=absent.inc"]),
    ],
)
def test_what_cannot_run_is_named_with_its_place(arguments: list[str], parts: list[str], tmp_path: Path) -> None:
    import os
    import sys

    (tmp_path / "mix.fio").write_text("[a]\nrw=randrw\n")
    (tmp_path / "bad.fio").write_text("[a]\nrw=randread\nlatency_target=1ms\n")
    (tmp_path / "var.fio").write_text("[a]\nbs=${NOBODY_SAID}\n")
    (tmp_path / "inc.fio").write_text("[a]\ninclude absent.inc\n")
    done = subprocess.run(
        [sys.executable, "-m", "outlast", *arguments], cwd=tmp_path, env=os.environ, text=True, capture_output=True
    )
    assert done.returncode == 2, done.stderr
    assert all(part in done.stderr for part in parts), done.stderr
    assert "Traceback" not in done.stderr


def keys(value: Any, prefix: str = "") -> set[str]:
    """Every key by its path; percentiles and buckets are data, and what a job was given are its own options."""
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, item in value.items():
        found.add(prefix + key)
        if key not in ("bins", "job options", "global options"):
            found |= keys(item, f"{prefix}{key}.")
    return found


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed, so there is no layout to compare with")
def test_json_has_the_layout_of_fio(tiny: Path, tmp_path: Path) -> None:
    job = "[global]\nsize=4m\n[a]\nrw=randrw\nfsync=8\nnumber_ios=300\ndescription=a mix\n"
    (tmp_path / "job.fio").write_text(job.replace("size=4m", "size=4m\nioengine=null"))
    subprocess.run(["fio", "--output-format=json+", "--output=fio.json", "job.fio"], cwd=tmp_path, check=True)
    theirs = Measured.load(tmp_path / "fio.json").report
    ours = json.loads(json.dumps(to_fio(run(tiny, job))))
    assert keys(ours) == keys(theirs)
    (a,), (b,) = ours["jobs"], theirs["jobs"]
    assert keys(a) == keys(b)

    def kinds(tree: Any) -> Any:
        return {key: kinds(item) if isinstance(item, dict) else type(item) for key, item in tree.items()}

    for part in ("read", "write", "trim", "sync", "iodepth_level", "latency_us"):
        first, second = kinds(a[part]), kinds(b[part])
        for tree in (first, second):
            for latency in ("clat_ns", "lat_ns"):
                if isinstance(tree.get(latency), dict):
                    tree[latency].pop("bins", None)
        assert first == second, part
    assert a["read"]["total_ios"] + a["write"]["total_ios"] == 300
    assert sum(a["read"]["clat_ns"]["bins"].values()) == a["read"]["clat_ns"]["N"] == a["read"]["total_ios"]


def assert_counted_as_fio_counts(job: dict[str, Any], block: int) -> None:
    """Requests and their rate are of all that were issued; bytes and latencies of those that were served."""
    failed = 0
    for op in ("read", "write"):
        own = job[op]
        served = own["io_bytes"] // block
        assert served == own["clat_ns"]["N"] == own["lat_ns"]["N"] <= own["total_ios"], op
        failed += own["total_ios"] - served
        if own["io_bytes"]:
            assert own["iops"] == pytest.approx(own["total_ios"] * 1000 / own["runtime"], rel=1e-6), op
            assert own["bw_bytes"] == own["io_bytes"] * 1000 // own["runtime"], op
        else:
            assert own["iops"] == own["runtime"] == own["bw_bytes"] == 0, op
    assert job["total_err"] == failed > 0
    assert job["error"] == job["first_error"] == errno.EIO


@pytest.mark.skipif(not (shutil.which("fio") and shutil.which("nbdkit")), reason="fio or nbdkit is not installed")
@pytest.mark.parametrize("rate", ["25%", "100%"])
def test_fio_counts_failed_requests_but_neither_their_bytes_nor_latencies(rate: str, tmp_path: Path) -> None:
    if "nbd" not in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True).stdout.split():
        pytest.skip("this fio has no engine for NBD")
    job = "[a]\nioengine=nbd\nuri=${uri}\nrw=randrw\nbs=4k\nsize=8m\nnorandommap\niodepth=8\n"
    (tmp_path / "job.fio").write_text(job + "continue_on_error=all\nerror_dump=0\n")
    drive = ["nbdkit", "-U", "-", "--filter=error", "memory", "8M", "error=EIO", f"error-pwrite-rate={rate}"]
    fio = "uri=$uri fio --output-format=json --output=fio.json job.fio"
    subprocess.run([*drive, "--run", fio], cwd=tmp_path, capture_output=True)  # fio's status tells of the errors
    assert_counted_as_fio_counts(Measured.load(tmp_path / "fio.json").report["jobs"][0], 4096)


@pytest.mark.parametrize("of_jobs", [True, False])
def test_requests_that_fail_are_counted_as_fio_counts_them(tiny: Path, tmp_path: Path, of_jobs: bool) -> None:
    job = "[a]\nrw=randrw\nbs=4k\nsize=8m\nnorandommap\niodepth=8\ntime_based\nruntime=400ms\n"
    synthetic = {"duration": "400ms", "queue_depth": 8, "read_percent": 50, "size": "4KiB"}
    layer = {
        "device": {
            "geometry": {"channels": 2, "dies_per_chip": 2, "blocks_per_plane": 64},
            "ftl": {"capacity": "16MiB"},
            "protection": {"data": 3},
        },
        "faults": [{"at": "60ms", "kind": "die", "die": 1}, {"at": "80ms", "kind": "die", "die": 2}],
        "workload": {"fio": {"job": job}} if of_jobs else {"synthetic": synthetic},
        "run": {"warm_up": "0s"},
    }
    report = to_fio(api.run(str(tiny), layer))
    assert_counted_as_fio_counts(report["jobs"][0], 4096)
    (tmp_path / "ours.json").write_text(json.dumps(report))
    assert figures(Measured.load(tmp_path / "ours.json").report) == figures(report)


def test_a_measured_drive_stands_beside_results(tiny: Path, tmp_path: Path) -> None:
    result = run(tiny, PAIR)
    folder = result.write(tmp_path / "ours")
    report = to_fio(result)
    drive = json.loads(json.dumps(report))
    drive["jobs"][0]["read"]["iops"] *= 2
    (tmp_path / "drive.json").write_text("fio: a warning\n" + json.dumps(drive))
    loaded = [load_any(str(tmp_path / "drive.json")), load_any(str(folder))]
    assert isinstance(loaded[0], Measured) and isinstance(loaded[1], api.Result)
    rows = with_measured(loaded)
    assert rows["names"] == ["drive", "tiny"]
    assert rows["figures"]["jobs.reader.read.iops"]["change"][1] == pytest.approx(-0.5)
    same = rows["figures"]["jobs.writer.write.latency_us.p99_99"]
    assert same["values"][0] == same["values"][1] is not None
    # Read back from its folder, a result says the same.
    assert figures(to_fio(loaded[1])) == figures(report)


def test_any_result_can_be_written_as_fio_does(tiny: Path) -> None:
    result = api.run("demo", {"workload": {"synthetic": {"duration": "600ms"}}})
    report = to_fio(result)
    (job,) = report["jobs"]
    host = result.summary["host"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (host["reads"], host["writes"])
    median = figures(report)[f"jobs.{job['jobname']}.read.latency_us.p50"]
    # fio's buckets are a 64th wide, and ours a thousandth.
    assert median == pytest.approx(result.summary["latency_us"]["read"]["p50"], rel=1 / 64 + 1e-3)


def test_requests_can_be_looked_at(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[a]\nrw=write\nbs=64k\nsize=1m\n")
    asked = requests(job, 1 << 30, latency_s=1e-3)
    assert [request.offset for request in asked] == [65536 * n for n in range(16)]
    assert asked[-1].at == pytest.approx(0.015)
