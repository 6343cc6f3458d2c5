"""The program `outlast`, forked from a process that has imported it: most of a short command's life is imports.

A forked program has its own arguments, folder, environment, files and signals, and ends by an exit code like every
other. What it shares with those before it are the imports, and by them the order in which Python hashes texts.
"""

from __future__ import annotations

import gc
import marshal
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from patience import PATIENCE_S

IMPORTED = (
    *("outlast.cli.run", "outlast.cli.sweep", "outlast.cli.model", "outlast.cli.scenario", "outlast.cli.summary"),
    *("outlast.cli.compare", "outlast.cli.explain", "outlast.cli.progress", "outlast.cli.report", "outlast.cli.trace"),
    *("outlast.output", "outlast.simulation", "outlast.report.single", "outlast.report.comparison"),
    *("outlast.report.page", "rich.console", "rich.table", "numpy.ma"),
)
BY_START = ("PYTHON", "LD_")
"""Beginnings of variables that are read when a program starts, and not later."""


CALLER = """\
#!{python} -IS
import marshal, os, socket, sys
order = marshal.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)])
caller = socket.socket(socket.AF_UNIX)
caller.connect("{door}")
socket.send_fds(caller, [len(order).to_bytes(4)], [0, 1, 2])
caller.sendall(order)
caller.shutdown(socket.SHUT_WR)
code = int.from_bytes(caller.recv(4, socket.MSG_WAITALL) or b"\\x7f", signed=True)
caller.recv(1)  # until it has ended, and its time counts
sys.exit(code if code >= 0 else 128 - code)
"""
"""Program that a shell finds: hands over arguments, folder and environment, and ends as the forked program does."""


class Forks:
    """The process that forks programs: of those of `run` one at a time, beside those that shells start."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._folder = tempfile.TemporaryDirectory(prefix="outlast-forks-")
        self._door = f"{self._folder.name}/door"
        # A process with threads, such as those of linear algebra, is none to fork.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        with theirs, socket.socket(socket.AF_UNIX) as door:
            door.bind(self._door)
            door.listen()
            ends = [theirs.fileno(), door.fileno()]
            command = [sys.executable, __file__, *map(str, ends)]
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, pass_fds=ends, start_new_session=True
            )
        self._socket = ours
        self._started_with = _read_at_start()

    @property
    def pid(self) -> int:
        """Number of the process, whose time `cpu_s` tells."""
        return self._process.pid

    def fits(self) -> bool:
        """True if a program that starts now would find the same values of variables that are read at its start."""
        return self._process.poll() is None and _read_at_start() == self._started_with

    def run(self, arguments: Sequence[str], cwd: Path | None, timeout: float) -> subprocess.CompletedProcess[str]:
        """Result that `subprocess.run` of the program would return."""
        with ExitStack() as stack:
            out, errors = (stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")) for _ in range(2))
            # Whatever cuts this off, the next program is not to be given the answer to this one.
            stack.callback(self.end)
            self._socket.settimeout(timeout)
            order = marshal.dumps([list(arguments), str(cwd or Path.cwd()), dict(os.environ)])
            socket.send_fds(self._socket, [len(order).to_bytes(4)], [out.fileno(), errors.fileno()])
            self._socket.sendall(order)
            answer = self._socket.recv(4, socket.MSG_WAITALL)
            assert len(answer) == 4, "the process that forks programs has died"
            stack.pop_all()
            with out, errors:
                out.seek(0)
                errors.seek(0)
                code = int.from_bytes(answer, signed=True)
                return subprocess.CompletedProcess(arguments, code, out.read(), errors.read())

    def program(self) -> str:
        """A script that a shell can start in place of the program."""
        return CALLER.format(python=sys.executable, door=self._door)

    def cpu_s(self) -> float:
        """CPU time of the process and of the programs that have ended."""
        if self._process.poll() is not None:
            return 0.0
        self._socket.settimeout(PATIENCE_S)
        self._socket.sendall(bytes(4))
        return int.from_bytes(self._socket.recv(4, socket.MSG_WAITALL)) / 1000

    def end(self) -> None:
        """Ends the process and the program that it runs."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()
        self._folder.cleanup()


@cache
def forks() -> Forks:
    """The process that forks the programs of this process of tests."""
    return Forks()


def call(
    *arguments: str | Path, cwd: Path | None = None, check: bool = True, anew: bool = False
) -> subprocess.CompletedProcess[str]:
    """Runs `outlast` as a person would, without a terminal. `anew`: from the start of Python, whose hashes differ."""
    command = [sys.executable, "-m", "outlast", *map(str, arguments)]
    if anew or not forks().fits():
        done = subprocess.run(
            command, cwd=cwd, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S
        )
    else:
        done = forks().run(command[3:], cwd, timeout=PATIENCE_S)
    if check:
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def _read_at_start() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(BY_START)}


def _program(order: bytes, files: list[int]) -> None:
    """Makes this process the one of an order."""
    arguments, folder, environment = marshal.loads(order)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in zip((0, 1, 2)[-len(files) :], files, strict=True):
        os.dup2(file, number)
        os.close(file)
    # As after `python -m outlast`.
    sys.path[0] = folder
    sys.argv = ["outlast", *arguments]


def _spent_ms() -> int:
    """CPU time of this process and of those it has forked that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return round(1000 * sum(os.times()[:4]))


def _serve(orders: socket.socket, door: socket.socket | None = None) -> bool:
    """Forks a program for each order; true in the program, false where there are no more orders.

    Who comes through the door is served by a process of its own, since programs of shells run beside each other.
    """
    while True:
        if door is not None and door in select.select([orders, door], [], [])[0]:
            caller, _ = door.accept()
            if os.fork() > 0:
                caller.close()
                continue
            orders.close()
            door.close()
            orders, door = caller, None
        length, files, *_ = socket.recv_fds(orders, 4, 3)
        if not length:
            return False
        if not any(length):
            orders.sendall(_spent_ms().to_bytes(4))
            continue
        order = orders.recv(int.from_bytes(length), socket.MSG_WAITALL)
        child = os.fork()
        if child == 0:
            orders.close()
            if door is not None:
                door.close()
            _program(order, files)
            return True
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        orders.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    from outlast.report import page

    page._plotly_js()
    gc.freeze()
    if _serve(*(socket.socket(fileno=int(file)) for file in sys.argv[1:])):
        runpy.run_module("outlast", run_name="__main__", alter_sys=True)
    else:
        os._exit(0)
