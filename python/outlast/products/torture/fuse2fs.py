"""The backend `fuse2fs`: ext4 in user space, for checks; it needs /dev/fuse, and neither root nor a virtual machine.

fuse2fs does not replay the journal (that of e2fsprogs 1.47.0 crashes when it should), so e2fsck does before. It writes
without a journal: what a check changes is of no use for a recording.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from outlast.errors import TortureError
from outlast.products.torture import cleanup
from outlast.products.torture import command as commands
from outlast.products.torture.loop import FSCK, program
from outlast.products.torture.mounts import Disk, Ran
from outlast.products.torture.plain import MEMORY
from outlast.serving.file import DriveFile

FUSE = Path("/dev/fuse")
RECOVER = ["-p", "-E", "journal_only"]
CORRECTED = 1
"""e2fsck's highest exit code after which the file system is in order."""
PATIENCE_S = 15.0
"""Time that fuse2fs may take to start, and to end."""
LOOK_S = 0.002


def missing(fs: str) -> str | None:
    """Names the part that this computer lacks for the backend with that file system; `None`: nothing."""
    if fs != "ext4":
        return "knows ext4"
    if not os.access(FUSE, os.R_OK | os.W_OK):
        return f"needs {FUSE}"
    for name in ("fuse2fs", "e2fsck"):
        try:
            program(name)
        except TortureError:
            return f"needs {name}, which is not installed"
    return None if _fusermount() else "needs fusermount3, which is not installed"


def _fusermount() -> str | None:
    return shutil.which("fusermount3") or shutil.which("fusermount")


def backend(options: str) -> Fuse2fs:
    """The backend; fuse2fs has none of the kernel's options."""
    if options:
        raise TortureError(f"fuse2fs: mounts with no options of the kernel, such as {options}")
    return Fuse2fs()


class Fuse2fs:
    """States as files, mounted in user space."""

    name = "fuse2fs"

    @contextmanager
    def worker(self) -> Iterator[Fuse2fsWorker]:
        """A worker with a folder of its own."""
        with cleanup.temporary_folder(MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
            (folder / "mount").mkdir()
            yield Fuse2fsWorker(folder)


class Fuse2fsWorker:
    """Mounts one state after another at the same place."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._place = folder, folder / "mount"

    def run(self, disk: Disk, fs: str, command: list[str], env: dict[str, str], timeout: float, fsck: bool) -> Ran:
        """Replays the journal, mounts, runs the command, unmounts, and checks the file system if asked."""
        began = time.monotonic()
        with self._file(disk) as file:
            recovered = commands.run([program("e2fsck"), *RECOVER, str(file)], {}, None)
            if recovered.exit > CORRECTED:
                return Ran("mount", recovered.exit, recovered.output, time.monotonic() - began, False)
            with ExitStack() as stack:
                refused = stack.enter_context(self._mounted(file))
                if refused is not None:
                    return Ran("mount", 1, refused, time.monotonic() - began, False)
                known = env | {"OUTLAST_MOUNT": str(self._place), "OUTLAST_DEVICE": str(file)}
                if disk.uri is not None:
                    known["OUTLAST_URI"] = disk.uri
                ended = commands.run(command, known, timeout)
            if ended.exit or not fsck:
                seconds = time.monotonic() - began
                return Ran("check" if ended.exit else "done", ended.exit, ended.output, seconds, ended.timed_out)
            found = commands.run([program(FSCK[fs][0]), *FSCK[fs][1:], str(file)], {}, None)
            seconds = time.monotonic() - began
            return Ran("fsck" if found.exit else "done", found.exit, ended.output + found.output, seconds, False)

    @contextmanager
    def _file(self, disk: Disk) -> Iterator[Path]:
        file = self._folder / "disk"
        if disk.uri is not None:
            with DriveFile(file, "outlast torture") as drive:
                drive.open(disk.uri)
                yield file
            return
        assert disk.write_to is not None, "a state is bytes or a drive"
        try:
            with file.open("wb") as out:
                out.truncate(disk.size)
                disk.write_to(out.fileno())
            yield file
        finally:
            file.unlink(missing_ok=True)

    @contextmanager
    def _mounted(self, file: Path) -> Iterator[str | None]:
        """Meanwhile it is mounted; why it is not, if it cannot be."""
        outside = self._place.stat().st_dev
        # In the foreground it ends when all that was written is in the file; when it is killed, the mount goes, too.
        # Who checks may read everything, as root does elsewhere.
        command = [program("fuse2fs"), "-f", "-o", "fakeroot,auto_unmount", str(file), str(self._place)]
        output = os.memfd_create("output", os.MFD_CLOEXEC)
        try:
            process = commands.start(command, {}, output)
            with cleanup.removed_on_exit("group", process.pid):
                if self._begins(process, outside):
                    try:
                        yield None
                    finally:
                        self._unmount(process)
                else:
                    commands.kill_session(process)
                    said = os.pread(output, commands.LONGEST_OUTPUT, 0).decode(errors="replace")
                    yield f"{said}fuse2fs: exit code {commands.code_of(process)}\n"
        finally:
            os.close(output)

    def _begins(self, process: subprocess.Popen[bytes], outside: int) -> bool:
        end = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < end:
            try:
                if self._place.stat().st_dev != outside:
                    return True
            except OSError:
                # A mount whose process is about to end.
                pass
            time.sleep(LOOK_S)
        return False

    def _unmount(self, process: subprocess.Popen[bytes]) -> None:
        """Unmounts; whoever still uses the mount loses it."""
        unmount = _fusermount() or "fusermount3"
        for lazily in ([], ["-z"]):
            done = subprocess.run([unmount, "-u", *lazily, str(self._place)], capture_output=True)
            if done.returncode == 0:
                break
        if not commands.wait(process, PATIENCE_S):
            commands.kill_session(process)
            raise TortureError(f"{self._place}: fuse2fs has not exited")
        process.wait()
