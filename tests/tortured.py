"""Helpers for tests of `outlast torture`: file systems as states, and a search for leftovers."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from outlast.products.torture import loop
from outlast.products.torture.mounts import Disk

MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"], "btrfs": ["mkfs.btrfs", "-q", "-f"]}
SIZE = {"ext4": 128 << 20, "xfs": 300 << 20, "btrfs": 128 << 20}
"""Size of each file system's image, in bytes: mkfs.xfs makes none below 300 MiB."""


def lacks(fs: str) -> str | None:
    """Reason why this computer cannot mount a file system as root; `None` if it can."""
    lack = loop.missing(fs)
    if lack is None and subprocess.run(["which", MAKE[fs][0]], capture_output=True).returncode:
        return f"{MAKE[fs][0]} absent"
    return lack


needs_loop = pytest.mark.skipif(lacks("ext4") is not None, reason=f"mounting ext4: {lacks('ext4')}")


def image(fs: str, path: Path) -> Path:
    """An empty file system in a file."""
    with path.open("wb") as file:
        file.truncate(SIZE[fs])
    done = subprocess.run([*MAKE[fs], str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def disk(path: Path) -> Disk:
    """A file as a state; its holes stay holes."""

    def write_to(handle: int) -> int:
        count = at = 0
        with path.open("rb") as file:
            while True:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                except OSError:
                    return count
                end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                count += os.pwrite(handle, os.pread(file.fileno(), end - at, at), at)
                at = end

    return Disk(path.stat().st_size, write_to, None)


def in_threads(*works: Callable[[], None]) -> None:
    """Each in a thread of its own, at the same time; what one raises is raised."""
    raised: list[BaseException] = []

    def attempt(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=attempt, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def attached(folder: str) -> bool:
    """True if a loop device of a worker or recorder is left; it is named after its folder."""
    name = Path(folder).name
    for place in Path("/sys/block").glob("loop*/loop/backing_file"):
        # One that has gone meanwhile.
        with suppress(OSError):
            if name in place.read_text():
                return True
    return False
