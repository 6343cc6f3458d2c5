"""Recording: a drive is served, a program works on it, and the commands of the drive are kept."""

from __future__ import annotations

import datetime
import json
import shutil
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import interrupts
from outlast.errors import TortureError
from outlast.products.torture import cleanup
from outlast.products.torture.marks import Marks, RefusedError
from outlast.products.torture.workload import HostWorkload, Job, Surroundings, Workload

if TYPE_CHECKING:
    from outlast._core import Server

FACTS = "torture.json"
"""The file of a recording that says how it was made."""
VERSION = 1

LOOK_S = 0.02
PATIENCE_S = 5.0
"""Time that a command may take to end after SIGTERM, before it is killed."""


@dataclass(frozen=True)
class RecordRequest:
    """Settings of a recording."""

    job: Job
    out: Path
    layers: list[Any]
    """The scenario of the drive."""
    overrides: list[tuple[str, str]]
    drive: str
    """Name of the drive as the user gave it."""
    speed: float = 1.0
    """Simulated seconds in a second on the wall."""
    backend: str | None = None
    """Backend that mounts the drive: `loop` or `guest`; `None`: the first that works here."""


def record(request: RecordRequest, tell: Callable[[str], None]) -> int:
    """Records a command and returns its exit code; the recording is there whole or not at all.

    `tell` is given lines for the user. Stopped by a signal, it keeps what was recorded, if the command had begun.
    """
    workload = _workload(request.job, request.backend)
    workload.check()
    _check_vacant(request.out)
    began = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with ExitStack() as stack:
        marks = stack.enter_context(Marks(tell))
        place = stack.enter_context(cleanup.temporary_folder())
        stack.callback(_remove_unless_whole, request.out)
        code = _serve(request, workload, marks, place, tell)
        facts = {
            "version": VERSION,
            "fs": request.job.fs,
            "mount_options": request.job.mount_options,
            "command": request.job.command,
            "exit": code,
            "drive": request.drive,
            "backend": workload.backend,
            "began": began,
        }
        from outlast.output import write_file

        write_file(request.out / FACTS, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    interrupts.note_written(str(request.out))
    if interrupts.stop_requests():
        raise KeyboardInterrupt
    return code


def _workload(job: Job, backend: str | None) -> Workload:
    """The job on this computer's kernel, or in a guest; says what is missing where neither is possible."""
    if job.fs == "none":
        if backend not in (None, "none"):
            raise TortureError(f"--backend {backend}: not with --fs none, which mounts nothing")
        return HostWorkload(job)
    from outlast.products.torture import guest, loop
    from outlast.products.torture.guest_workload import GuestWorkload

    backends: dict[str, tuple[Callable[[str], str | None], Callable[[Job], Workload]]] = {
        "loop": (loop.missing, HostWorkload),
        "guest": (guest.missing, GuestWorkload),
    }
    if backend is not None and backend not in backends:
        raise TortureError(f"--backend {backend}: there are {', '.join(backends)} to record with")
    lacks = []
    for name in [backend] if backend is not None else backends:
        missing, make = backends[name]
        if (lack := missing(job.fs)) is None:
            return make(job)
        lacks.append(f"{name}: {lack}")
    raise TortureError(f"{job.fs} cannot be recorded here: {'; '.join(lacks)}; --fs none needs no root")


def _check_vacant(out: Path) -> None:
    from outlast.output import check_writable

    if out.is_symlink() or out.exists():
        raise TortureError(f"--out {out}: already exists; name another folder, or remove it")
    check_writable(out)


def facts_of(recording: Path) -> dict[str, Any]:
    """Facts of how a recording was made: file system, command and its exit code, drive, backend, start."""
    return dict(json.loads((recording / FACTS).read_text("utf-8")))


def _remove_unless_whole(out: Path) -> None:
    if not (out / FACTS).exists():
        shutil.rmtree(out, ignore_errors=True)


def _serve(request: RecordRequest, workload: Workload, marks: Marks, place: Path, tell: Callable[[str], None]) -> int:
    """Serves the drive for as long as the workload takes; its exit code."""
    from outlast import api
    from outlast.serving.control import Control

    server = api.start_server(
        request.layers,
        request.overrides,
        listen=f"unix:{place / 'nbd'}",
        speed=request.speed,
        image=str(request.out),
        keep_log=True,
    )
    try:
        while server.wait(LOOK_S)[0] == "preparing":
            if interrupts.stop_requests():
                raise KeyboardInterrupt
        with Control.at_free_name(server, request.out.stem) as control:
            around = Surroundings(
                uri=server.uri,
                env={"OUTLAST_URI": server.uri, "OUTLAST_CONTROL": str(control.path)},
                marks=marks,
                note=lambda text: _record_mark(server, text),
            )
            return _Attended(server, workload, around, tell).run()
    finally:
        server.stop()
        while server.wait(LOOK_S)[0] != "ended":
            pass


def _record_mark(server: Server, text: str) -> None:
    """Has a mark recorded; it is when this returns."""
    answer = json.loads(server.note(text))
    if "error" in answer:
        raise RefusedError(answer["error"])


class _Attended:
    """A workload in a thread of its own, with its mounts, and an eye on the server and on signals meanwhile."""

    def __init__(self, server: Server, workload: Workload, around: Surroundings, tell: Callable[[str], None]) -> None:
        self._server, self._workload, self._around, self._tell = server, workload, around, tell
        self._code: int | None = None
        self._failure: BaseException | None = None
        self._signals = 0
        self._kill_at = float("inf")

    def run(self) -> int:
        """The exit code of the command; what went wrong is raised when everything is tidy."""
        thread = threading.Thread(target=self._work, name="outlast-workload")
        thread.start()
        served: TortureError | None = None
        while thread.is_alive():
            thread.join(LOOK_S)
            if served is None:
                served = self._server_error()
            self._pass_on_signals()
        if served is not None:
            raise served
        if self._failure is not None:
            raise KeyboardInterrupt if self._signals and self._code is None else self._failure
        assert self._code is not None
        return self._code

    def _work(self) -> None:
        try:
            self._code = self._workload.run(self._around)
        except BaseException as error:
            self._failure = error

    def _server_error(self) -> TortureError | None:
        """Error of a server that has ended, after which the command has no drive."""
        try:
            doing, _ = self._server.wait(0)
        except Exception as error:
            self._workload.end(signal.SIGKILL)
            return TortureError(f"the served drive ended during the recording: {error}")
        for warning in self._server.take_warnings():
            self._tell(f"warning: {warning}")
        if doing != "ended":
            return None
        self._workload.end(signal.SIGKILL)
        return TortureError("the served drive was stopped during the recording")

    def _pass_on_signals(self) -> None:
        """The first signal asks the command to end; a second one, or patience, kills it."""
        now, signals = time.monotonic(), interrupts.stop_requests()
        if signals > self._signals:
            first = self._signals == 0
            self._signals = signals
            if first and self._workload.end(signal.SIGINT):
                self._kill_at = now + PATIENCE_S
            elif first:
                # It has not begun: what is under way ends for want of a drive.
                self._server.stop()
            else:
                self._kill_at = now
        if now >= self._kill_at:
            self._workload.end(signal.SIGKILL)
