"""What becomes of a sweep whose Dask cluster is elsewhere, is not there yet, or goes away?"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast
from outlast import api, log
from outlast.errors import OutputError, ScenarioError
from outlast.points import Job, cluster, dask_client, key_of, measure
from outlast.points.elsewhere import Sent
from outlast.points.job import measure_elsewhere, simulator_hash

distributed = pytest.importorskip("distributed")

FIFO = """\
def oldest(view):
    return view.least(view.order)

def none(view):
    raise ValueError("no reason")
"""
FIO = "[a]\nrw=randwrite\nsize=8m\nnumber_ios=200\ninclude more.inc\n"
TRACE = "".join(f"{128166372003061629 + i * 10000},h,0,Write,{4096 * i},4096,0\n" for i in range(50))
POLICIES = {"setting": "policies.gc", "values": ["pol.py:oldest", "pol.py:none"]}


@pytest.fixture
def study(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a scenario and files that scenarios read."""
    folder = tiny.parent
    monkeypatch.chdir(folder)
    texts = {"pol.py": FIFO, "job.fio": FIO, "more.inc": "bs=4k\n", "trace.csv": TRACE}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


@contextmanager
def workers(count: int, **options: Any) -> Iterator[Any]:
    """A Dask cluster of workers in processes of their own."""
    with (
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("ignore")
        patch.setenv("PYTHONPATH", str(Path(outlast.__file__).resolve().parents[1]))
        options |= {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
        with distributed.LocalCluster(n_workers=count, **options) as made:
            yield made


READ: dict[str, dict[str, Any]] = {
    "policies": {"policies": {"gc": "pol.py:oldest"}},
    "fio": {"workload": {"fio": {"file": "job.fio"}}},
    "trace": {"workload": {"trace": {"file": "trace.csv"}}},
    "snapshot": {"precondition": {"from": "prepared.outlast"}},
}
"""Settings that read files, by what these are."""


@pytest.mark.parametrize("kind", READ)
def test_a_file_by_a_relative_path_gives_the_same_record_in_every_folder(
    study: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "snapshot":
        outlast.snapshot("tiny.toml", "prepared.outlast")
    quick = {"precondition": {"overwrite": "none", "fill": "none"}} if kind == "trace" else {}
    scenario = api.resolve(["tiny.toml", quick | {"run": {"warm_up": "0s"}} | READ[kind]])
    job = Job(scenario, key_of(scenario))
    here = measure(job)
    sent = Sent.of(job)
    assert sent.names
    assert all(Path(path).is_absolute() for _, path in sent.inputs)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    there = measure_elsewhere(sent.scenario, job.key, simulator_hash(), sent.inputs)
    assert there != here
    assert list(sent.record(there).items()) == list(here.items())


def test_workers_in_another_folder_find_the_files_of_a_sweep(
    study: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"name": "own", "scenario": "tiny.toml", "vary": [POLICIES], "retries": 0}
    here = outlast.sweep(spec, study / "here", jobs=1)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with workers(1) as made:
        monkeypatch.chdir(study)
        there = outlast.sweep(spec, study / "there", on=made.scheduler_address)
    # What fails there fails in the same words, too.
    assert len(here.failed) == 1
    assert "policies.gc = pol.py:none" in here.failed[0]["error"]
    assert there.to_json() == here.to_json()
    kept = [
        {file.name: file.read_bytes() for file in (study / name / "points").iterdir()} for name in ("here", "there")
    ]
    assert kept[0] == kept[1]


def test_a_file_that_workers_lack_is_named_by_the_path_at_which_it_is_looked_for(study: Path) -> None:
    error = OutputError(f"{study}/pol.py: cannot be opened")
    scenario = api.resolve(["tiny.toml", READ["policies"]])
    assert str(Sent.of(Job(scenario, key_of(scenario))).error(error)) == f"{study}/pol.py: cannot be opened"


def test_a_sweep_says_that_it_waits_for_workers(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SILENCE_S", 0.01)
    said: list[str] = []
    spec = {"name": "late", "scenario": "tiny.toml", "vary": [POLICIES | {"values": ["fifo", "pol.py:oldest"]}]}
    with workers(0, processes=False) as made:

        def say(text: str, *_: Any, **facts: Any) -> None:
            said.append(text)
            made.scale(1)

        monkeypatch.setattr(log, "say", say)
        done = outlast.sweep(spec, study / "out", on=made.scheduler_address)
    assert not done.failed
    where = made.scheduler_address
    assert said == [f"on = {where}: waiting for workers, of which the Dask scheduler has none (Ctrl-C ends this)"]


SCHEDULER = """\
import asyncio
from distributed import Scheduler, Worker
async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address=None) as scheduler:
        async with Worker(scheduler.address, nthreads=1):
            print(scheduler.address, flush=True)
            await scheduler.finished()
asyncio.run(main())
"""


@contextmanager
def scheduler() -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of a scheduler with a worker, in a program that the function kills."""
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        try:
            assert program.stdout is not None
            yield program.stdout.readline().strip(), program.kill
        finally:
            program.kill()


def test_a_scheduler_that_dies_ends_a_sweep_in_one_line(study: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid = {"setting": "workload.synthetic.rate_iops", "from": 1000, "to": 2000, "steps": 12}
    spec = {"name": "grid", "scenario": "tiny.toml", "vary": [grid]}
    with scheduler() as (address, kill):

        def progress(done: int, _: int) -> None:
            if done == 2:
                kill()

        with pytest.raises(OutputError, match=r"^the connection to the Dask cluster was lost; finished runs are kept"):
            outlast.sweep(spec, study / "out", on=address, progress=progress)
    assert len(list((study / "out" / "points").iterdir())) >= 2
    assert capfd.readouterr().err == ""


class Future:
    """A future of Dask in one state, whose result is lost on the way."""

    def __init__(self, status: str, failure: Exception) -> None:
        self.status = status
        self._failure = failure

    def exception(self) -> None:
        return None

    def result(self) -> None:
        raise self._failure


def test_a_result_that_the_scheduler_takes_with_it_is_a_lost_connection() -> None:
    # Which of these a scheduler's death gives depends on where the result is at that moment.
    client = distributed.client
    for failure in (distributed.comm.CommClosedError("gone"), client.FutureCancelledError("key", "lost")):
        for status in ("finished", "lost", "cancelled"):
            with pytest.raises(OutputError, match="connection to the Dask cluster was lost"):
                cluster._outcome(Future(status, failure))
    killed = distributed.KilledWorker("key", "its worker", 3)
    assert cluster._outcome(Future("error", killed)) is killed


@pytest.mark.parametrize(
    ("address", "limit"),
    [
        *((address, "must be the address of a Dask scheduler") for address in ("ucx://x", "ucx://x:1", "inproc://x")),
        *(
            (f"tcp://{place}", "must be the address of a Dask scheduler")
            for place in ("", "x", "x:²", "x:0", "x:65536")
        ),
        ("tls://127.0.0.1:9", "needs TLS certificates under distributed.comm.tls in Dask's configuration"),
        ("tcp://127.0.0.1:9", "no Dask scheduler answers there within 1 s"),
    ],
)
def test_an_address_at_which_no_scheduler_can_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, limit: str
) -> None:
    monkeypatch.setattr(dask_client, "ANSWER_WITHIN_S", 1)
    with pytest.raises(ScenarioError) as refused:
        cluster.connect(address, {})
    assert str(refused.value).startswith(f"on = {address}: {limit}")
    assert "\n" not in str(refused.value)


def test_loading_the_queues_of_dask_leaves_ctrl_c_as_it_was() -> None:
    pytest.importorskip("dask_jobqueue")
    code = "import signal\nfrom outlast import interrupts\nfrom outlast.points.slurm import options_of\n"
    code += "interrupts.install()\noptions_of([])\nassert signal.getsignal(signal.SIGINT) is interrupts._handle\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_line_refuses_tls_without_certificates(outlast: Outlast, study: Path) -> None:
    (study / "one.toml").write_text('name = "one"\nscenario = "tiny.toml"\n[[vary]]\nsetting = "seed"\nvalues = [1]\n')
    done = outlast("sweep", "one.toml", "--on", "tls://127.0.0.1:9", check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not (study / "out").exists()
