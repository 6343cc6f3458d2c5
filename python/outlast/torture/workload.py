"""The program that is recorded: on a file system of its own on the drive, or on the drive itself."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import TortureError
from outlast.serving.file import DriveFile
from outlast.torture import afterwards, device, linux, loop
from outlast.torture import command as commands

MAKE = {
    # Everything at once: what the kernel would initialise later would be in the recording.
    "ext4": ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
}


@dataclass(frozen=True)
class Surroundings:
    """What a workload is told and kept waiting by."""

    uri: str
    """Where the drive is."""
    env: dict[str, str]
    listen: Callable[[Path], dict[str, str]]
    """Takes marks from a socket at a path from now on, and gives the environment by which that is found."""
    descriptor: int
    """The descriptor for marks, which the command inherits."""
    note: Callable[[str], None]
    """Has a mark of the recorder's own recorded."""


class Workload:
    """A command, begun in one thread and ended, if need be, from another."""

    def __init__(self, command: list[str], fs: str, mkfs_options: str, mount_options: str) -> None:
        self._command, self._fs = command, fs
        self._mkfs_options, self._mount_options = mkfs_options, mount_options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unwanted = False

    @property
    def backend(self) -> str:
        """What it is mounted by."""
        return "none" if self._fs == "none" else "loop"

    def check(self) -> None:
        """Refuses what this computer cannot do."""
        if shutil.which(self._command[0]) is None:
            raise TortureError(f"{self._command[0]}: no such program, or it cannot be run")
        if self._fs == "none":
            return
        if (lack := loop.missing(self._fs)) is not None:
            raise TortureError(f"--fs {self._fs}: recording {lack}; --fs none needs no root")
        loop.program(MAKE[self._fs][0])
        DriveFile.check("outlast torture")

    def run(self, around: Surroundings) -> int:
        """Prepares the drive, runs the command, tidies up; the command's exit code."""
        return self._on_drive(around) if self._fs == "none" else self._on_file_system(around)

    def end(self, by: signal.Signals) -> bool:
        """Sends a signal to the command and its group, if it runs; it does not begin any more if it has not begun."""
        with self._lock:
            self._unwanted = True
            if self._process is None or self._process.poll() is not None:
                return False
            os.killpg(self._process.pid, by)
            return True

    def _on_file_system(self, around: Surroundings) -> int:
        with loop.own_folder() as (folder, namespace):
            with device.of_drive(around.uri, folder / f"{folder.name}.drive") as source:
                self._make(source.path)
                mount = folder / "mount"
                try:
                    mounted = loop.Mounted(source, mount, self._fs, self._mount_options, namespace)
                except OSError as error:
                    options = self._mount_options and f" --mount-options {self._mount_options}"
                    raise TortureError(f"--fs {self._fs}{options}: cannot be mounted: {error.strerror}") from error
                try:
                    linux.sync(mount)
                    known = {"OUTLAST_MOUNT": str(mount), "OUTLAST_DEVICE": source.path}
                    code = self._perform(around, known, folder)
                finally:
                    mounted.unmount()
            around.note("outlast:unmounted")
        return code

    def _on_drive(self, around: Surroundings) -> int:
        with afterwards.place() as folder:
            file: AbstractContextManager[DriveFile | None] = nullcontext()
            if shutil.which("nbdfuse") is not None:
                file = DriveFile(folder / "disk", "outlast torture")
            with file as opened:
                known = {}
                if opened is not None:
                    opened.open(around.uri)
                    known = {"OUTLAST_DEVICE": str(opened.path)}
                code = self._perform(around, known, folder)
            around.note("outlast:unmounted")
        return code

    def _make(self, device: str) -> None:
        make = [loop.program(MAKE[self._fs][0]), *MAKE[self._fs][1:], *shlex.split(self._mkfs_options), device]
        made = commands.run(make, {}, None)
        if made.exit != 0:
            raise TortureError(f"{MAKE[self._fs][0]}: {' '.join(made.output.split()) or f'exit code {made.exit}'}")

    def _perform(self, around: Surroundings, known: dict[str, str], folder: Path) -> int:
        known = around.env | known | around.listen(folder / "marks")
        around.note("outlast:begin")
        with self._lock:
            if self._unwanted:
                raise TortureError("stopped before the command began")
            self._process = commands.start(self._command, known, None, (around.descriptor,))
        with afterwards.removed("group", self._process.pid):
            commands.wait(self._process, None)
            around.note("outlast:end")
            with self._lock:
                commands.kill_session(self._process)
        return commands.code_of(self._process)
