"""Block devices: a loop device over a file, or over the file that nbdfuse makes of an NBD drive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outlast.serving.file import DriveFile
from outlast.torture import linux


@dataclass(frozen=True)
class Device:
    """A block device, and the processes that it takes."""

    path: str
    processes: tuple[int, ...] = ()


@contextmanager
def of_drive(uri: str, file: Path) -> Iterator[Device]:
    """An NBD drive as a block device; meanwhile it is a file, too, at the path `file`, where nothing may be yet.

    Nothing is cached between the block device and the drive: what the one is asked, the other is asked, too.
    """
    with DriveFile(file, "outlast torture") as drive:
        drive.open(uri)
        handle = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        try:
            loop = linux.Loop(handle, direct=True)
        finally:
            os.close(handle)
        with loop:
            yield Device(loop.path, (drive.pid,) if drive.pid is not None else ())


@contextmanager
def of_file(handle: int) -> Iterator[Device]:
    """An open file as a block device."""
    with linux.Loop(handle) as loop:
        yield Device(loop.path)
