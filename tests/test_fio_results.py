"""Are results that fio wrote read as fio means them?"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from outlast import fio
from outlast.products.fit.fio import from_report
from outlast.products.fit.rows import MeasuredError, Noise


def fio_json(
    tmp_path: Path, *options: dict[str, str], times: dict[str, int] | None = None, groups: bool = False, **more: Any
) -> Path:
    """A file that fio would write of jobs of random reads with these options; `groups`: each begins a new one."""
    percentiles = {"percentile": {"50.000000": 80_000, "99.000000": 120_000}, "mean": 82_000.0, "N": 10_000}
    side = {"total_ios": 10_000, "iops": 10_000.0, "clat_ns": percentiles, **more}
    jobs, group = [], 0
    for index, each in enumerate(options):
        group += index > 0 and (groups or "stonewall" in each)
        own = {"jobname": f"job{index}", "groupid": group, "error": 0, "job options": {"bs": "4k", **each}}
        jobs.append(own | (times or {}) | {"read": side})
    file = tmp_path / "fio.json"
    file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": jobs}))
    return file


def rows(file: Path) -> list[Any]:
    return from_report(file, 1e9, Noise(), {})


def test_the_first_job_before_a_stonewall_ran_by_itself(tmp_path: Path) -> None:
    alone, walled = {"rw": "randread"}, {"rw": "randread", "stonewall": "1"}
    assert len(rows(fio_json(tmp_path, alone, walled))) == 2
    with pytest.raises(MeasuredError, match="job job1: ran beside job2"):
        rows(fio_json(tmp_path, alone, walled, alone))


FIO = shutil.which("fio")
JOBS = """[global]
ioengine=psync
filename=file
size=256k
bs=4k
group_reporting
[one]
rw=randread
numjobs=2
[two]
stonewall
rw=randread
"""


@pytest.mark.skipif(FIO is None, reason="needs fio")
def test_jobs_that_fio_itself_ran_after_each_other_are_taken_as_such(tmp_path: Path) -> None:
    # Neither stonewall nor group_reporting is in the JSON, where they have no value.
    (tmp_path / "jobs.fio").write_text(JOBS)
    command = [str(FIO), "--output-format=json+", "--output=fio.json", "jobs.fio"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [row.load.depth for row in rows(tmp_path / "fio.json")] == [2, 1]


def test_groups_that_took_longer_than_fio_ran_ran_together(tmp_path: Path) -> None:
    # So fio writes of new_group, which begins a group and does not wait.
    file = fio_json(
        tmp_path, {"rw": "randread"}, {"rw": "randread"}, groups=True, times={"job_runtime": 3000, "elapsed": 4}
    )
    with pytest.raises(MeasuredError, match="job job0: ran beside job1"):
        rows(file)
    file = fio_json(
        tmp_path, {"rw": "randread"}, {"rw": "randread"}, groups=True, times={"job_runtime": 3000, "elapsed": 7}
    )
    assert len(rows(file)) == 2


def test_a_mix_of_one_direction_is_that_direction(tmp_path: Path) -> None:
    for options, wanted in (
        ({"rw": "rw", "rwmixread": "100"}, "read"),
        ({"rw": "randrw", "rwmixread": "100"}, "randread"),
        ({"rw": "rw", "rwmixwrite": "100"}, "write"),
    ):
        assert rows(fio_json(tmp_path, options))[0].load.workload == wanted
    with pytest.raises(MeasuredError, match="rw = rw: not a load"):
        rows(fio_json(tmp_path, {"rw": "rw", "rwmixread": "70"}))


def test_a_result_of_fio_2_is_said_to_be_one(tmp_path: Path) -> None:
    old: dict[str, Any] = {"clat_ns": None, "clat": {"percentile": {"50.000000": 80}, "mean": 82.0}}
    with pytest.raises(MeasuredError, match=r"written by fio 2\.x"):
        rows(fio_json(tmp_path, {"rw": "randread"}, **old))


def test_latencies_and_bandwidths_of_fio_2_are_compared_in_their_units(tmp_path: Path) -> None:
    side = {"total_ios": 1000, "iops": 100.0, "bw": 2048, "clat": {"mean": 82.0, "percentile": {"99.000000": 120}}}
    found = fio.figures({"fio version": "fio-2.16", "jobs": [{"jobname": "a", "read": side}]})
    named = {name.removeprefix("jobs.a.read."): value for name, value in found.items()}
    assert (named["mib_s"], named["latency_us.mean"], named["latency_us.p99"]) == (2.0, 82.0, 120.0)
