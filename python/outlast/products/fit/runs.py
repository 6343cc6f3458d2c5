"""Runs of the simulator for a fit: several at a time, each kept under its hash, as those of sweeps are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from outlast import api, points
from outlast.points import Job, Workers, key_of
from outlast.points.workers import local


class Runs:
    """Keeps its processes from one round to the next, since a round takes little longer than starting them."""

    def __init__(self, folder: Path, processes: int, tell: Callable[[str, int, int], None] | None = None) -> None:
        self.folder = folder
        self.made = 0
        """Runs that were asked for."""
        self.phase = ""
        self._processes = processes
        self._tell = tell
        self._crew: Workers | None = None

    def summaries(self, scenarios: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Results of scenarios."""
        resolved = [api.resolve(each) for each in scenarios]
        jobs = [Job(each, key_of(each)) for each in resolved]
        self.made += len(jobs)
        tell = self._tell or (lambda *_: None)
        progress = lambda done, wanted: tell(self.phase, done, wanted)  # noqa: E731
        records = points.run_all(jobs, self.folder, lambda _: _Borrowed(self._workers()), progress=progress).records
        return [records[job.key]["summary"] for job in jobs]

    def _workers(self) -> Workers:
        if self._crew is None:
            self._crew = local(self._processes).__enter__()
        return self._crew

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._crew is not None:
            self._crew.__exit__(kind, error, trace)


class _Borrowed:
    """Workers that stay when a round of runs is over."""

    def __init__(self, crew: Workers) -> None:
        self._crew = crew
        self.submit, self.next = crew.submit, crew.next

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Failures end the fit, and with it the crew."""
