"""A shell command that a server runs for: it ends before the server, or is ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

PATIENCE_S = 5.0
"""Time that a command may take to end after SIGTERM, before it is killed."""
LOOK_S = 0.02


class ServedCommand:
    """A shell with all that it starts, in one process group, so that all of it can be ended.

    On a terminal the group is in the foreground, so that it can read input and gets Ctrl-C.
    """

    def __init__(self, command: str, env: Mapping[str, str]) -> None:
        self._terminal = _terminal()
        self._server_group = os.getpgrp()
        self._code: int | None = None
        self._process = subprocess.Popen(["/bin/sh", "-c", command], env=os.environ | env, process_group=0)
        self._to_front(self._process.pid)

    def has_ended(self) -> bool:
        """True if the shell has ended; its background processes may still run."""
        self._follow_stop()
        return self._process.poll() is not None

    def _follow_stop(self) -> None:
        """Stops this process with the command on Ctrl-Z, so that the user's shell takes over the terminal."""
        if self._terminal is None or self._process.returncode is not None:
            return
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG) is not None:
                self._to_front(self._server_group)
                os.kill(os.getpid(), signal.SIGSTOP)
                self._to_front(self._process.pid)
                self._signal(signal.SIGCONT)

    def end(self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic) -> int:
        """Ends all processes, by SIGTERM and then by SIGKILL; returns the exit code as a shell reports it."""
        if self._code is not None:
            return self._code
        limit = clock() + patience_s
        self._signal(signal.SIGTERM)
        # A stopped process handles SIGTERM only after it is continued.
        self._signal(signal.SIGCONT)
        while self._is_running() and clock() < limit:
            time.sleep(LOOK_S)
        self._signal(signal.SIGKILL)
        code = self._process.wait()
        self._to_front(self._server_group)
        self._code = code if code >= 0 else 128 - code
        return self._code

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _is_running(self) -> bool:
        self._process.poll()
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _to_front(self, group: int) -> None:
        if self._terminal is None:
            return
        # A background process that changes the foreground group is stopped by SIGTTOU unless it ignores it.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            with suppress(OSError):
                os.tcsetpgrp(self._terminal, group)
        finally:
            signal.signal(signal.SIGTTOU, before)


def _terminal() -> int | None:
    """Standard input, if it is a terminal on which this process is in the foreground."""
    try:
        is_ours = os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return None
    return 0 if is_ours else None
