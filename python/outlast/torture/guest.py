"""The backend `guest`: states are mounted by the kernel of a virtual machine, in which the command runs; no root needed.

The machine sees the files of this computer, which it cannot change, and has a disk that holds one state after another.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from outlast.errors import TortureError
from outlast.torture import afterwards, guest_files
from outlast.torture.guest_image import AbsentError, Contents, image, tools
from outlast.torture.guest_machine import Machine, SilentError, acceleration, file_node, nbd_node
from outlast.torture.loop import FSCK, program
from outlast.torture.mounts import Disk, Ran

INIT = Path(__file__).parent / "assets" / "guest" / "init.sh"
APPLETS = ("sh", "mount", "mkdir", "modprobe", "chroot", "ln", "ip")
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "9p", "9pnet_virtio", "overlay", "ext4", "xfs", "btrfs")

PATIENCE_S = {"mount": 60.0, "check": 15.0, "unmount": 60.0, "fsck": 300.0, "mkfs": 300.0}
"""How long the guest may take for each thing before it counts as hanging; for a command, beyond its own time limit."""
LEAST_FREE = 0.3
"""Of a guest's memory: what checks leave behind in files is in memory, and goes when the guest is booted again."""
HANGS = 124
"""The exit code, as of timeout(1), of a guest that does not answer."""


def missing(fs: str) -> str | None:
    """What this computer lacks for the backend with that file system; `None`: nothing."""
    if fs not in FSCK:
        return f"knows {', '.join(FSCK)}"
    try:
        tools()
    except AbsentError as lack:
        return str(lack)
    return guest_files.absent(guest_files.folder())


def backend(options: str) -> Guest:
    """The backend, mounting with these options."""
    return Guest(options)


class Boot:
    """How guests are booted; the first file system is made once."""

    def __init__(self) -> None:
        self.accelerator, self.how = acceleration()
        self._files = guest_files.folder()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    def machine(self, node: dict[str, Any], keep: tuple[int, ...] = ()) -> Machine:
        """A machine with this disk; where KVM fails, it is emulated, and so are all others."""
        initrd = self._initrd()
        if self.accelerator == "kvm":
            try:
                return Machine(self._files, initrd, "kvm", node, keep)
            except SilentError:
                self.accelerator, self.how = "tcg", "emulated (TCG), since with KVM it does not boot"
        try:
            return Machine(self._files, initrd, "tcg", node, keep)
        except SilentError as silent:
            said = " ".join(silent.said.split())
            raise TortureError(f"the guest does not boot: {said[-600:] or 'it says nothing'}") from silent

    def _initrd(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="outlast-")
                contents = Contents(INIT.read_text() + _agent(), APPLETS, MODULES)
                image(self._files, contents, Path(self._folder.name))
            return Path(self._folder.name, "initrd")


def _agent() -> str:
    """The last line of the script that a guest begins with: this Python, in the files of this computer."""
    text = f"import sys; sys.path[:] = {sys.path!r}; from outlast.torture import guest_agent; guest_agent.main()"
    return "exec " + shlex.join(["chroot", "/root", sys.executable, "-S", "-c", text]) + "\n"
