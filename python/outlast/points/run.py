"""Running jobs: those kept are not run again, those that fail are tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlast import memory
from outlast.errors import OutputError
from outlast.points.job import Job, Record, store_record, stored_record
from outlast.points.workers import Workers


@dataclass
class Outcome:
    """Records and failures of some jobs, by key."""

    records: dict[str, Record] = field(default_factory=dict)
    """Records, or what `keep` of `run_all` made of them."""
    failures: dict[str, str] = field(default_factory=dict)
    """Message of the last attempt of each job that failed."""


def run_all(
    jobs: Sequence[Job],
    folder: Path,
    workers: Callable[[int], AbstractContextManager[Workers]],
    *,
    retries: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[Job, Record], dict[str, Any]] = lambda _, record: record,
) -> Outcome:
    """Runs jobs that have no record in the folder, keeps each record as its job ends, and returns all.

    `workers` makes what runs them, given their number; it is not called if there are none. A job that fails is tried
    again `retries` times and then reported; with `None` its error is raised, and ends everything. In memory stays
    what `keep` makes of each job and its record.
    """
    wanted = {job.key: job for job in jobs}
    outcome = Outcome()
    missing = []
    with memory.without_collector():
        for job in wanted.values():
            if (record := stored_record(job, folder)) is None:
                missing.append(job)
            else:
                outcome.records[job.key] = keep(job, record)
    tell = progress or (lambda *_: None)
    tell(len(outcome.records), len(wanted))
    if not missing:
        return outcome
    attempts = dict.fromkeys((job.key for job in missing), 0)
    left = len(missing)
    with workers(len(missing)) as crew:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error
        for job in missing:
            crew.submit(job)
        while left:
            job, answer = crew.next()
            if isinstance(answer, Exception):
                if retries is None:
                    raise answer
                attempts[job.key] += 1
                if attempts[job.key] <= retries:
                    crew.submit(job)
                    continue
                outcome.failures[job.key] = f"{type(answer).__name__}: {' '.join(str(answer).split())}"
            else:
                store_record(answer, folder)
                outcome.records[job.key] = keep(job, answer)
            left -= 1
            tell(len(wanted) - left, len(wanted))
    return outcome
