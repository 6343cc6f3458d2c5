"""Cleanup after a kill of this process, by a process of its own that outlives it.

The cleanup process reads lines, `+` or `-` and a JSON list of two, from its standard input. When input ends, it removes
the entries that were added and not taken back, in this order:

| kind | removed |
|---|---|
| `group` | the processes of a process group, by its number |
| `namespace` | the processes of a mount namespace, by its path below /proc; its mounts and loop devices go with them |
| `mount` | a mount, by its path |
| `folder` | the checks that were given a drive in a folder, by its path; and the folder |
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from outlast.products.torture import linux

CleanupEntry = tuple[str, int | str]

PREFIX = "outlast-"
"""Prefix of the names of folders for states."""
PATIENCE_S = 10.0
"""Time that killed processes may take to end."""
LOOK_S = 0.01


@contextmanager
def removed_on_exit(kind: str, what: int | Path) -> Iterator[None]:
    """Context in which the cleanup process removes an object if this process is killed."""
    if os.getpid() == 1:
        # The end of the first process of a guest or container ends the guest, with all that it left.
        yield
        return
    entry = json.dumps([kind, what if isinstance(what, int) else str(what)])
    _CleanupProcess.send(f"+{entry}\n", answered=kind == "namespace")
    try:
        yield
    finally:
        _CleanupProcess.send(f"-{entry}\n")


@contextmanager
def temporary_folder(folder: Path | None = None) -> Iterator[Path]:
    """Makes an empty folder of this user, in `folder` or among temporary files, until the block or process ends."""
    folder_made = Path(folder or tempfile.gettempdir()).absolute() / f"{PREFIX}{secrets.token_hex(8)}"
    # Registered before it exists: a kill between the two would leave it behind.
    with removed_on_exit("folder", folder_made):
        folder_made.mkdir(mode=0o700)
        try:
            yield folder_made
        finally:
            shutil.rmtree(folder_made, ignore_errors=True)


def kill_namespace(number: int) -> None:
    """Kills the processes of a mount namespace, except for this one, of which a thread may be in it."""
    end = time.monotonic() + PATIENCE_S
    while (pids := set(_in_namespace(number)) - {os.getpid()}) and time.monotonic() < end:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_S)


def _in_namespace(number: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # Processes that have ended meanwhile, or are another user's.
            with suppress(OSError):
                if (entry / "ns" / "mnt").stat().st_ino == number:
                    yield int(entry.name)


class _CleanupProcess:
    """Client of the cleanup process, which starts with the first entry."""

    _lock = threading.Lock()
    _pipes: tuple[int, int] | None = None

    @classmethod
    def send(cls, line: str, *, answered: bool = False) -> None:
        with cls._lock:
            if cls._pipes is None:
                cls._pipes = cls._begin()
            requests, answers = cls._pipes
            os.write(requests, line.encode())
            if answered:
                os.read(answers, 1)

    @staticmethod
    def _begin() -> tuple[int, int]:
        theirs, ours = os.pipe()
        answers, answering = os.pipe()
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        actions = [(os.POSIX_SPAWN_DUP2, source, to) for source, to in ((theirs, 0), (answering, 1), (null, 2))]
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__package__} import cleanup; cleanup.main()"
        command = [sys.executable, "-S", "-c", program]
        # In a session of its own, so that Ctrl-C does not reach it.
        os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
        for each in (theirs, answering, null):
            os.close(each)
        return ours, answers


def kill_checks(folders: list[str]) -> None:
    """Kills the checks with a drive in one of these folders, also those whose group is not registered yet."""
    given = [f"\0OUTLAST_DEVICE={folder}/".encode() for folder in folders]
    for entry in Path("/proc").iterdir() if given else ():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            # Processes that have ended meanwhile, or are another user's.
            with suppress(OSError):
                environ = b"\0" + (entry / "environ").read_bytes()
                if any(each in environ for each in given):
                    os.kill(int(entry.name), signal.SIGKILL)


def _remove(kept: list[CleanupEntry], spaces: dict[CleanupEntry, int]) -> None:
    for _, number in (each for each in kept if each[0] == "group"):
        with suppress(OSError):
            os.killpg(int(number), signal.SIGKILL)
    kill_checks([str(place) for kind, place in kept if kind == "folder"])
    for handle in spaces.values():
        kill_namespace(os.fstat(handle).st_ino)
        os.close(handle)
    for _, place in reversed([each for each in kept if each[0] == "mount"]):
        with suppress(OSError):
            linux.unmount(Path(str(place)), linux.MNT_DETACH)
    for _, place in (each for each in kept if each[0] == "folder"):
        shutil.rmtree(str(place), ignore_errors=True)


def main() -> None:
    """Waits for the end of the parent process, and removes the entries that it did not remove itself.

    Namespaces are held open: the last process to leave one unmounts its mounts, and if that were the process that
    serves the drive below them, it would wait for itself.
    """
    kept: list[CleanupEntry] = []
    spaces: dict[CleanupEntry, int] = {}
    for line in sys.stdin:
        kind, what = entry = tuple(json.loads(line[1:]))
        if line[0] == "+":
            kept.append(entry)
            if kind == "namespace":
                spaces[entry] = os.open(what, os.O_RDONLY | os.O_CLOEXEC)
                os.write(1, b".")
        else:
            kept.remove(entry)
            if entry in spaces:
                os.close(spaces.pop(entry))
    _remove(kept, spaces)
