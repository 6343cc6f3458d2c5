"""A user's command: run to its end or its time limit, with what it printed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass

from outlast.products.torture import cleanup

LONGEST_OUTPUT = 1 << 16
"""Bytes of the end of a command's output that are kept."""


@dataclass(frozen=True)
class Ended:
    """End of a command."""

    exit: int
    """Exit code, or 128 and the signal that ended it."""
    output: str
    seconds: float
    timed_out: bool


def run(command: list[str], env: dict[str, str], timeout: float | None) -> Ended:
    """Runs a command in a session of its own, which ends with it; after `timeout` seconds it is killed.

    What it prints goes to a file in memory: a process that it leaves behind cannot keep anybody waiting at a pipe.
    """
    began = time.monotonic()
    output = os.memfd_create("output", os.MFD_CLOEXEC)
    try:
        process = start(command, env, output)
        with cleanup.removed_on_exit("group", process.pid):
            timed_out = not wait(process, timeout)
            kill_session(process)
        length = os.fstat(output).st_size
        text = os.pread(output, LONGEST_OUTPUT, max(length - LONGEST_OUTPUT, 0)).decode(errors="replace")
    finally:
        os.close(output)
    return Ended(code_of(process), text, time.monotonic() - began, timed_out)


def start(
    command: list[str], env: dict[str, str], output: int | None, keep: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """A command in a session of its own; it prints to the descriptor `output` or to where this process does."""
    try:
        return subprocess.Popen(
            command,
            env=os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=keep,
            start_new_session=True,
        )
    except OSError as error:
        from outlast.errors import TortureError

        raise TortureError(f"{command[0]}: cannot be run: {error.strerror}") from error


def wait(process: subprocess.Popen[bytes], timeout: float | None) -> bool:
    """Waits for a command, exactly as long as need be: `Popen.wait` with a timeout looks only now and then."""
    handle = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1000))
    finally:
        os.close(handle)


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """Ends a command, if it has not ended, and the processes of its group; reaps it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def code_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a command that has ended, as a shell gives it."""
    code = process.wait()
    return code if code >= 0 else 128 - code
