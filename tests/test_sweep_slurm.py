"""Is a SLURM queue given what was asked for, and does what it refuses end a sweep with the queue's own words?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Outlast
from outlast.errors import ScenarioError
from patience import PATIENCE_S, eventually

pytest.importorskip("dask_jobqueue")

SWEEP = """\
name = "spare"
scenario = "tiny.toml"
[[vary]]
setting = "device.ftl.gc.policy"
values = ["greedy", "fifo"]
"""
QUIET = {"interface": "lo", "scheduler_options": {"dashboard_address": None}}
REFUSES = "echo 'error: invalid partition specified' >&2; echo '  (long)' >&2; exit 1"


@pytest.fixture(autouse=True)
def spare(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sweep, and the folder of the programs of a queue, which the tests put there."""
    (tiny.parent / "spare.toml").write_text(SWEEP)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DASK_CONFIG", str(tmp_path / "none"))
    program(tmp_path, "sbatch", "exit 1")
    program(tmp_path, "scancel", f'echo "$@" >>{tmp_path}/cancelled')
    return tiny.parent / "spare.toml"


def program(folder: Path, name: str, does: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{does}\n")
    (folder / name).chmod(0o755)


def command(*options: str) -> list[str]:
    given = [text for option in options for text in ("--slurm", option)]
    return ["sweep", "spare.toml", "--on", "slurm", "--slurm", "interface=lo", *given]


def assert_refused(outlast: Outlast, folder: Path, says: str, *options: str) -> None:
    done = outlast(*command(*options), check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"error: {says}"]
    assert not (folder / "out").exists()


def test_a_job_that_sbatch_refuses_ends_the_sweep_in_the_words_of_sbatch(outlast: Outlast, tmp_path: Path) -> None:
    program(tmp_path, "sbatch", REFUSES)
    words = "error: invalid partition specified (long)"
    assert_refused(outlast, tmp_path, f"on = slurm: sbatch refuses job 1 of 1: {words}", "queue=long")


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("#!/bin/sh\nexit 7\n", "sbatch refuses job 1 of 1: exit code 7"),
        ("#!/bin/sh\necho maintenance\n", "sbatch gives no number to job 1 of 1: maintenance"),
        ("#!/bin/sh\n", "sbatch gives no number to job 1 of 1: it prints nothing"),
        ("", "sbatch cannot be run: Exec format error"),
    ],
)
def test_an_sbatch_that_takes_no_job_without_a_word_is_named(tmp_path: Path, does: str, says: str) -> None:
    from outlast.points.slurm import queued

    (tmp_path / "sbatch").write_text(does)
    with pytest.raises(ScenarioError) as refused, queued(QUIET):
        pytest.fail("no job was submitted")
    assert str(refused.value) == f"on = slurm: {says}"


def test_jobs_that_sbatch_took_before_it_refused_one_are_cancelled(outlast: Outlast, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    program(tmp_path, "sbatch", f"echo x >>{taken}; test $(wc -l <{taken}) = 3 && exit 1; echo Submitted 7$$")
    assert_refused(outlast, tmp_path, "on = slurm: sbatch refuses job 3 of 4: exit code 1", "jobs=4")
    assert len((tmp_path / "cancelled").read_text().split()) == 2


@pytest.mark.parametrize("does", ["exec sleep 1000", "echo Submitted batch job 17"], ids=["submitting", "waiting"])
def test_ctrl_c_ends_a_sweep_that_waits_for_the_queue(tmp_path: Path, does: str) -> None:
    program(tmp_path, "sbatch", f"echo x >{tmp_path}/called; {does}")
    # The first progress is told before the queue is asked, the folder made after.
    shown = tmp_path / ("called" if "sleep" in does else "out/spare/points")
    call = [sys.executable, "-m", "outlast", *command()]
    with subprocess.Popen(call, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as sweep:
        assert eventually(lambda: shown.exists() or sweep.poll() is not None)
        sweep.send_signal(signal.SIGINT)
        messages = sweep.communicate(timeout=PATIENCE_S)[1]
    assert sweep.returncode == 130
    *waits, line = messages.splitlines()
    assert all("waiting for workers" in each for each in waits)
    assert line.startswith("stopped by Ctrl-C: at least 0 of 2 runs are kept")
    cancelled = tmp_path / "cancelled"
    assert ("sleep" in does) or cancelled.read_text().split() == ["17"]


def test_texts_of_digits_stay_texts_unless_the_option_is_a_number() -> None:
    from outlast.points.slurm import cluster_of, options_of

    given = [("account", "0042"), ("queue", "7"), ("cores", "04"), ("jobs", "20"), ("nanny", "false")]
    options = options_of(given)
    assert options == {"account": "0042", "queue": "7", "cores": 4, "jobs": 20, "nanny": False}
    with cluster_of(options | QUIET) as made:
        lines = made.job_script().splitlines()
    for line in ("#SBATCH -A 0042", "#SBATCH -p 7", "#SBATCH --cpus-per-task=4"):
        assert line in lines, lines
    # A list may be given piece by piece, as the command line has to.
    pieces = [("job_extra_directives", "--gres=gpu:1"), ("job_extra_directives", "--exclusive")]
    assert options_of(pieces) == {"job_extra_directives": ["--gres=gpu:1", "--exclusive"]}


WHOLE = "must be a whole number from 1 to 100000"


@pytest.mark.parametrize(
    ("option", "limit"),
    [
        *(
            (f"{name}={value}", WHOLE)
            for name in ("jobs", "cores", "processes", "job_cpu")
            for value in ("²", "0", "x")
        ),
        ("jobs=100001", WHOLE),
        ("cores=-1", WHOLE),
        ("cores=1.5", WHOLE),
        ("processes=2", "must be at most slurm.cores = 1"),
        ("memory=much", "must be a size of at least 1 KiB, such as 2GB"),
        ("memory=0", "must be a size of at least 1 KiB, such as 2GB"),
        ("memory=infGB", "must be a size of at least 1 KiB, such as 2GB"),
        ("nanny=maybe", "must be true or false"),
        ("queue=", "must be one line of text"),
        ("protocol=ucx", "must be one of tcp, tls, ws, wss"),
        ("config_name=none", "must be a section of jobqueue in Dask's configuration"),
        ("security=tls", "must be an object of Python, by outlast.sweep"),
        ("quue=long", 'is no option of dask_jobqueue.SLURMCluster; did you mean "queue"?'),
    ],
)
def test_an_option_that_no_queue_can_have_is_refused_with_its_limit(option: str, limit: str) -> None:
    from outlast.points.slurm import options_of

    name, _, value = option.partition("=")
    with pytest.raises(ScenarioError) as refused:
        options_of([(name, value)])
    assert str(refused.value) == f"slurm.{name} = {value}: {limit}"


def test_options_of_python_are_checked_as_those_of_the_command_line_are() -> None:
    from outlast.points.slurm import options_of

    for name, value in (("cores", True), ("jobs", None), ("memory", -1), ("worker_extra_args", 3), ("cores", 2.0)):
        with pytest.raises(ScenarioError, match=rf"^slurm\.{name} = {value}: must be "):
            options_of([(name, value)])
    assert options_of([("cores", None), ("account", 42)]) == {"cores": None, "account": 42}


def test_what_only_dask_finds_wrong_in_options_is_said_in_one_line(outlast: Outlast, tmp_path: Path) -> None:
    done = outlast(*command("interface=eth99"), check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: slurm.interface = eth99: 'eth99' is not a valid network interface")
    done = outlast(*command("protocol=tls"), check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "'protocol': 'tls'" in line
    assert "ssl_context" in line
    assert not (tmp_path / "out").exists()
