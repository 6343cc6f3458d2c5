"""Do published jobs for flexible data placement run as they are, and does the report say what handles cost?"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import outlast
from conftest import ROOT, Outlast
from outlast.fio import requests

PUBLISHED = """\
[global]
ioengine=io_uring_cmd
cmd_type=nvme
filename=/dev/ng0n1

[worker1]
rw=randwrite
numjobs=1
bs=128K
offset=0%
iodepth=128
numjobs=1
time_based=1
runtime=12000
log_avg_msec=1000
write_bw_log=1threadQD128_128Krandwrite
write_lat_log=1threadQD128_128Krandwrite
write_iops_log=1threadQD128_128Krandwrite
"""
"""WARP's job of one stream, `FIO-scripts/1stream/1stream.fio` of github.com/MoatLab/WARP-FAST26-AE, as it is."""

KEYS = ["fdp=1", "fdp=1\nfdp_pli=0,2", "fdp=1\nplids=1\nplid_select=random", "dataplacement=streams\nplids=3,4"]


def refused_keys(job: Path) -> set[str]:
    """Keys of a job that fio's own parser does not take."""
    parsed = subprocess.run(["fio", "--parse-only", str(job)], capture_output=True, text=True, check=False)
    keys = set(re.findall(r"Bad option <(\w+)", parsed.stdout + parsed.stderr))
    assert bool(keys) == (parsed.returncode != 0), parsed.stderr
    return keys


def test_the_published_job_asks_what_fio_reads_in_it(tmp_path: Path) -> None:
    job = tmp_path / "1stream.fio"
    job.write_text(PUBLISHED)
    asked = requests(job, capacity=1 << 30, latency_s=1e-4, most=1000)
    assert len(asked) == 1000
    assert {(own.op, own.bytes) for own in asked} == {("write", 128 << 10)}
    # The file name is all that a machine without such a drive has to change.
    job.write_text(PUBLISHED.replace("/dev/ng0n1", str(tmp_path / "file")).replace("offset", "size=1g\noffset"))
    if shutil.which("fio") is not None:
        assert not refused_keys(job)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed, so there is no oracle")
@pytest.mark.parametrize("keys", KEYS)
def test_fios_parser_takes_the_keys_of_handles_that_its_version_knows(keys: str, tmp_path: Path) -> None:
    listed = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=False).stdout
    unknown = {name for line in keys.splitlines() if f"\n{(name := line.split('=')[0])} " not in listed}
    job = tmp_path / "handles.fio"
    job.write_text(f"[a]\nioengine=io_uring_cmd\ncmd_type=nvme\nrw=write\nsize=1g\nfilename={tmp_path}/file\n{keys}\n")
    assert refused_keys(job) == unknown


SCENARIO = """\
extends = "demo"
[device.ftl]
capacity = "1GiB"
[[device.placement.configurations]]
handles = ["initially-isolated", "persistently-isolated", "initially-isolated"]
[precondition]
fill = "none"
overwrite = "none"
[run]
warm_up = "0s"
[workload.fio]
file = "job.fio"
"""


@pytest.mark.parametrize(
    ("keys", "by_handle"),
    [
        ("", [4, 0, 0]),
        ("fdp=1", [2, 1, 1]),
        ("fdp=1\nplids=2,0", [2, 0, 2]),
        ("dataplacement=streams\nplids=1", [0, 4, 0]),
        ("fdp=1\nplid_select=scheme\ndp_scheme=ranges", [1, 2, 1]),
    ],
)
def test_keys_of_a_job_choose_the_handles(keys: str, by_handle: list[int], tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text(f"[a]\nrw=write\nbs=64k\nsize=256k\n{keys}\n")
    (tmp_path / "ranges").write_text("0,65536,2\n65536,196608,1\n")
    result = outlast.run(tmp_path / "scenario.toml")
    handles = result.summary["placement"]["handles"]
    assert [own["host_bytes"] >> 16 for own in handles] == by_handle


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("fdp=1\nplids=3", "plids=3: must be below the placement handles of the drive, 3"),
        ("dataplacement=streams", "dataplacement=streams: needs plids"),
        ("fdp=1\nplid_select=scheme", "plid_select=scheme: needs dp_scheme"),
        ("cmd_type=scsi", "cmd_type=scsi: expected nvme"),
    ],
)
def test_what_fio_would_refuse_is_refused_by_line(keys: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text(f"[a]\nrw=write\nbs=64k\nsize=256k\n{keys}\n")
    with pytest.raises(outlast.OutlastError, match=said):
        outlast.run(tmp_path / "scenario.toml")


def test_a_configuration_that_cannot_be_is_refused_with_value_and_limit(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nsize=1m\n")
    for more, said in (
        ("configuration = 1", "device.placement.configuration = 1: must be below the number of configurations, 1"),
        ("placement_handles = [0, 9]", "device.placement.placement_handles[1] = 9: must be below"),
        ("placement_handles = [1, 1]", "device.placement.placement_handles[1] = 1: is listed twice"),
    ):
        text = SCENARIO.replace("[[device.placement", f"[device.placement]\n{more}\n[[device.placement")
        (tmp_path / "scenario.toml").write_text(text)
        done = outlast("validate", str(tmp_path / "scenario.toml"), check=False)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    three = ROOT / "scenarios" / "examples" / "three-streams.toml"
    done = outlast("validate", str(three), "--set", "device.ftl.streams=2", check=False)
    assert "device.ftl.streams = 2: must be 1 with device.placement" in done.stderr


def test_the_terminal_says_what_each_handle_cost(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nbs=64k\nsize=64m\nfdp=1\nplids=0,2\n")
    said = " ".join(outlast("run", str(tmp_path / "scenario.toml"), "--out", str(tmp_path / "out")).stdout.split())
    assert re.search(r"handles 2 of 3 write amplification: handle \d \d\.\d{3}, handle \d \d\.\d{3}", said), said


def test_the_report_says_what_each_handle_cost(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text("[a]\nrw=randwrite\nbs=64k\nsize=64m\nfdp=1\n")
    page = outlast.run(tmp_path / "scenario.toml").report(tmp_path / "report.html").read_text()
    assert "Flexible data placement" in page and "Reclaim unit handles" in page
    assert "The host wrote through 3 of 3 handles" in page


GROUPED = """\
extends = "demo"
[device.controller]
flash_cores = 2
[device.ftl]
capacity = "2GiB"
[[device.placement.configurations]]
handles = ["initially-isolated", "initially-isolated"]
reclaim_groups = 2
[precondition]
fill = "none"
overwrite = "none"
[run]
warm_up = "0s"
[workload.fio]
file = "job.fio"
"""


def test_identifiers_of_a_job_name_handle_and_group(tmp_path: Path) -> None:
    """Identifier 3 of two groups is the second handle in the second group; both have all of its bytes."""
    (tmp_path / "grouped.toml").write_text(GROUPED)
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nbs=64k\nsize=64m\nfdp=1\nplids=3\n")
    placement = outlast.run(tmp_path / "grouped.toml").summary["placement"]
    assert [own["host_bytes"] for own in placement["handles"]] == [0, 64 << 20]
    assert [own["placement_identifier"] for own in placement["handles"]] == [0, 2]
    assert [own["host_bytes"] for own in placement["groups"]] == [0, 64 << 20]
    assert [own["valid_bytes"] for own in placement["groups"]] == [0, 64 << 20]
    assert all(own["most_bytes"] > 1 << 30 and own["elsewhere_bytes"] == 0 for own in placement["groups"])
    page = outlast.run(tmp_path / "grouped.toml").report(tmp_path / "report.html").read_text()
    assert "Reclaim groups" in page


def test_what_does_not_go_with_groups_is_refused_with_value_and_limit(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=write\nsize=64m\nfdp=1\nplids=4\n")
    groups, cache = (
        "configurations[0].reclaim_groups = 4: must divide",
        "device.controller.write_cache = off: must be protected",
    )
    for here, there, said in (
        ("", "", "plids=4: must be below the placement handles of the drive, 4"),
        ("reclaim_groups = 2", "reclaim_groups = 4", groups),
        ("flash_cores = 2", "flash_cores = 2\nwrite_cache = 'off'", cache),
    ):
        (tmp_path / "grouped.toml").write_text(GROUPED.replace(here, there) if here else GROUPED)
        done = outlast("run", str(tmp_path / "grouped.toml"), "--out", str(tmp_path / "out"), check=False)
        assert done.returncode == 2 and said in done.stderr, done.stderr
