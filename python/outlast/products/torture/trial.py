"""Trial of one state: mounted for a command, or passed to a Python function."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from outlast.errors import TortureError
from outlast.products.torture import cleanup
from outlast.products.torture.crash import Recording, State
from outlast.products.torture.mounts import Backend, Disk, Ran, Worker
from outlast.products.torture.results import MOST_WITNESSES, Purpose, Stage, Verdict

LOOK_S = 0.05
"""Between two looks at a server that begins or ends."""
Function = Callable[[State], object]


@dataclass(frozen=True)
class Subject:
    """A state to be checked, and what the check is told of it."""

    state: State
    recording: Recording
    id: str
    """Name of its recording, or of the recording of a recovery in front of it."""
    mark: str | None
    marks: list[str]
    model: str
    purpose: Purpose = "plan"
    record: str | None = None
    """The file that gets what the check writes."""


def subject_of(state: State, recording: Recording, purpose: Purpose = "plan") -> Subject:
    """A state of the recording itself."""
    return Subject(state, recording, state.id, state.mark, state.marks, state.model, purpose)


class Trial(Protocol):
    """Checks one state after another, from one thread."""

    def __call__(self, subject: Subject) -> Verdict:
        """Output of the check."""


@dataclass(frozen=True)
class Ask:
    """Settings of the check that every state gets."""

    command: list[str]
    fs: str
    fsck: bool
    timeout_s: float


def verdict_on(subject: Subject, stage: Stage, code: int | None, seconds: float, output: str, slow: bool) -> Verdict:
    """Makes the verdict that is kept of a check."""
    state = subject.state
    bad = stage != "done"
    witness: list[dict[str, Any]] = json.loads(state.witness())[:MOST_WITNESSES] if bad else []
    return Verdict(
        state=subject.id,
        model=subject.model,
        event=state.event,
        at_ns=state.at_ns,
        mark=subject.mark,
        spans_ns=list(state.spans_ns),
        verdict="bad" if bad else "good",
        stage=stage,
        exit=code,
        seconds=round(seconds, 6),
        output=output,
        bad=list(state.bad),
        timed_out=slow,
        lost=len(state.lost),
        witness=witness,
        purpose=subject.purpose,
    )


class Mounted:
    """Mounts each state and runs a command."""

    def __init__(self, worker: Worker, ask: Ask, folder: Path) -> None:
        self._worker = worker
        self._ask = ask
        self._folder = folder

    def __call__(self, subject: Subject) -> Verdict:
        state = subject.state
        if state.refused is not None:
            return verdict_on(subject, "start", None, 0.0, state.refused, False)
        marks = self._folder / "marks"
        marks.write_text("".join(f"{mark}\n" for mark in subject.marks), encoding="utf-8")
        told = {"OUTLAST_STATE": subject.id, "OUTLAST_MARK": subject.mark or "", "OUTLAST_MARKS": str(marks)}
        # A plain file has no place that cannot be read, and nobody to write down what is done to it.
        is_served = bool(state.bad) or subject.record is not None
        with self._served(subject) if is_served else nullcontext() as uri:
            disk = Disk(state.size, None if is_served else state.write_to, uri)
            ran: Ran = self._worker.run(
                disk, self._ask.fs, self._ask.command, told, self._ask.timeout_s, self._ask.fsck
            )
        return verdict_on(subject, ran.stage, ran.exit, ran.seconds, ran.output, ran.timed_out)

    @contextmanager
    def _served(self, subject: Subject) -> Iterator[str]:
        place = self._folder / "nbd"
        server = subject.recording.serve(subject.state, f"unix:{place}", subject.record)
        try:
            while (doing := server.wait(LOOK_S)[0]) != "serving":
                if doing == "ended":
                    raise TortureError(f"{subject.id}: cannot be served")
            yield server.uri
        finally:
            server.stop()
            while server.wait(LOOK_S)[0] != "ended":
                pass
            place.unlink(missing_ok=True)


class InProcess:
    """Gives each state to a function."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def __call__(self, subject: Subject) -> Verdict:
        state = subject.state
        if state.refused is not None:
            return verdict_on(subject, "start", None, 0.0, state.refused, False)
        begun = time.perf_counter()
        try:
            answer = self._function(state)
            complaint = None if answer is None or answer is True else str(answer)
        except AssertionError as error:
            complaint = str(error) or "".join(traceback.format_exception(error)[-2:])
        except Exception:
            complaint = traceback.format_exc()
        seconds = time.perf_counter() - begun
        # Files hold no lone surrogates.
        said = (complaint or "").encode(errors="replace").decode()
        return verdict_on(subject, "done" if complaint is None else "check", None, seconds, said, False)


def function_of(spec: str) -> Function:
    """The function that `FILE:FUNCTION` names."""
    place, colon, name = spec.rpartition(":")
    if not colon or not place or not name:
        raise TortureError(f"--check-in-process {spec}: must be FILE:FUNCTION, such as check.py:check")
    path = Path(place)
    if not path.is_file():
        raise TortureError(f"--check-in-process {spec}: there is no file {place}")
    module_spec = importlib.util.spec_from_file_location("outlast_check", path)
    if module_spec is None or module_spec.loader is None:
        raise TortureError(f"--check-in-process {spec}: {place} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise TortureError(f"--check-in-process {spec}: {place} cannot be loaded: {what}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise TortureError(f"--check-in-process {spec}: {place} has no function {name}")
    found: Function = function
    return found


Trials = Callable[[], AbstractContextManager[Trial]]


def mounted(backend: Backend, ask: Ask) -> Trials:
    """Makes trials that mount states, each for a thread of its own."""

    @contextmanager
    def trial() -> Iterator[Trial]:
        with backend.worker() as worker, cleanup.temporary_folder() as folder:
            # A command may go on as another user, who reads the marks.
            folder.chmod(0o755)
            yield Mounted(worker, ask, folder)

    return trial


def in_process(function: Function) -> Trials:
    """Makes trials that call a function."""
    return lambda: nullcontext(InProcess(function))


def find_command(command: list[str]) -> None:
    """Refuses a check that cannot be run, as a shell would."""
    if shutil.which(command[0]) is not None:
        return
    path = Path(command[0])
    there = os.sep in command[0] and path.exists()
    why = "a folder" if path.is_dir() else "not executable (chmod +x)" if there else "not found"
    raise TortureError(f"{command[0]}: the check cannot be run: {why}")


def as_shrink(subject: Subject, pieces: list[str]) -> Subject:
    """The same with some pieces of its writes kept."""
    state = subject.state.keep(pieces)
    prefix, _, _ = subject.id.partition("@")
    name = f"{prefix}@{state.id.partition('@')[2]}" if "/" in prefix else state.id
    return replace(subject, state=state, id=name, purpose="shrink")
