"""What is left to be removed when this process is killed: a process of its own waits for that, and removes it.

On its standard input are lines, `+` or `-` and a JSON list of two; when input ends, what was added and not taken away
goes, in this order:

| kind | what goes |
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

from outlast.torture import linux

Kept = tuple[str, int | str]

PREFIX = "outlast-"
"""How the names of folders for states begin."""
PATIENCE_S = 10.0
"""How long processes may take to die."""
LOOK_S = 0.01


@contextmanager
def removed(kind: str, what: int | Path) -> Iterator[None]:
    """Something that would have to be removed if this process were killed during the block."""
    if os.getpid() == 1:
        # What the first process of a guest or container leaves behind goes with that.
        yield
        return
    entry = json.dumps([kind, what if isinstance(what, int) else str(what)])
    _Watch.tell(f"+{entry}\n", answered=kind == "namespace")
    try:
        yield
    finally:
        _Watch.tell(f"-{entry}\n")


@contextmanager
def place(folder: Path | None = None) -> Iterator[Path]:
    """An empty folder of this user, in `folder` or among temporary files; gone when the block or this process ends."""
    made = Path(folder or tempfile.gettempdir()).absolute() / f"{PREFIX}{secrets.token_hex(8)}"
    # Told before it is there: a kill in between would leave it behind.
    with removed("folder", made):
        made.mkdir(mode=0o700)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def end_namespace(number: int) -> None:
    """Kills the processes of a mount namespace, except for this one, of which a thread may be in it."""
    end = time.monotonic() + PATIENCE_S
    while (found := set(_in_namespace(number)) - {os.getpid()}) and time.monotonic() < end:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_S)


def _in_namespace(number: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # Whatever has ended meanwhile, or is another user's.
            with suppress(OSError):
                if (entry / "ns" / "mnt").stat().st_ino == number:
                    yield int(entry.name)


class _Watch:
    """The process that waits, begun when there is first something to be removed."""

    _lock = threading.Lock()
    _pipes: tuple[int, int] | None = None

    @classmethod
    def tell(cls, line: str, *, answered: bool = False) -> None:
        with cls._lock:
            if cls._pipes is None:
                cls._pipes = cls._begin()
            told, answers = cls._pipes
            os.write(told, line.encode())
            if answered:
                os.read(answers, 1)

    @staticmethod
    def _begin() -> tuple[int, int]:
        theirs, ours = os.pipe()
        answers, answering = os.pipe()
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        actions = [(os.POSIX_SPAWN_DUP2, source, to) for source, to in ((theirs, 0), (answering, 1), (null, 2))]
        program = f"import sys; sys.path[:] = {sys.path!r}; from outlast.torture import afterwards; afterwards.main()"
        command = [sys.executable, "-S", "-c", program]
        # In a session of its own, which Ctrl-C does not reach.
        os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
        for each in (theirs, answering, null):
            os.close(each)
        return ours, answers


def end_checks(folders: list[str]) -> None:
    """Kills the checks that were given a drive in one of these folders, also those whose group is not known yet."""
    given = [f"\0OUTLAST_DEVICE={folder}/".encode() for folder in folders]
    for entry in Path("/proc").iterdir() if given else ():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            # Whatever has ended meanwhile, or is another user's.
            with suppress(OSError):
                environ = b"\0" + (entry / "environ").read_bytes()
                if any(each in environ for each in given):
                    os.kill(int(entry.name), signal.SIGKILL)


def _remove(kept: list[Kept], spaces: dict[Kept, int]) -> None:
    for _, number in (each for each in kept if each[0] == "group"):
        with suppress(OSError):
            os.killpg(int(number), signal.SIGKILL)
    end_checks([str(place) for kind, place in kept if kind == "folder"])
    for handle in spaces.values():
        end_namespace(os.fstat(handle).st_ino)
        os.close(handle)
    for _, place in reversed([each for each in kept if each[0] == "mount"]):
        with suppress(OSError):
            linux.unmount(Path(str(place)), linux.MNT_DETACH)
    for _, place in (each for each in kept if each[0] == "folder"):
        shutil.rmtree(str(place), ignore_errors=True)


def main() -> None:
    """Waits for the end of the process that began this one, and removes what that had no time to remove.

    Namespaces are held open: the last to leave one unmounts what is mounted there, and if that were the process that
    serves the drive below it, it would wait for itself.
    """
    kept: list[Kept] = []
    spaces: dict[Kept, int] = {}
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
