"""Workers elsewhere: a Dask cluster that exists, or one that a SLURM queue starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Self

from outlast.errors import InternalError, OutputError, ScenarioError
from outlast.points.job import Job, measure_elsewhere, simulator_hash
from outlast.points.workers import Answer

ANSWER_WITHIN_S = 10
SLURM_DEFAULTS = {"cores": 1, "processes": 1, "memory": "2GB", "jobs": 1}
"""One worker of one core for each job of the queue."""


def _needed(module: str, on: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ScenarioError(f"on = {on}: needs {module}; install outlast[cluster]") from error


def _client(distributed: Any, address: Any) -> Any:
    """A client that is connected. One whose scheduler does not answer is closed before the error is raised.

    Else it would be closed when it is collected, by when its event loop may have ended, and Python prints that error.
    """
    made: list[Any] = []

    class Client(distributed.Client):  # type: ignore[misc]  # `distributed` may not be there
        def start(self, **options: Any) -> Any:
            made.append(self)
            return super().start(**options)

    try:
        return Client(address, timeout=ANSWER_WITHIN_S, set_as_default=False)
    except BaseException:
        for each in made:
            with suppress(Exception):
                each.close(timeout=1)
            # `__del__` closes what is neither closed nor new.
            each.status = "closed"
        raise


class Cluster:
    """Runs jobs on the workers of a Dask scheduler.

    Records come back over the network, so that no shared folder is needed. Outlast of the same build must be installed
    where workers run, and the files that scenarios read be there under the same paths, with the same bytes. A job whose
    worker is lost is begun again by the scheduler.
    """

    def __init__(self, address: str | Any) -> None:
        on = address if isinstance(address, str) else "slurm"
        distributed = _needed("distributed", on)
        self._jobs: dict[str, Job] = {}
        self._count = 0
        self._stack = ExitStack()
        if not isinstance(address, str):
            self._stack.enter_context(address)
        try:
            client = _client(distributed, address)
        except (OSError, ValueError) as error:
            self._stack.close()
            raise ScenarioError(f"on = {on}: no Dask scheduler answers there within {ANSWER_WITHIN_S} s") from error
        self._client = self._stack.enter_context(client)
        self._completed = distributed.as_completed(loop=client.loop)

    def submit(self, job: Job) -> None:
        self._count += 1
        key = f"outlast-{job.key[:24]}-{self._count}"
        self._jobs[key] = job
        future = self._client.submit(measure_elsewhere, job.scenario, job.key, simulator_hash(), key=key, pure=False)
        self._completed.add(future)

    def next(self) -> Answer:
        future = next(self._completed)
        job = self._jobs.pop(future.key)
        if future.status == "finished":
            return job, future.result()
        if future.status != "error":
            raise OutputError(
                "the connection to the Dask cluster was lost; finished runs are kept, and the same call continues"
            )
        error = future.exception()
        return job, error if isinstance(error, Exception) else InternalError(repr(error))

    def map(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Results of `function(item, *shared)` on the workers, in the order of the items."""
        pure = [self._client.submit(function, item, *shared, pure=False) for item in items]
        for future in pure:
            yield future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Futures that nobody holds are taken back by the scheduler.
        self._stack.close()


def slurm_cluster(options: Mapping[str, Any]) -> Any:
    """A cluster whose workers are jobs of a SLURM queue. `options` are those of `dask_jobqueue.SLURMCluster`."""
    jobqueue = _needed("dask_jobqueue", "slurm")
    settings = {name: value for name, value in (SLURM_DEFAULTS | dict(options)).items() if name != "jobs"}
    try:
        return jobqueue.SLURMCluster(**settings)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"slurm = {dict(options)}: {error}") from error


def connect(on: str, slurm: Mapping[str, Any]) -> Cluster:
    """The workers that `on` names: `tcp://…` of a Dask scheduler, or `slurm`."""
    if on != "slurm":
        return Cluster(on)
    if shutil.which("sbatch") is None:
        raise ScenarioError("on = slurm: there is no sbatch on this machine; call this where jobs are submitted")
    jobs = slurm.get("jobs", SLURM_DEFAULTS["jobs"])
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise ScenarioError(f"slurm.jobs = {jobs}: must be a whole number of at least 1")
    cluster = slurm_cluster(slurm)
    cluster.scale(jobs=jobs)
    return Cluster(cluster)
