"""The backend `loop`: states in memory, on loop devices, mounted by this computer's kernel; it needs root."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import TortureError
from outlast.products.torture import cleanup, device, linux
from outlast.products.torture import command as commands
from outlast.products.torture.mounts import Disk, Ran

FSCK = {
    "ext4": ["e2fsck", "-fn"],
    "xfs": ["xfs_repair", "-n"],
    "btrfs": ["btrfs", "check", "--readonly"],
}
"""Commands that check each file system without changing it."""

ALWAYS = {"xfs": "nouuid"}
"""Options with which states of one file system can be mounted beside each other."""

SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders of administrators' programs, which are not on every user's PATH."""

_one_btrfs = threading.Lock()


def missing(fs: str) -> str | None:
    """Names the part that this computer lacks for the backend with that file system; `None`: nothing."""
    if fs not in FSCK:
        return f"knows {', '.join(FSCK)}"
    if os.geteuid() != 0:
        return "needs root"
    if not os.access("/dev/loop-control", os.R_OK | os.W_OK):
        return "needs /dev/loop-control"
    if not _may_mount():
        return "needs the right to mount (CAP_SYS_ADMIN)"
    known = {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}
    if fs not in known and not _has_module(fs):
        return f"the kernel has no {fs}"
    return None


def _may_mount() -> bool:
    """True if a thread may have mounts of its own, which root in a container may lack."""
    refused: list[OSError] = []

    def attempt() -> None:
        try:
            linux.own_mounts()
        except OSError as error:
            refused.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return not refused


def _has_module(fs: str) -> bool:
    try:
        return subprocess.run([program("modprobe"), "-n", "-q", fs], capture_output=True).returncode == 0
    except TortureError:
        return False


def program(name: str) -> str:
    """A program of the administrator."""
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM)))
    if path is None:
        raise TortureError(f"{name} is needed, and not installed")
    return path


def backend(options: str) -> Loop:
    """The backend, mounting with these options."""
    return Loop(options)


class Loop:
    """States on loop devices, each worker with mounts of its own that nobody else sees."""

    name = "loop"

    def __init__(self, options: str) -> None:
        self._options = options

    @contextmanager
    def worker(self) -> Iterator[LoopWorker]:
        """A worker of the calling thread, whose mounts are its own from now on."""
        with thread_resources() as resources:
            yield LoopWorker(resources, self._options)


@dataclass(frozen=True)
class ThreadResources:
    """Resources of one thread."""

    folder: Path
    """File in memory; only the thread and its processes see what is in it."""
    namespace: int
    """Inode number of the mount namespace of the thread."""
    outside: Executor
    """A thread that has kept the mounts of this process."""

    @property
    def drive(self) -> Path:
        """Path at which the outside thread makes the file of a drive: the same folder, seen from another namespace."""
        return self.folder / f"{self.folder.name}.drive"


@contextmanager
def thread_resources() -> Iterator[ThreadResources]:
    """Gives the calling thread mounts of its own.

    When the block or this process ends, they, the processes that see them, and all that is mounted there are gone.
    """
    with cleanup.temporary_folder() as folder, ThreadPoolExecutor(1) as outside:
        # It is begun before this one has mounts of its own, which threads inherit.
        outside.submit(linux.namespace).result()
        namespace = linux.own_mounts()
        _let_go()
        path = Path("/proc", str(os.getpid()), "task", str(threading.get_native_id()), "ns/mnt")
        with cleanup.removed_on_exit("namespace", path):
            linux.mount("outlast", folder, "tmpfs", data="mode=755")
            try:
                (folder / "mount").mkdir()
                yield ThreadResources(folder, namespace, outside)
            finally:
                cleanup.kill_namespace(namespace)
                linux.unmount(folder, linux.MNT_DETACH)


def _let_go() -> None:
    """Takes copies of others' states out of the calling thread's mounts, where they would keep those devices busy."""
    for place in reversed(linux.mounts()):
        if any(each.name.startswith(cleanup.PREFIX) for each in (place, *place.parents)):
            with suppress(OSError):
                linux.unmount(place, linux.MNT_DETACH)


def mount(device: str, place: Path, fs: str, options: str, *, is_served: bool) -> None:
    """Mounts a file system of a recording; refusals of the kernel are `OSError`.

    `is_served`: whether the device is a drive of this process, which then must not wait for it in the kernel.
    """
    flags, data = linux.options(",".join(filter(None, (options, ALWAYS.get(fs)))))
    try:
        if is_served:
            linux.aside("mount", place, device, fs, str(flags), data)
        else:
            linux.mount(device, place, fs, flags, data)
    except OSError as error:
        if error.errno == errno.ENODEV:
            raise TortureError(f"the kernel has no {fs}") from error
        raise


class Mounted:
    """A device that is mounted, and how it comes off again."""

    def __init__(
        self, source: device.Device, place: Path, fs: str, options: str, namespace: int, *, is_served: bool
    ) -> None:
        self._place, self._namespace, self._is_served = place, namespace, is_served
        mount(source.path, place, fs, options, is_served=is_served)

    def unmount(self) -> None:
        """Unmounts; whoever still uses the mount is killed."""
        for _ in range(2):
            try:
                if self._is_served:
                    linux.aside("unmount", self._place)
                else:
                    linux.unmount(self._place)
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
                cleanup.kill_namespace(self._namespace)
            else:
                return
        raise TortureError(f"{self._place}: cannot be unmounted: it is still in use")


class LoopWorker:
    """Mounts one state after another at the same place."""

    def __init__(self, resources: ThreadResources, options: str) -> None:
        self._resources, self._options = resources, options

    def run(self, disk: Disk, fs: str, command: list[str], env: dict[str, str], timeout: float, fsck: bool) -> Ran:
        """Mounts the state, runs the command, unmounts, and checks the file system if asked."""
        began = time.monotonic()
        place = self._resources.folder / "mount"
        checker = [program(FSCK[fs][0]), *FSCK[fs][1:]] if fsck else None
        with self._alone(fs), self._device(disk) as source:
            try:
                is_served = disk.uri is not None
                mounted = Mounted(source, place, fs, self._options, self._resources.namespace, is_served=is_served)
            except OSError as error:
                refusal = f"mount: {error.strerror} (the kernel's log says more)\n"
                return Ran("mount", error.errno or 1, refusal, time.monotonic() - began, False)
            known = env | {"OUTLAST_MOUNT": str(place), "OUTLAST_DEVICE": source.path}
            if disk.uri is not None:
                known["OUTLAST_URI"] = disk.uri
            try:
                ended = commands.run(command, known, timeout)
            finally:
                mounted.unmount()
            if ended.exit != 0 or checker is None:
                seconds = time.monotonic() - began
                return Ran("check" if ended.exit else "done", ended.exit, ended.output, seconds, ended.timed_out)
            found = commands.run([*checker, source.path], {}, None)
            seconds = time.monotonic() - began
            return Ran("fsck" if found.exit else "done", found.exit, ended.output + found.output, seconds, False)

    @contextmanager
    def _device(self, disk: Disk) -> Iterator[device.Device]:
        with ExitStack() as stack:
            if disk.uri is not None:
                yield stack.enter_context(
                    device.drive_as_device(disk.uri, self._resources.drive, self._resources.outside)
                )
                return
            assert disk.write_to is not None, "a state is bytes or a drive"
            memory = os.memfd_create(self._resources.folder.name, os.MFD_CLOEXEC)
            stack.callback(os.close, memory)
            os.truncate(memory, disk.size)
            disk.write_to(memory)
            yield stack.enter_context(device.file_as_device(memory))

    @staticmethod
    def _alone(fs: str) -> AbstractContextManager[object]:
        """Kernels before 6.7 mount one device of a btrfs at a time: states of one file system are of one identity."""
        together = Path("/sys/fs/btrfs/features/temp_fsid").exists()
        return _one_btrfs if fs == "btrfs" and not together else nullcontext()
