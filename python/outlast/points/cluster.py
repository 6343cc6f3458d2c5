"""Workers elsewhere: a Dask cluster that exists, or one that a SLURM queue starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue
from typing import Any, Self

from outlast import log
from outlast.errors import InternalError, OutputError
from outlast.points import slurm as queue
from outlast.points.dask_client import client_of, needed, quiet
from outlast.points.elsewhere import Sent
from outlast.points.job import Job, measure_elsewhere, simulator_hash
from outlast.points.workers import Answer

SILENCE_S = 5.0
"""Time without an answer, after which Outlast looks whether there are workers at all."""


class Cluster:
    """Runs jobs on the workers of a Dask scheduler.

    Records come back over the network, so that no shared folder is needed. Outlast of the same build must be installed
    where workers run, and the files that scenarios read be there under the same absolute paths, with the same bytes. A
    job whose worker is lost is begun again by the scheduler.
    """

    def __init__(self, on: str, slurm: Mapping[str, Any] | None = None) -> None:
        needed("distributed", on)
        self._on = on
        self._jobs: dict[str, Sent] = {}
        self._count = 0
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._is_told = False
        with ExitStack() as stack:
            stack.enter_context(quiet())
            cluster = None if slurm is None else stack.enter_context(queue.queued(slurm))
            self._client = client_of(on, cluster)
            stack.callback(_close, self._client)
            self._stack = stack.pop_all()

    def submit(self, job: Job) -> None:
        self._count += 1
        key = f"outlast-{job.key[:24]}-{self._count}"
        sent = self._jobs[key] = Sent.of(job)
        self._send(measure_elsewhere, sent.scenario, job.key, simulator_hash(), sent.inputs, key=key)

    def _send(self, function: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Has a function called on a worker. Its future is among those that `_next` gives."""
        try:
            future = self._client.submit(function, *values, pure=False, **options)
            future.add_done_callback(self._ended.put)
        except Exception as error:
            raise _lost() from error
        return future

    def next(self) -> Answer:
        future = self._next()
        sent = self._jobs.pop(future.key)
        answer = _outcome(future)
        return sent.job, sent.error(answer) if isinstance(answer, Exception) else sent.record(answer)

    def _next(self) -> Any:
        """The next future that ends."""
        while True:
            try:
                return self._ended.get(timeout=SILENCE_S)
            except Empty:
                self._look_for_workers()

    def _look_for_workers(self) -> None:
        """Says once that there are no workers, and once more when all are lost again."""
        try:
            has_workers = bool(self._client.scheduler_info(n_workers=1)["workers"])
        except Exception:
            return  # the scheduler is lost: its futures end, and `next` says so
        if not has_workers and not self._is_told:
            text = f"on = {self._on}: waiting for workers, of which the Dask scheduler has none (Ctrl-C ends this)"
            log.say(text, "waiting for workers", level=log.WARNING, on=self._on)
        self._is_told = not has_workers

    def map(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Results of `function(item, *shared)` on the workers, in the order of the items."""
        futures = [self._send(function, item, *shared) for item in items]
        ended: set[str] = set()
        for future in futures:
            while future.key not in ended:
                ended.add(self._next().key)
            answer = _outcome(future)
            if isinstance(answer, Exception):
                raise answer
            yield answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Futures that nobody holds are taken back by the scheduler.
        self._stack.close()


def _outcome(future: Any) -> Any:
    """Answer of a future: a result, or the exception that its function raised. Raises if the connection was lost."""
    try:
        # A result that was lost with its worker is waited for again.
        error = future.exception()
        if error is None:
            return future.result()
    except Exception as failure:
        if future.status != "error":
            raise _lost() from failure
        return failure
    return error if isinstance(error, Exception) else InternalError(repr(error))


def _lost() -> OutputError:
    return OutputError(
        "the connection to the Dask cluster was lost; finished runs are kept, and the same call continues"
    )


def _close(client: Any) -> None:
    # A client whose scheduler is gone may fail to say goodbye to it.
    with suppress(Exception):
        client.close()


def connect(on: str, slurm: Mapping[str, Any]) -> Cluster:
    """The workers that `on` names: `tcp://…` of a Dask scheduler, or `slurm`."""
    return Cluster(on, slurm if on == "slurm" else None)
