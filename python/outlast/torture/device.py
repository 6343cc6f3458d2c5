"""Block devices: a loop device over a file, or over the file that nbdfuse makes of an NBD drive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outlast.serving.file import DriveFile
from outlast.torture import afterwards, linux


@dataclass(frozen=True)
class Device:
    """A block device."""

    path: str


@contextmanager
def of_drive(uri: str, file: Path, outside: Executor) -> Iterator[Device]:
    """An NBD drive as a block device; meanwhile it is a file, too, at the path `file`, where nothing may be yet.

    Nothing is cached between the block device and the drive: what the one is asked, the other is asked, too. nbdfuse
    is begun by a thread of `outside`, which must not have the mounts of what is mounted on the device: the last to
    leave a mount unmounts it, and nbdfuse would wait for itself.
    """
    drive = outside.submit(DriveFile, file, "outlast torture").result()
    with afterwards.removed("mount", file):
        try:
            outside.submit(drive.open, uri).result()
            handle = outside.submit(os.open, file, os.O_RDWR | os.O_CLOEXEC).result()
            try:
                loop = linux.Loop(handle, direct=True)
            finally:
                os.close(handle)
            with loop:
                yield Device(loop.path)
        finally:
            outside.submit(drive.close).result()


@contextmanager
def of_file(handle: int) -> Iterator[Device]:
    """An open file as a block device."""
    with linux.Loop(handle) as loop:
        yield Device(loop.path)
