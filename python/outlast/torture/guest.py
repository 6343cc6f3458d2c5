"""The backend `guest`: states are mounted by the kernel of a virtual machine, in which the command runs; no root needed.

The machine sees the files of this computer, which it cannot change, and has a disk that holds one state after another.
"""

from __future__ import annotations

import os
import shlex
import sys
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
from outlast.torture.mounts import Disk, Ran, Stage

INIT = Path(__file__).parent / "assets" / "guest" / "init.sh"
APPLETS = ("sh", "mount", "mkdir", "modprobe", "chroot", "ln", "ip", "cat", "chmod")
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "9p", "9pnet_virtio", "overlay", "crc32c_generic", "ext4", "xfs", "btrfs")

PATIENCE_S = {"mount": 60.0, "check": 15.0, "unmount": 60.0, "fsck": 300.0, "mkfs": 300.0}
"""How long the guest may take for each thing before it counts as hanging; for a command, beyond its own time limit."""
LEAST_FREE = 0.3
"""Of a guest's memory: what checks leave behind in files is in memory, and goes when the guest is booted again."""
HANGS, ENDS = 124, 125
"""The exit codes of a guest that does not answer, as of timeout(1), and of one whose kernel gave up."""


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
        self._packed: int | None = None
        self._lock = threading.Lock()

    def machine(self, node: dict[str, Any], keep: tuple[int, ...] = ()) -> Machine:
        """A machine with this disk; where KVM fails, it is emulated, and so are all others."""
        initrd = self._initrd()
        keep = (*keep, initrd)
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

    def close(self) -> None:
        """Forgets the first file system."""
        if self._packed is not None:
            os.close(self._packed)
            self._packed = None

    def _initrd(self) -> int:
        """The first file system, packed, as a file in memory."""
        with self._lock:
            if self._packed is None:
                self._packed = os.memfd_create("initrd", os.MFD_CLOEXEC)
                contents = Contents(INIT.read_text() + _agent(), APPLETS, MODULES)
                with afterwards.place() as folder, os.fdopen(self._packed, "wb", closefd=False) as packed:
                    packed.write(image(self._files, contents, folder).read_bytes())
            return self._packed


def _agent() -> str:
    """The last line of the script that a guest begins with: this Python, in the files of this computer."""
    text = f"import sys; sys.path[:] = {sys.path!r}; from outlast.torture import guest_agent; guest_agent.main()"
    return "exec " + shlex.join(["chroot", "/root", sys.executable, "-S", "-c", text]) + "\n"


class Guest:
    """States in guests, one for each worker."""

    def __init__(self, options: str) -> None:
        self._options = options
        self._boot = Boot()

    @property
    def name(self) -> str:
        """With how the guest is run."""
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
        asked = _asked(fs, self._options, command, env) | {
            "do": "check",
            "size": disk.size,
            "timeout": timeout,
            "fsck": [program(FSCK[fs][0]), *FSCK[fs][1:]] if fsck else None,
        }
        machine = self._booted(disk.size)
        began = time.monotonic()
        if disk.uri is not None:
            asked["env"]["OUTLAST_URI"] = disk.uri
        else:
            assert disk.write_to is not None, "a state is bytes or a drive"
            disk.write_to(self._disk)
        try:
            with machine.drive(disk.uri) if disk.uri is not None else nullcontext():
                ended, memory = _talk(machine, asked, timeout)
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


class LostError(Exception):
    """A guest that hangs or has ended, and what it was at."""

    def __init__(self, at: str, silent: SilentError) -> None:
        super().__init__(f"{silent} (at: {at})\n{silent.said}")
        self.stage: Stage = "mount" if at == "mount" else "fsck" if at == "fsck" else "check"
        self.timed_out = silent.timed_out
        self.exit = HANGS if silent.timed_out else ENDS


def _asked(fs: str, options: str, command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """What is asked of the agent; files that change between states go along, since a guest keeps what it has read."""
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


def _talk(
    machine: Machine,
    asked: dict[str, Any],
    timeout: float | None,
    on_mark: Callable[[str], None] | None = None,
) -> tuple[dict[str, Any], float]:
    """Has the agent do something; how it ended, and the part of the guest's memory that is free."""
    at = "mount"
    machine.send(asked)
    while True:
        patience: float | None = PATIENCE_S[at]
        if at == "check":
            patience = None if timeout is None else timeout + PATIENCE_S[at]
        try:
            message = machine.receive(patience)
        except SilentError as silent:
            raise LostError(at, silent) from silent
        if "ended" in message:
            return message["ended"], message["memory"]
        if "refused" in message:
            raise TortureError(message["refused"])
        if "stage" in message:
            at = message["stage"]
        elif "output" in message:
            sys.stdout.write(message["output"])
            sys.stdout.flush()
        else:
            assert on_mark is not None, "a check makes no marks"
            on_mark(message["mark"])
            machine.send({})


def workload(
    uri: str,
    fs: str,
    mkfs_options: list[str],
    mount_options: str,
    command: list[str],
    env: dict[str, str],
    on_mark: Callable[[str], None],
) -> int:
    """Runs a command in a guest over an NBD drive with a new file system; its exit code.

    `on_mark` is told of each mark, of this module's own, too: `outlast:begin` when the file system is mounted and
    synced, `outlast:end`, `outlast:unmounted`. The guest goes on when it returns. What the command prints is printed.
    """
    boot = Boot()
    try:
        with boot.machine(nbd_node(uri)) as machine:
            asked = _asked(fs, mount_options, command, env) | {
                "do": "record",
                "size": None,
                "mkfs": [program(f"mkfs.{fs}"), *mkfs_options],
            }
            ended, _ = _talk(machine, asked, None, on_mark)
    except LostError as lost:
        raise TortureError(" ".join(str(lost).split())) from lost
    finally:
        boot.close()
    code: int = ended["exit"]
    return code
