"""Calls of Linux that Python has no function for: namespaces, mounts, loop devices."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Self

CLONE_NEWNS = 0x20000
MS_REC, MS_SLAVE, MNT_DETACH = 0x4000, 1 << 19, 2
LOOP_CTL_GET_FREE, LOOP_CONFIGURE = 0x4C82, 0x4C0A
LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO = 4, 16
SECTOR = 512

FLAGS = {
    "defaults": 0,
    "ro": 1,
    "nosuid": 2,
    "nodev": 4,
    "noexec": 8,
    "sync": 0x10,
    "dirsync": 0x80,
    "noatime": 0x400,
    "nodiratime": 0x800,
    "relatime": 1 << 21,
    "strictatime": 1 << 24,
    "lazytime": 1 << 25,
}
"""Options of mount(8) that are flags of mount(2); all others are the file system's own."""

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def own_mounts() -> int:
    """Gives the calling thread mounts of its own, of which nobody else learns; the number of its namespace.

    It begins with a copy of all mounts that there are. What others unmount goes from it, too, where mounts are shared.
    """
    _check(_libc.unshare(CLONE_NEWNS))
    mount("none", Path("/"), None, MS_REC | MS_SLAVE)
    return namespace()


def namespace() -> int:
    """The number of the calling thread's mount namespace."""
    return os.stat("/proc/thread-self/ns/mnt").st_ino  # noqa: PTH116 - a path that names no file


def mounts() -> list[Path]:
    """The places where something is mounted for the calling thread, in the order of mounting."""
    lines = os.fsencode(Path("/proc/thread-self/mountinfo").read_text("utf-8", "surrogateescape")).splitlines()
    places = (line.split(b" ")[4] for line in lines)
    return [Path(os.fsdecode(re.sub(rb"\\(\d{3})", lambda found: bytes([int(found[1], 8)]), at))) for at in places]


def mount(source: str, place: Path, fs: str | None, flags: int = 0, data: str = "") -> None:
    """The system call of this name; errors are raised."""
    _check(
        _libc.mount(
            source.encode(), os.fsencode(place), fs and fs.encode(), ctypes.c_ulong(flags), data.encode() or None
        )
    )


def unmount(place: Path, flags: int = 0) -> None:
    """Takes a mount away, as umount2(2) does."""
    _check(_libc.umount2(os.fsencode(place), flags))


_ASIDE = """
import ctypes, os, sys
libc, (call, *given) = ctypes.CDLL(None, use_errno=True), sys.argv[1:]
place = os.fsencode(given[0])
if call == "mount":
    source, fs, flags, data = given[1:]
    result = libc.mount(source.encode(), place, fs.encode(), ctypes.c_ulong(int(flags)), data.encode() or None)
elif call == "unmount":
    result = libc.umount2(place, 0)
else:
    result = libc.syncfs(os.open(place, os.O_RDONLY | os.O_DIRECTORY))
sys.exit(ctypes.get_errno() if result < 0 else 0)
"""


def aside(call: str, place: Path, *given: str) -> None:
    """A call by a process of its own, with the calling thread's mounts, for a device that this process serves.

    A thread that waits in the kernel for its own process cannot be killed, nor could then the process.
    """
    command = [sys.executable, "-S", "-c", _ASIDE, call, str(place), *given]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode
    if ended != 0:
        # A signal is as good as an interrupted call.
        number = ended if ended > 0 else errno.EINTR
        raise OSError(number, os.strerror(number))


def sync(place: Path) -> None:
    """Everything that was written to the file system of a folder is on its device when this returns."""
    aside("sync", place)


def options(text: str) -> tuple[int, str]:
    """Options of mount(8) as flags and data of mount(2)."""
    words = [word for word in text.split(",") if word]
    flags = sum({FLAGS[word] for word in words if word in FLAGS})
    return flags, ",".join(word for word in words if word not in FLAGS)


class Loop:
    """A loop device over a file, which goes when its last user has closed it; to be used in `with`."""

    def __init__(self, file: int, *, direct: bool = False) -> None:
        flags = LO_FLAGS_AUTOCLEAR | (LO_FLAGS_DIRECT_IO if direct else 0)
        self._handle, self.path = _attach(file, flags)
        if direct and Path("/sys/block", Path(self.path).name, "loop/dio").read_text().strip() != "1":
            os.close(self._handle)
            raise OSError(
                errno.EOPNOTSUPP,
                "the kernel's loop device has no direct I/O, and so would not send commands as they come",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def _attach(file: int, flags: int) -> tuple[int, str]:
    # struct loop_config: the file, the size of a sector, struct loop_info64, eight words that are reserved.
    info = struct.pack("=5Q4I160s2Q", *(0,) * 8, flags, b"", 0, 0)
    config = struct.pack("=II", file, SECTOR) + info + bytes(64)
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    try:
        while True:
            path = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(handle, LOOP_CONFIGURE, config)
            except OSError as error:
                os.close(handle)
                # Somebody else was quicker.
                if error.errno != errno.EBUSY:
                    raise
            else:
                return handle, path
    finally:
        os.close(control)
