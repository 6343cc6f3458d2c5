"""A served drive as a file, for programs that do not speak NBD: nbdfuse, where it is installed."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from outlast.errors import ControlError

PATIENCE_S = 15.0
"""Time that nbdfuse may take to start, and the file's last user to close it."""
LOOK_S = 0.02


class DriveFile:
    """A path at which the drive's bytes appear while the drive is served; to be used in `with`.

    `wish` is what the user said that takes it: refusals begin with it.
    """

    def __init__(self, path: Path, wish: str = "--file") -> None:
        self.path = path
        self._what = f"{wish} {path}"
        self._program, self._unmount = _programs(wish)
        _let_go_of_old(path, self._unmount)
        self._made = _is_to_be_made(path, self._what)
        self._nbdfuse: subprocess.Popen[str] | None = None

    @staticmethod
    def check(wish: str) -> None:
        """Refuses if this computer lacks what it takes."""
        _programs(wish)

    def open(self, uri: str) -> None:
        """The bytes of the drive at this address are there when it returns."""
        try:
            self.path.touch()
            # In a session of its own: a Ctrl-C is for the server, which puts an end to this in its own time.
            self._nbdfuse = subprocess.Popen(
                [self._program, str(self.path.absolute()), uri],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            raise ControlError(f"{self._what}: {error.strerror}") from error
        end = time.monotonic() + PATIENCE_S
        while not self.path.stat().st_size:
            if self._nbdfuse.poll() is not None or time.monotonic() > end:
                raise ControlError(f"{self._what}: nbdfuse: {self._complaint() or 'does not begin'}")
            time.sleep(LOOK_S)

    def _complaint(self) -> str:
        """Last output of nbdfuse."""
        assert self._nbdfuse is not None
        if self._nbdfuse.poll() is None:
            return ""
        _, output = self._nbdfuse.communicate()
        return " ".join(output.split())

    def close(self) -> None:
        """The bytes leave the path when all that was written is on the drive, at the latest when its users do."""
        if self._nbdfuse is not None:
            end = time.monotonic() + PATIENCE_S
            while self._nbdfuse.poll() is None:
                lazily = ["-z"] if time.monotonic() > end else []
                done = subprocess.run([self._unmount, "-u", *lazily, str(self.path)], capture_output=True)
                if done.returncode == 0 or lazily:
                    break
                time.sleep(10 * LOOK_S)
            with suppress(subprocess.TimeoutExpired):
                self._nbdfuse.wait(PATIENCE_S)
            if self._nbdfuse.poll() is None:
                self._nbdfuse.terminate()
            self._nbdfuse.communicate()
            self._nbdfuse = None
        if self._made:
            with suppress(OSError):
                self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _programs(wish: str) -> tuple[str, str]:
    """nbdfuse, and what takes its file away again."""
    program = shutil.which("nbdfuse")
    if program is None:
        raise ControlError(f"{wish} needs nbdfuse, which is not installed (Debian: libnbd-bin; Fedora: nbdfuse)")
    unmount = shutil.which("fusermount3") or shutil.which("fusermount")
    if unmount is None or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise ControlError(f"{wish} needs FUSE: fusermount3 on the PATH (Debian: fuse3), and /dev/fuse")
    return program, unmount


def _let_go_of_old(path: Path, unmount: str) -> None:
    """Takes away what a server that was killed has left at a path: a mount that nobody serves, and its file."""
    try:
        path.stat()
        return
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            return
    done = subprocess.run([unmount, "-u", "-z", str(path)], capture_output=True)
    with suppress(OSError):
        if done.returncode == 0 and path.lstat().st_size == 0 and path.is_file():
            path.unlink()


def _is_to_be_made(path: Path, purpose: str) -> bool:
    """True if nothing exists at a path. An existing file must be empty, since the mount hides it."""
    try:
        if not path.exists():
            if not path.absolute().parent.is_dir():
                raise ControlError(f"{purpose}: {path.parent} is not a folder")
            return True
        is_empty = path.is_file() and path.stat().st_size == 0
    except OSError as error:
        raise ControlError(
            f"{purpose}: {error.strerror}; if an earlier server left it mounted: fusermount3 -u {path}"
        ) from error
    if not is_empty:
        raise ControlError(f"{purpose}: already exists and is not an empty file, which the mount would hide")
    return False
