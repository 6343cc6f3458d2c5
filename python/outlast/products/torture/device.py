"""Block devices: a loop device over a file, or over the file that nbdfuse makes of an NBD drive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outlast.products.torture import cleanup, linux
from outlast.serving.file import DriveFile


@dataclass(frozen=True)
class Device:
    """A block device."""

    path: str


@contextmanager
def drive_as_device(uri: str, file: Path, outside: Executor) -> Iterator[Device]:
    """Makes an NBD drive a block device, by way of a file at the path `file`, where nothing may exist yet.

    Nothing is cached between the block device and the drive: every request of one reaches the other. A thread of
    `outside` starts nbdfuse; it must not see the mounts on the device: the last process to leave a mount unmounts it,
    and nbdfuse would wait for itself.
    """
    drive = outside.submit(DriveFile, file, "outlast torture").result()
    with cleanup.removed_on_exit("mount", file):
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
def file_as_device(handle: int) -> Iterator[Device]:
    """Makes an open file a block device."""
    with linux.Loop(handle) as loop:
        yield Device(loop.path)
