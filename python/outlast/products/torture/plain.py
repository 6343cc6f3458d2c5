"""The backend `none`: nothing is mounted, the command is given a plain file; it needs no root."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outlast.products.torture import cleanup
from outlast.products.torture import command as commands
from outlast.products.torture.mounts import Disk, Ran

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder in memory, in which only a folder of our own is used


def missing(fs: str) -> str | None:
    """Names the part that this computer lacks for the backend with that file system; `None`: nothing."""
    return None if fs == "none" else "mounts nothing"


def backend(_options: str) -> Plain:
    """The backend; there is nothing to be mounted with options."""
    return Plain()


class Plain:
    """States as plain files, in memory where there is /dev/shm."""

    name = "none"

    @contextmanager
    def worker(self) -> Iterator[PlainWorker]:
        """A worker with a folder of its own."""
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        with cleanup.temporary_folder(memory) as folder:
            yield PlainWorker(folder)


class PlainWorker:
    """Writes each state to the same path."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "disk"

    def run(self, disk: Disk, fs: str, command: list[str], env: dict[str, str], timeout: float, fsck: bool) -> Ran:
        """Runs the command with the state in `OUTLAST_DEVICE`, or as the drive at `OUTLAST_URI` alone."""
        began = time.monotonic()
        known = dict(env)
        if disk.uri is not None:
            known["OUTLAST_URI"] = disk.uri
        if disk.write_to is not None:
            with self._file.open("wb") as file:
                file.truncate(disk.size)
                disk.write_to(file.fileno())
            known["OUTLAST_DEVICE"] = str(self._file)
        try:
            ended = commands.run(command, known, timeout)
        finally:
            self._file.unlink(missing_ok=True)
        return Ran(
            "check" if ended.exit else "done", ended.exit, ended.output, time.monotonic() - began, ended.timed_out
        )
