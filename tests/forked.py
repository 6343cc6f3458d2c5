"""The program `outlast`, forked from a process that has imported it: most of a short command's life is imports.

A forked program has its own arguments, folder, environment, files and signals, and ends by an exit code like every
other. What it shares with those before it are the imports, and by them the order in which Python hashes texts.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
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

IMPORTED = (
    *("outlast.cli.run", "outlast.cli.sweep", "outlast.cli.model", "outlast.cli.scenario", "outlast.cli.summary"),
    *("outlast.cli.compare", "outlast.cli.explain", "outlast.cli.progress", "outlast.cli.report", "outlast.cli.trace"),
    *("outlast.output", "outlast.simulation", "outlast.report.single", "outlast.report.comparison"),
    *("outlast.report.page", "rich.console", "rich.table", "numpy.ma"),
)
BY_START = ("PYTHON", "LD_")
"""How variables begin that are read when a program starts, and not later."""


class Forks:
    """The process that forks programs, of which one runs at a time."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        # A process with threads, such as those of linear algebra, is none to fork.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()
        self._socket = ours
        self._started_with = _read_at_start()

    def fits(self) -> bool:
        """Whether a program that starts now would find the variables that are read at its start."""
        return self._process.poll() is None and _read_at_start() == self._started_with

    def run(self, arguments: Sequence[str], cwd: Path | None, timeout: float) -> subprocess.CompletedProcess[str]:
        """What `subprocess.run` of the program would return."""
        with ExitStack() as stack:
            out, errors = (stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8")) for _ in range(2))
            # Whatever cuts this off, the next program is not to be given the answer to this one.
            stack.callback(self.end)
            self._socket.settimeout(timeout)
            order = json.dumps([list(arguments), str(cwd or Path.cwd()), dict(os.environ)]).encode()
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

    def cpu_s(self) -> float:
        """CPU time of the process and of the programs that have ended."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Ends the process and the program that it runs."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()


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
        done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=280)
    else:
        done = forks().run(command[3:], cwd, timeout=280)
    if check:
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def _read_at_start() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(BY_START)}


def _program(order: bytes, files: list[int]) -> None:
    """Makes this process the one of an order."""
    arguments, folder, environment = json.loads(order)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in zip((1, 2), files, strict=True):
        os.dup2(file, number)
        os.close(file)
    # As after `python -m outlast`.
    sys.path[0] = folder
    sys.argv = ["outlast", *arguments]


def _serve(orders: socket.socket) -> bool:
    """Forks a program for each order; true in the program, false where there are no more orders."""
    while True:
        length, files, *_ = socket.recv_fds(orders, 4, 2)
        if not length:
            return False
        order = orders.recv(int.from_bytes(length), socket.MSG_WAITALL)
        child = os.fork()
        if child == 0:
            orders.close()
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
    if _serve(socket.socket(fileno=int(sys.argv[1]))):
        runpy.run_module("outlast", run_name="__main__", alter_sys=True)
