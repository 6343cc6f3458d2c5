"""A command that is served for: it ends before the server does, and if not, with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

PATIENCE_S = 5.0
"""How long a command may take to end when it was asked to, before it is killed."""
LOOK_S = 0.02


class Captive:
    """A shell with all that it starts: a process group, so that all of it can be told to end.

    On a terminal it is in the foreground meanwhile, so that it may read what is typed and Ctrl-C reaches it.
    """

    def __init__(self, command: str, env: Mapping[str, str]) -> None:
        self._terminal = _terminal()
        self._own = os.getpgrp()
        self._code: int | None = None
        self._process = subprocess.Popen(["/bin/sh", "-c", command], env=os.environ | env, process_group=0)
        self._to_front(self._process.pid)

    def has_ended(self) -> bool:
        """Whether the shell has; what it has left running in the background may still run."""
        self._follow_stop()
        return self._process.poll() is not None

    def _follow_stop(self) -> None:
        """When it is stopped from the terminal (Ctrl-Z), so is this process, for the user's shell to take over."""
        if self._terminal is None or self._process.returncode is not None:
            return
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG) is not None:
                self._to_front(self._own)
                os.kill(os.getpid(), signal.SIGSTOP)
                self._to_front(self._process.pid)
                self._signal(signal.SIGCONT)

    def end(self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic) -> int:
        """Asks all of it to end, by SIGTERM and then by SIGKILL; its exit code, as a shell gives it."""
        if self._code is not None:
            return self._code
        limit = clock() + patience_s
        self._signal(signal.SIGTERM)
        # Of stopped processes, only those that go on hear of it.
        self._signal(signal.SIGCONT)
        while self._is_there() and clock() < limit:
            time.sleep(LOOK_S)
        self._signal(signal.SIGKILL)
        code = self._process.wait()
        self._to_front(self._own)
        self._code = code if code >= 0 else 128 - code
        return self._code

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _is_there(self) -> bool:
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
        # A process of the background that changes the foreground is stopped, unless it does not care.
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
