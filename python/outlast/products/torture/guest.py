"""The backend `guest`: a virtual machine's kernel mounts the states, and the command runs there; it needs no root.

The machine sees the files of this computer, which it cannot change, and has a disk that holds one state after another.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from outlast.products.torture import guest_files
from outlast.products.torture.guest_boot import FILE_SYSTEMS, Boot, LostError, agent_request, talk
from outlast.products.torture.guest_image import AbsentError, tools
from outlast.products.torture.guest_machine import Machine, file_node
from outlast.products.torture.loop import FSCK, program
from outlast.products.torture.mounts import Disk, Ran

LEAST_FREE = 0.3
"""Share of a guest's memory: files that checks leave behind are in memory, and vanish with the next boot."""


def missing(fs: str) -> str | None:
    """Names the part that this computer lacks for the backend with that file system; `None`: nothing."""
    if fs not in FILE_SYSTEMS:
        return f"knows {', '.join(FILE_SYSTEMS)}"
    try:
        tools()
    except AbsentError as lack:
        return str(lack)
    return guest_files.absent(guest_files.folder())


def backend(options: str) -> Guest:
    """The backend, mounting with these options."""
    return Guest(options)


class Guest:
    """States in guests, one for each worker."""

    def __init__(self, options: str) -> None:
        self._options = options
        self._boot = Boot()

    @property
    def name(self) -> str:
        """Information on how the guest is run."""
        return f"guest, {self._boot.how}"

    @contextmanager
    def worker(self) -> Iterator[GuestWorker]:
        """A worker with a guest of its own, which is booted for the first state."""
        worker = GuestWorker(self._boot, self._options)
        try:
            yield worker
        finally:
            worker.close()


class GuestWorker:
    """Mounts one state after another in a guest."""

    def __init__(self, boot: Boot, options: str) -> None:
        self._boot, self._options = boot, options
        self._machine: Machine | None = None
        self._size = 0
        self._disk = os.memfd_create("state", os.MFD_CLOEXEC)

    def close(self) -> None:
        """Ends the guest."""
        self._end()
        os.close(self._disk)

    def run(self, disk: Disk, fs: str, command: list[str], env: dict[str, str], timeout: float, fsck: bool) -> Ran:
        """Mounts the state in the guest, runs the command there, unmounts, and checks the file system if asked."""
        request = agent_request(fs, self._options, command, env) | {
            "do": "check",
            "size": disk.size,
            "timeout": timeout,
            "fsck": [program(FSCK[fs][0]), *FSCK[fs][1:]] if fsck else None,
        }
        machine = self._booted(disk.size)
        began = time.monotonic()
        if disk.uri is not None:
            request["env"]["OUTLAST_URI"] = disk.uri
        else:
            assert disk.write_to is not None, "a state is bytes or a drive"
            disk.write_to(self._disk)
        try:
            with machine.drive(disk.uri) if disk.uri is not None else nullcontext():
                ended, memory = talk(machine, request, timeout)
        except LostError as lost:
            self._end()
            return Ran(lost.stage, lost.exit, str(lost), time.monotonic() - began, lost.timed_out)
        except BaseException:
            self._end()
            raise
        if memory < LEAST_FREE:
            self._end()
        return Ran(seconds=time.monotonic() - began, **ended)

    def _booted(self, size: int) -> Machine:
        """The guest, with an empty disk of that size."""
        if self._machine is not None and size != self._size:
            self._end()
        os.truncate(self._disk, 0)
        os.truncate(self._disk, size)
        if self._machine is None:
            self._machine = self._boot.machine(file_node(self._disk), (self._disk,))
            self._size = size
        return self._machine

    def _end(self) -> None:
        if self._machine is not None:
            self._machine.close()
            self._machine = None
