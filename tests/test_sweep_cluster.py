"""Is a sweep the same, to the byte, wherever and in whatever order its runs are made, and whatever dies on the way?"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import TINY
from outlast.errors import ScenarioError
from outlast.policies import View
from outlast.sweeps.result import FILES

GRID: dict[str, Any] = {
    "name": "grid",
    # Long enough that there is a midway.
    "set": {"workload.synthetic.duration": "8s"},
    "repeats": 2,
    "vary": [
        {"setting": "device.ftl.capacity", "from": 22, "to": 25.5, "steps": 8, "unit": "MiB"},
        {"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]},
        {"setting": "workload.synthetic.read_percent", "values": [50, 70]},
    ],
}
"""64 runs: 32 points, each twice."""


def grid(folder: Path) -> dict[str, Any]:
    (folder / "tiny.toml").write_text(TINY)
    return GRID | {"scenario": str(folder / "tiny.toml")}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The sweep, and the folder of what one process made of it."""
    folder = tmp_path_factory.mktemp("serial")
    spec = grid(folder)
    done = outlast.sweep(spec, folder / "out", jobs=1)
    assert done.summary["runs"] == 64
    assert not done.failed
    return spec, folder / "out"


def assert_same(one: Path, other: Path) -> None:
    """Every file, the kept runs included."""
    for name in FILES:
        if name not in {"points", "optuna.journal"}:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
    records = {file.name: file.read_bytes() for file in (one / "points").iterdir()}
    assert len(records) == 64
    assert records == {file.name: file.read_bytes() for file in (other / "points").iterdir()}


def test_two_processes_one_of_which_dies(serial: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    spec, expected = serial
    from outlast.points.workers import Processes

    started: list[int] = []
    real = Processes._start

    def start(self: Processes) -> Any:
        program = real(self)
        started.append(program.pid)
        return program

    def progress(done: int, wanted: int) -> None:
        if done == 20:
            os.kill(started[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Processes, "_start", start)
        done = outlast.sweep(spec, tmp_path / "out", jobs=2, progress=progress)
    assert len(started) == 3
    assert not done.failed
    assert_same(expected, tmp_path / "out")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Dask cluster of two workers on this machine, each a process of its own."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(Path(outlast.__file__).resolve().parents[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as made:
            yield made


def test_a_dask_cluster_one_of_whose_workers_is_killed(
    serial: tuple[dict[str, Any], Path], cluster: Any, tmp_path: Path
) -> None:
    spec, expected = serial
    pids = {worker.pid for worker in cluster.workers.values()}
    assert len(pids) == 2
    killed: list[int] = []
    told: list[tuple[int, int]] = []

    def progress(done: int, wanted: int) -> None:
        told.append((done, wanted))
        if done == 20:
            killed.append(min(pids))
            os.kill(killed[0], signal.SIGKILL)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = outlast.sweep(spec, tmp_path / "out", on=cluster.scheduler_address, progress=progress)
    assert killed
    assert killed[0] not in {worker.pid for worker in cluster.workers.values()}
    assert not done.failed
    assert told == [(count, 64) for count in range(65)]
    assert_same(expected, tmp_path / "out")
    # What fails there fails as it does here: tried again, and with its own words.
    taken = {"setting": "faults", "values": [[{"at": "10ms", "kind": "replace", "device": 1}]]}
    array = {"level": "raid0", "members": 2, "consistency": "resync"}
    lost = spec | {"name": "lost", "vary": [taken], "set": {"array": array, "workload.synthetic.duration": "100ms"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = outlast.sweep(lost, tmp_path / "lost", on=cluster.scheduler_address)
    assert there.failed == outlast.sweep(lost, tmp_path / "here", jobs=1).failed
    assert len(there.failed) == 2
    assert "holds the only copy" in there.failed[0]["error"]


def test_code_that_stands_in_no_file_goes_to_the_workers_of_a_dask_cluster(
    cluster: Any, tiny: Path, tmp_path: Path
) -> None:
    newest = 60

    class Rested:
        """Remembers, and knows a name from around it."""

        def __init__(self) -> None:
            self.asked = 0

        def __call__(self, view: View) -> int | None:
            self.asked += 1
            old = view.gains & (view.order < view.order.max() - newest)
            return view.least(view.valid, old if old.any() else None)

    gc = {"setting": "policies.gc", "values": ["fifo", Rested]}
    share = {"setting": "policies.pacing", "values": [lambda one: 1 - one.valid / one.units], "labels": ["by valid"]}
    spec = {"scenario": str(tiny), "figures": ["write_amplification.total"], "pareto": [], "vary": [gc, share]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = outlast.sweep(spec, tmp_path / "out", on=cluster.scheduler_address)
    assert not there.failed
    here = outlast.sweep(spec, tmp_path / "here", jobs=1)
    assert [point["figures"] for point in there.points] == [point["figures"] for point in here.points]
    fifo, rested = (point["figures"]["write_amplification.total"]["mean"] for point in there.points)
    assert fifo != rested


def test_a_worker_of_another_build_is_found_out(
    serial: tuple[dict[str, Any], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from outlast.points import job

    # What this process takes for the simulator is not what its workers find.
    monkeypatch.setattr(job, "simulator_hash", lambda: "another build")
    spec = serial[0] | {"repeats": 1, "vary": GRID["vary"][:1], "retries": 0}
    done = outlast.sweep(spec, tmp_path / "out", jobs=2)
    assert len(done.failed) == 8
    assert all("another build of Outlast" in run["error"] for run in done.failed)


def test_no_cluster_there(serial: tuple[dict[str, Any], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from outlast.points import dask_client

    clients, start = list[Any](), distributed.Client.start

    def noted(self: Any, **more: Any) -> Any:
        clients.append(self)
        return start(self, **more)

    monkeypatch.setattr(distributed.Client, "start", noted)
    monkeypatch.setattr(dask_client, "ANSWER_WITHIN_S", 1)
    with pytest.raises(ScenarioError, match=r"on = tcp://127\.0\.0\.1:9: no Dask scheduler answers there within 1 s"):
        outlast.sweep(serial[0], tmp_path / "out", on="tcp://127.0.0.1:9")
    # What is closed has nothing left to do, and to stumble over, when it is collected.
    assert [client.status for client in clients] == ["closed"]
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(ScenarioError, match=r"on = slurm: there is no sbatch"):
        outlast.sweep(serial[0], tmp_path / "out", on="slurm")
    with pytest.raises(ScenarioError, match=r"on = cluster: must be the address"):
        outlast.sweep(serial[0], tmp_path / "out", on="cluster")
    with pytest.raises(ScenarioError, match=r"slurm = .*belongs to on = slurm"):
        outlast.sweep(serial[0], tmp_path / "out", slurm={"queue": "long"})
    with pytest.raises(ScenarioError, match=r"jobs = 2: .*on = slurm has its own workers"):
        outlast.sweep(serial[0], tmp_path / "out", on="slurm", jobs=2)
    (programs / "sbatch").touch(mode=0o755)
    with pytest.raises(ScenarioError, match=r"slurm.jobs = many: must be a whole number"):
        outlast.sweep(serial[0], tmp_path / "out", on="slurm", slurm={"jobs": "many"})
    assert list(tmp_path.iterdir()) == [programs]


def test_the_script_that_a_slurm_queue_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    from outlast.points.slurm import cluster_of

    monkeypatch.setenv("DASK_CONFIG", str(tmp_path))
    options = {"queue": "long", "walltime": "02:30:00", "account": "flash", "cores": 4, "memory": "8GB", "jobs": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with cluster_of(options) as made:
            lines = made.job_script().splitlines()
        with pytest.raises(ScenarioError, match=r"slurm\.quue = long: .*did you mean \"queue\""):
            cluster_of({"quue": "long"})
    for line in (
        "#SBATCH -p long",
        "#SBATCH -A flash",
        "#SBATCH -t 02:30:00",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --mem=8G",
    ):
        assert line in lines, lines
    (command,) = (line for line in lines if "distributed.cli.dask_worker" in line)
    assert "--nthreads 4" in command


SBATCH = """\
#!/bin/sh
# Keeps the job's script, which goes away, and runs it at once, as a queue with free nodes would.
cp "$1" "$0.$$"
sh "$0.$$" >>"$0.log" 2>&1 &
echo $! >>"$0.pids"
echo "Submitted batch job $!"
"""


def test_a_queue_that_runs_its_jobs(
    serial: tuple[dict[str, Any], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("dask_jobqueue")
    spec, expected = serial
    for name, text in (("sbatch", SBATCH), ("scancel", '#!/bin/sh\nkill "$@"\n')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(outlast.__file__).resolve().parents[1]))
    monkeypatch.chdir(tmp_path)
    options = {"jobs": 2, "memory": "1GB", "interface": "lo"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = outlast.sweep(spec, tmp_path / "out", on="slurm", slurm=options)
    assert not done.failed
    assert_same(expected, tmp_path / "out")
    assert len((tmp_path / "sbatch.pids").read_text().split()) == 2
