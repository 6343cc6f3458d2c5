"""Is the plan of a fit what fio and Outlast take, in the time that it promises, and harmless until it is run?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Outlast
from outlast import fio
from outlast.errors import ScenarioError
from outlast.products.fit import plan
from outlast.products.fit.measured import of_text
from outlast.products.fit.observe import observations
from patience import PATIENCE_S

RATES = {"READS": "2000", "WRITES_25": "1000", "WRITES_50": "2000", "WRITES_75": "3000"}
TARGETS = [("/dev/nvme0n1", None), ("fit.dat", "10GB")]


@pytest.mark.parametrize(("target", "size"), TARGETS)
def test_job_files_are_what_fio_takes(target: str, size: str | None, tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    # All at once, since fio measures its clock at each start, and all have the same global options.
    files = [file for file in plan.write(target, tmp_path / "plan", size=size) if file.suffix == ".fio"]
    heads = {file.read_text().partition("\n\n")[0] for file in files}
    assert len(heads) == 1
    command = ["fio", "--parse-only", *map(str, files)]
    done = subprocess.run(command, env=os.environ | RATES, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("target", "size"), TARGETS)
def test_outlast_reads_the_job_files(target: str, size: str | None, tmp_path: Path) -> None:
    for file in plan.write(target, tmp_path / "plan", size=size):
        if file.suffix == ".fio":
            asked = fio.requests(file, 10**10, variables=RATES, most=20)
            assert len(asked) == 20, file.name
            if file.parent.name == "reads-only":
                assert {each.op for each in asked} == {"read"}


def test_the_plan_ends_within_six_hours() -> None:
    assert sum(job.seconds for job in plan.jobs("/dev/nvme0n1")) <= 6 * 3600


def test_the_readme_names_every_job_and_nothing_is_overwritten(outlast: Outlast, tmp_path: Path) -> None:
    outlast("fit", "--plan", "/dev/nvme0n1", "-o", "plan")
    text = (tmp_path / "plan" / "README.md").read_text()
    for file in (tmp_path / "plan").glob("*.fio"):
        assert file.name in text
    again = outlast("fit", "--plan", "/dev/nvme0n1", "-o", "plan", check=False)
    assert again.returncode == 2
    assert again.stderr.endswith("plan: the folder is not empty; name another\n"), "fit has no --force"
    refused = outlast("fit", "--plan", "fit.dat", "-o", "other", check=False)
    assert refused.returncode == 2
    assert "not a device; give the maximum size of the file with --size" in refused.stderr


def test_what_the_plan_gives_is_what_stages_use(
    outlast: Outlast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every measuring job, run on a simulated drive, becomes a row of which a stage uses a figure."""
    written = plan.write("/dev/nvme0n1", tmp_path / "plan", seconds=0.5)
    reports = []
    for file in written:
        if file.parent.name == "plan" and file.suffix == ".fio" and file.name[3:7] not in ("fill", "wear"):
            for name, rate in RATES.items():
                monkeypatch.setenv(name, rate)
            done = outlast("run", file, "--preset", "demo", "--quiet", "--format", "fio")
            reports.append(file.with_suffix(".json"))
            reports[-1].write_text(done.stdout)
    told = 'capacity = "3584MiB"\nfio = "plan/*.json"\n[waf]\nuniform-100 = 4.6\n'
    measured = of_text("measured.toml", told, tmp_path)
    used = {each.stage for each in observations(measured.rows)} - {""}
    assert used == {"host", "read", "dies", "link", "program", "waf", "buffer", "suspend", "pacing"}
    fills = {row.load.user_bytes for row in measured.rows if "uniform" in row.place}
    assert fills == {measured.capacity * percent / 100 for percent in plan.FILLS}


@pytest.mark.parametrize(
    ("waf", "says"),
    [
        ("nan", "waf = nan: must be a number of at least 1, and at most 1000"),
        ("true", "waf = True: must be a number of at least 1"),
        ("2\nother = 2", "m: waf.other = 2: no job that measures has this name; there are a"),
    ],
)
def test_a_write_amplification_is_that_of_a_job(tmp_path: Path, waf: str, says: str) -> None:
    side = {"total_ios": 9000, "iops": 150.0, "clat_ns": {"mean": 5e4, "percentile": {"50.000000": 50_000}}}
    job = {"jobname": "a", "error": 0, "job options": {"rw": "randwrite", "iodepth": "32"}, "write": side}
    (tmp_path / "r.json").write_text(json.dumps({"fio version": "fio-3.36", "jobs": [job]}))
    with pytest.raises(ScenarioError, match=re.escape(says)):
        of_text("m", f'capacity = "8GB"\nfio = "r.json"\n[waf]\na = {waf}\n', tmp_path)


def test_jobs_without_percentiles_or_at_the_same_time_are_refused(tmp_path: Path) -> None:
    latency = {"mean": 1e5, "N": 100}
    job = {
        "jobname": "r",
        "job options": {"rw": "randread", "bs": "4k", "stonewall": "1"},
        "read": {"total_ios": 100, "iops": 10.0, "clat_ns": latency},
    }
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    head = 'capacity = "1GB"\nfio = "a.json"\n'
    with pytest.raises(ScenarioError, match=r"a\.json, job r: read: no percentiles"):
        of_text("m", head, tmp_path)
    latency["percentile"] = {"50.000000": 1e5}  # type: ignore[assignment]
    both = [job, job | {"jobname": "s", "job options": {"rw": "randread"}}]
    file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": both}))
    with pytest.raises(ScenarioError, match=r"a\.json, job r: ran beside s; each"):
        of_text("m", head, tmp_path)


@pytest.mark.parametrize("size", ["1B", "1KB", "255MiB", "268435455"])
def test_a_file_too_small_for_a_burst_is_refused_as_fio_takes_size_0_for_all_of_it(
    outlast: Outlast, tmp_path: Path, size: str
) -> None:
    done = outlast("fit", "--plan", "fit.dat", "--size", size, "-o", "plan", check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.startswith(f"error: --size = {size}: must be at least 256MiB, "), done.stderr
    sizes = {line for job in plan.jobs("fit.dat", size="256MiB") for line in job.text.splitlines() if "size=" in line}
    assert sizes and not any(line.endswith("=0m") for line in sizes)


@pytest.mark.parametrize("target", ["/dev/nvme0n1\nexec_prerun=true", "fit\rdat", "fit\tdat", "\x1b[31m"])
def test_control_characters_of_a_target_reach_no_job_file(outlast: Outlast, tmp_path: Path, target: str) -> None:
    done = outlast("fit", "--plan", target, "--size", "1GB", "-o", "plan", check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.startswith(f"error: --plan {target!a}: must be one line"), done.stderr
