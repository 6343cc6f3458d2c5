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
from typing import Protocol

from outlast.errors import TortureError
from outlast.products.torture import cleanup, device, linux, loop
from outlast.products.torture import command as commands
from outlast.products.torture.marks import Marks
from outlast.serving.file import DriveFile

MAKE = {
    # Everything at once: what the kernel would initialise later would be in the recording.
    "ext4": ["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
}


@dataclass(frozen=True)
class Surroundings:
    """Environment of a workload: drive, marks, and callback for messages."""

    uri: str
    """NBD URI of the drive."""
    env: dict[str, str]
    """Environment of the command, beside what says where the drive is mounted and where marks go."""
    marks: Marks
    """Takes the command's marks on this computer."""
    note: Callable[[str], None]
    """Has a mark recorded, which it is when it returns; raises `marks.RefusedError`."""


@dataclass(frozen=True)
class Job:
    """Command to run on the drive, with its file system."""

    command: list[str]
    fs: str
    mkfs_options: str = ""
    mount_options: str = ""
    setup: str | None = None
    """Commands for the shell, before the recording's window begins."""


class Workload(Protocol):
    """A job, done in one thread and ended, if need be, from another."""

    @property
    def backend(self) -> str:
        """Name of the backend that mounts the drive."""

    def check(self) -> None:
        """Refuses what this computer cannot do, before anything is begun."""

    def run(self, around: Surroundings) -> int:
        """Makes the file system, mounts it, runs the command, unmounts it; the command's exit code.

        It notes `outlast:begin` when all is synced and before the command begins, `outlast:end` when the command has
        ended, and `outlast:unmounted`.
        """

    def end(self, by: signal.Signals) -> bool:
        """Sends a signal to the command and its group, if it runs; it does not begin any more if it has not begun."""


class HostWorkload:
    """A job on this computer's kernel, as root, or on the drive itself."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._begun: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unwanted = False

    @property
    def backend(self) -> str:
        """Name of the backend that mounts the drive."""
        return "none" if self._job.fs == "none" else "loop"

    def check(self) -> None:
        """Refuses what this computer cannot do."""
        if shutil.which(self._job.command[0]) is None:
            raise TortureError(f"{self._job.command[0]}: no such program, or it cannot be run")
        if self._job.fs == "none":
            return
        loop.program(MAKE[self._job.fs][0])
        DriveFile.check("outlast torture")

    def run(self, around: Surroundings) -> int:
        """Prepares the drive, runs the command, tidies up; the command's exit code."""
        return self._on_drive(around) if self._job.fs == "none" else self._on_file_system(around)

    def end(self, by: signal.Signals) -> bool:
        """Sends a signal to the command and its group, if it runs; it does not begin any more if it has not begun."""
        with self._lock:
            self._unwanted = True
            if self._process is None:
                return False
            os.killpg(self._process.pid, by)
            return True

    def _on_file_system(self, around: Surroundings) -> int:
        with loop.thread_resources() as resources:
            with device.drive_as_device(around.uri, resources.drive, resources.outside) as source:
                self._make(source.path)
                mount = resources.folder / "mount"
                try:
                    options = self._job.mount_options
                    mounted = loop.Mounted(source, mount, self._job.fs, options, resources.namespace, is_served=True)
                except OSError as error:
                    said = options and f" --mount-options {options}"
                    why = f"cannot be mounted: {error.strerror}"
                    raise TortureError(f"--fs {self._job.fs}{said}: {why}") from error
                try:
                    known = {"OUTLAST_MOUNT": str(mount), "OUTLAST_DEVICE": source.path}
                    code = self._perform(around, known, resources.folder, mount)
                finally:
                    mounted.unmount()
            around.note("outlast:unmounted")
        return code

    def _on_drive(self, around: Surroundings) -> int:
        with cleanup.temporary_folder() as folder:
            file: AbstractContextManager[DriveFile | None] = nullcontext()
            if shutil.which("nbdfuse") is not None:
                file = DriveFile(folder / "disk", "outlast torture")
            with file as opened:
                known = {}
                if opened is not None:
                    opened.open(around.uri)
                    known = {"OUTLAST_DEVICE": str(opened.path)}
                code = self._perform(around, known, folder, None)
            around.note("outlast:unmounted")
        return code

    def _make(self, device: str) -> None:
        make = [
            loop.program(MAKE[self._job.fs][0]),
            *MAKE[self._job.fs][1:],
            *shlex.split(self._job.mkfs_options),
            device,
        ]
        made = commands.run(make, {}, None)
        if made.exit != 0:
            raise TortureError(f"{MAKE[self._job.fs][0]}: {' '.join(made.output.split()) or f'exit code {made.exit}'}")

    def _perform(self, around: Surroundings, known: dict[str, str], folder: Path, mount: Path | None) -> int:
        """Runs setup and command in the environment that is known; the command's exit code."""
        known = around.env | known | around.marks.listen(around.note, folder / "marks")
        try:
            if self._job.setup is not None and (
                code := self._finish(["/bin/sh", "-c", self._job.setup], known, around)
            ):
                raise TortureError(f"--setup {self._job.setup}: failed with exit code {code}")
            if mount is not None:
                linux.sync(mount)
            around.note("outlast:begin")
            code = self._finish(self._job.command, known, around)
            around.note("outlast:end")
        finally:
            # With its background processes: none may write when the file system is unmounted.
            with self._lock:
                for process in self._begun:
                    commands.kill_session(process)
        return code

    def _finish(self, command: list[str], known: dict[str, str], around: Surroundings) -> int:
        """The exit code of a command that has ended by itself or was ended."""
        with self._lock:
            if self._unwanted:
                raise TortureError(f"{command[0]}: was stopped before it started")
            process = commands.start(command, known, None, (around.marks.kept,))
            self._begun.append(process)
            self._process = process
        with cleanup.removed_on_exit("group", process.pid):
            commands.wait(process, None)
        with self._lock:
            self._process = None
            return commands.code_of(process)
