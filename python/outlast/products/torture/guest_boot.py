"""Guests, for checks and for recordings: how they are booted, and how requests are sent to their agent."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from outlast.errors import TortureError
from outlast.products.torture import cleanup, guest_files
from outlast.products.torture.guest_image import Contents, image, kernel
from outlast.products.torture.guest_kernel import unpacked
from outlast.products.torture.guest_machine import Machine, SilentError, acceleration
from outlast.products.torture.marks import RefusedError
from outlast.products.torture.mounts import Stage

INIT = Path(__file__).parent / "assets" / "guest" / "init.sh"
APPLETS = ("sh", "mount", "mkdir", "modprobe", "chroot", "ln", "ip", "cat", "chmod")
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "9p", "9pnet_virtio", "overlay", "crc32c_generic")
FILE_SYSTEMS = ("ext4", "xfs", "btrfs")

PATIENCE_S = {"mount": 60.0, "check": 15.0, "unmount": 60.0, "fsck": 300.0}
"""Time for each request before the guest counts as hanging; for a command, in addition to its own time limit."""
HANGS, ENDS = 124, 125
"""The exit codes of a guest that does not answer, as of timeout(1), and of one whose kernel gave up."""


class Boot:
    """Boots guests; the first file system is made once, and the kernel is unpacked once."""

    def __init__(self) -> None:
        self.accelerator, self.how = acceleration()
        self._files = guest_files.folder()
        self._packed: int | None = None
        self._kernel: int | None = None
        self._lock = threading.Lock()

    def machine(self, node: dict[str, Any], keep: tuple[int, ...] = ()) -> Machine:
        """A machine with this disk; where KVM fails, it is emulated, and so are all others."""
        initrd = self._initrd()
        keep = (*keep, initrd)
        if self.accelerator == "kvm":
            try:
                return Machine(kernel(self._files), initrd, "kvm", node, keep)
            except SilentError:
                self.accelerator, self.how = "tcg", "emulated (TCG), as it did not boot with KVM"
        if (plain := self._unpacked()) is not None:
            with suppress(SilentError):
                return Machine(Path(f"/dev/fd/{plain}"), initrd, "tcg", node, (*keep, plain))
        try:
            return Machine(kernel(self._files), initrd, "tcg", node, keep)
        except SilentError as silent:
            said = " ".join(silent.said.split())
            raise TortureError(f"the guest does not boot: {said[-600:] or 'it says nothing'}") from silent

    def close(self) -> None:
        """Forgets the first file system and the kernel."""
        for handle in (self._packed, self._kernel):
            if handle is not None:
                os.close(handle)
        self._packed = self._kernel = None

    def _initrd(self) -> int:
        """The first file system, packed, as a file in memory."""
        with self._lock:
            if self._packed is None:
                self._packed = os.memfd_create("initrd", os.MFD_CLOEXEC)
                contents = Contents(INIT.read_text() + _agent(), APPLETS, (*MODULES, *FILE_SYSTEMS))
                with cleanup.temporary_folder() as folder, os.fdopen(self._packed, "wb", closefd=False) as packed:
                    packed.write(image(self._files, contents, folder).read_bytes())
            return self._packed

    def _unpacked(self) -> int | None:
        """The kernel that need not unpack itself, as a file in memory; `None` where there is no such kernel."""
        with self._lock:
            if self._kernel is None and (plain := unpacked(kernel(self._files))) is not None:
                self._kernel = os.memfd_create("kernel", os.MFD_CLOEXEC)
                with os.fdopen(self._kernel, "wb", closefd=False) as file:
                    file.write(plain)
            return self._kernel


def _agent() -> str:
    """The last line of the script that a guest begins with: this Python, in the files of this computer."""
    text = f"import sys; sys.path[:] = {sys.path!r}; from {__package__} import guest_agent; guest_agent.main()"
    return "exec " + shlex.join(["chroot", "/root", sys.executable, "-S", "-c", text]) + "\n"


class LostError(Exception):
    """A guest that hangs or has ended, and what it was at."""

    def __init__(self, at: str, silent: SilentError) -> None:
        super().__init__(f"{silent} (at: {at})\n{silent.said}")
        self.stage: Stage = "mount" if at == "mount" else "fsck" if at == "fsck" else "check"
        self.timed_out = silent.timed_out
        self.exit = HANGS if silent.timed_out else ENDS


def agent_request(fs: str, options: str, command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Makes a request to the agent, with files that may change between states: a guest caches its own."""
    known = os.environ | env
    marks = known.get("OUTLAST_MARKS")
    files = {} if marks is None else {"OUTLAST_MARKS": Path(marks).read_text()}
    return {
        "fs": fs,
        "options": options,
        "command": command,
        "env": known,
        "files": files,
        "folder": str(Path.cwd()),
    }


def talk(
    machine: Machine,
    request: dict[str, Any],
    timeout: float | None,
    on_mark: Callable[[str], None] | None = None,
) -> tuple[dict[str, Any], float]:
    """Has the agent do something; how it ended, and the part of the guest's memory that is free.

    `timeout` is the command's, in seconds; `None`: the guest may take any time for anything.
    """
    at = "mount"
    machine.send(request)
    while True:
        patience = None
        if timeout is not None:
            patience = PATIENCE_S[at] + (timeout if at == "check" else 0)
        try:
            message = machine.receive(patience)
        except SilentError as silent:
            raise LostError(at, silent) from silent
        if "ended" in message:
            return message["ended"], message["memory"]
        if "refused" in message:
            raise TortureError(message["refused"])
        if "failed" in message:
            raise RuntimeError(f"the agent in the guest failed: {message['failed']}")
        if "stage" in message:
            at = message["stage"]
        elif "output" in message:
            sys.stdout.write(message["output"])
            sys.stdout.flush()
        else:
            assert on_mark is not None, "only the recorded program can make marks, not a check"
            try:
                on_mark(message["mark"])
            except RefusedError as error:
                machine.send({"error": str(error)})
            else:
                machine.send({"ok": None})
