"""Workers on this machine: this process, or several others."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import outlast
from outlast import errors
from outlast.points import job as work
from outlast.points.job import Job, Record

Answer = tuple[Job, Record | Exception]


class Workers(Protocol):
    """Takes jobs and gives back what became of them, in any order. Leaving its context stops what is under way."""

    def submit(self, job: Job) -> None:
        """Takes a job."""

    def next(self) -> Answer:
        """Waits for a job to end, well or not; as many come as were submitted."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Here:
    """Runs jobs in this process, one after another."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        self._waiting.append(job)

    def next(self) -> Answer:
        job = self._waiting.popleft()
        try:
            return job, work.measure(job)
        except Exception as error:
            return job, error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()


class Processes:
    """Runs jobs in so many processes. One that dies costs its job an attempt, and is replaced.

    They are programs of their own that are sent one job at a time, rather than those of `multiprocessing`: which job a
    dead one had is then known, and a script that calls this need not guard its main module.
    """

    def __init__(self, count: int) -> None:
        self._waiting: deque[Job] = deque()
        self._free = count
        self._busy: dict[subprocess.Popen[bytes], Job] = {}
        self._idle: list[subprocess.Popen[bytes]] = []
        self._selector = selectors.DefaultSelector()

    def submit(self, job: Job) -> None:
        self._waiting.append(job)
        self._feed()

    def _feed(self) -> None:
        while self._waiting and (self._idle or self._free):
            if not self._idle:
                self._free -= 1
                self._idle.append(self._start())
            program, job = self._idle.pop(), self._waiting.popleft()
            self._busy[program] = job
            request: dict[str, Any] = {"scenario": job.scenario, "key": job.key, "simulator": work.simulator_hash()}
            request |= {"inputs": job.inputs}
            line = json.dumps(request).encode() + b"\n"
            assert program.stdin is not None
            with suppress(BrokenPipeError):  # it has died: `next` reads its end and says so
                program.stdin.write(line)
                program.stdin.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        # Of this very package, wherever the caller found it; in a session of its own, since Ctrl-C is for us to handle.
        home = str(Path(outlast.__file__).resolve().parents[1])
        paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
        program = subprocess.Popen(
            [sys.executable, "-m", "outlast.points.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        assert program.stdout is not None
        self._selector.register(program.stdout, selectors.EVENT_READ, program)
        return program

    def next(self) -> Answer:
        ready, _ = self._selector.select()[0]
        program: subprocess.Popen[bytes] = ready.data
        assert program.stdout is not None
        line = program.stdout.readline()
        job = self._busy.pop(program)
        answer: Record | Exception
        if line.endswith(b"\n"):
            answer = _answer(json.loads(line))
            self._idle.append(program)
        else:
            self._selector.unregister(program.stdout)
            answer = errors.InternalError(f"the process that ran it ended {_manner(_end(program))}")
            self._free += 1
        self._feed()
        return job, answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()
        for program in [*self._busy, *self._idle]:
            program.kill()
        for program in [*self._busy, *self._idle]:
            _end(program)
        self._selector.close()


def _end(program: subprocess.Popen[bytes]) -> int:
    for pipe in (program.stdin, program.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    return program.wait()


def _manner(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"


def _answer(message: dict[str, Any]) -> Record | Exception:
    if "record" in message:
        record: Record = message["record"]
        return record
    kind = getattr(errors, message["error"], None)
    if isinstance(kind, type) and issubclass(kind, errors.OutlastError):
        return kind(message["message"])
    return errors.InternalError(f"{message['error']}: {message['message']}")


def local(count: int) -> Workers:
    """Workers on so many cores of this machine."""
    return Processes(count) if count > 1 else Here()
