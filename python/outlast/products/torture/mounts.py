"""Backends that mount and check the states of a recording, and the choice of one that works on this computer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol

from outlast.errors import TortureError

Stage = Literal["mount", "check", "fsck", "done"]

BACKENDS = {
    "none": "outlast.products.torture.plain",
    "loop": "outlast.products.torture.loop",
    "guest": "outlast.products.torture.guest",
    "fuse2fs": "outlast.products.torture.fuse2fs",
}
"""The module of each backend, in the order in which they are tried. Each has `missing(fs)` and `backend(options)`."""


@dataclass(frozen=True)
class Disk:
    """Content of a state for a backend: bytes for a plain file, or an NBD drive."""

    size: int
    """Bytes."""
    write_to: Callable[[int], int] | None
    """Writes all that is not zero to an empty file of that size, by its descriptor; `None`: only the drive has it."""
    uri: str | None
    """The NBD drive that holds it; `None`: there is none."""


@dataclass(frozen=True)
class Ran:
    """Outcome of a check."""

    stage: Stage
    """Stage at which it failed, or `done`."""
    exit: int
    """The command's exit code, 128 and the signal that ended it, or fsck's; of a mount the number of the error."""
    output: str
    """The last 64 KiB of what the command printed on both streams, or why it could not be mounted."""
    seconds: float
    """Life of a mount, from the empty device to its removal."""
    timed_out: bool
    """True if the command was killed because it took too long."""


class Worker(Protocol):
    """One state after another, from one thread: that which entered it."""

    def run(self, disk: Disk, fs: str, command: list[str], env: dict[str, str], timeout: float, fsck: bool) -> Ran:
        """Mounts the disk, runs the command, unmounts, checks the file system if asked.

        `env` is added to this process's environment (`OUTLAST_MARK`, `OUTLAST_MARKS`, `OUTLAST_STATE`); the worker adds
        `OUTLAST_MOUNT` (not with fs `none`), `OUTLAST_DEVICE`, and `OUTLAST_URI` where the disk is a drive. `timeout`
        is in seconds and of the command alone. The command's folder is this process's.
        """


class Backend(Protocol):
    """A way to mount states."""

    @property
    def name(self) -> str:
        """Said in every summary and result."""

    def worker(self) -> AbstractContextManager[Worker]:
        """A worker; to be entered and used by one thread, left with nothing behind."""


class _Module(Protocol):
    def missing(self, fs: str) -> str | None:
        """Names the part that this computer lacks for the backend with that file system; `None`: nothing."""

    def backend(self, options: str, /) -> Backend:
        """The backend, mounting with these options of mount(8)."""


def choose(fs: str, options: str = "", name: str | None = None) -> Backend:
    """The named backend, or the first that this computer can use; says what is missing where there is none."""
    if name is not None and name not in BACKENDS:
        raise TortureError(f"backend {name}: must be one of {', '.join(BACKENDS)}")
    lacks = []
    for each in [name] if name is not None else BACKENDS:
        module: _Module = import_module(BACKENDS[each])
        lack = module.missing(fs)
        if lack is None:
            return module.backend(options)
        lacks.append(f"{each}: {lack}")
    raise TortureError(f"{fs} cannot be mounted here: {'; '.join(lacks)}")
