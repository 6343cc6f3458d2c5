"""A file system on a served array, through the death of a die and a loss of power: `make serve-demo`.

As root with FUSE it makes ext4 on the array (nbdfuse, a loop device) and lets fio verify what it writes there; else fio
writes to the array itself. It ends with how many bytes are wrong. With `--quick` it writes a quarter as much.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import outlast

MEMBER, DIE = 2, 13
QUICK = sys.argv[1:] == ["--quick"]
FILES, FILE_BYTES = 6 if QUICK else 24, 2 << 20
OVERRIDES = {"faults": [], "precondition.fill": "none", "precondition.overwrite": "none"}
FIO = (
    "fio",
    "--name=load",
    "--rw=randwrite",
    "--bs=8k",
    "--size=24m" if QUICK else "--size=96m",
    "--verify=crc32c",
    "--verify_fatal=1",
    "--verify_state_save=0",
    "--randseed=1",
)


def say(text: str) -> None:
    """A line, at once."""
    print(f"== {text}", flush=True)


def call(*command: str | Path) -> str:
    """What a program prints; ends the demonstration if it fails."""
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


class FileSystem:
    """ext4 on the array, by way of nbdfuse and a loop device."""

    def __init__(self, uri: str, folder: Path) -> None:
        self._uri, self._file, self.place = uri, folder / "array", folder / "mounted"
        self._file.touch()
        self.place.mkdir()
        self._attach()
        call("mkfs.ext4", "-q", "-E", "nodiscard", self._loop)
        call("mount", self._loop, self.place)

    def _attach(self) -> None:
        command = [shutil.which("nbdfuse") or "nbdfuse", str(self._file), self._uri]
        # What it says when its server is gone is of no interest: it is begun again then.
        self._nbdfuse = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if self._file.stat().st_size:
                break
            time.sleep(0.1)
        self._loop = call("losetup", "--find", "--show", "--direct-io=on", self._file)

    def mount_again(self) -> None:
        """After a loss of power: what is left of the old connection goes, and the journal is replayed."""
        self.close()
        self._attach()
        call("mount", self._loop, self.place)

    def close(self) -> None:
        """Unmounts, whatever state it is in."""
        for command in (("umount", self.place), ("losetup", "-d", self._loop), ("umount", self._file)):
            subprocess.run(list(map(str, command)), capture_output=True)
        self._nbdfuse.terminate()
        self._nbdfuse.wait(10)


def can_mount() -> bool:
    """Whether there is what a file system takes."""
    tools = ("nbdfuse", "losetup", "mkfs.ext4", "mount")
    return os.geteuid() == 0 and Path("/dev/fuse").exists() and all(map(shutil.which, tools))


def write_files(place: Path) -> dict[Path, bytes]:
    """Files of random bytes, safe on the array when this returns."""
    dice = random.Random(1)  # noqa: S311 - the same files each time
    files = {place / f"file-{number}": dice.randbytes(FILE_BYTES) for number in range(FILES)}
    for path, content in files.items():
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    os.sync()
    return files


def wrong_bytes(files: dict[Path, bytes]) -> int:
    """Bytes that are not what was written."""
    wrong = 0
    for path, content in files.items():
        found = path.read_bytes() if path.exists() else b""
        wrong += abs(len(content) - len(found)) + sum(a != b for a, b in zip(content, found, strict=False))
    return wrong


@contextmanager
def file_system(served: outlast.Served) -> Iterator[FileSystem | None]:
    """One where there can be one."""
    if not can_mount():
        say("no file system here (it takes root, FUSE, nbdfuse and mkfs.ext4): fio writes to the array itself")
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        mounted = FileSystem(served.uri, Path(folder))
        try:
            yield mounted
        finally:
            mounted.close()


def kill_a_die_under_load(served: outlast.Served, target: list[str]) -> None:
    """While fio writes and verifies, a die dies."""
    with subprocess.Popen([*FIO, *target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as fio:
        time.sleep(0.4 if QUICK else 1.5)
        served.fault(die=DIE, device=MEMBER)
        say(f"die {DIE} of drive {MEMBER} is dead; fio goes on")
        output, _ = fio.communicate(timeout=100)
    if fio.returncode:
        sys.exit(f"fio found something wrong:\n{output}")
    say("fio read back all that it wrote: nothing wrong")


def wait_for_repair(served: outlast.Served) -> None:
    """Until the array is whole again, or a quarter of a minute has passed; half of that where it is to be quick."""
    for _ in range(40 if QUICK else 75):
        array = served.state()["machine"]["array"]
        if array["repairs"] and all(repair["finished_ns"] is not None for repair in array["repairs"]):
            say(f"the die is made good: the array is {array['condition']}")
            return
        time.sleep(0.2)
    say("the repair goes on")


def main() -> None:
    """The demonstration."""
    begun = time.monotonic()
    say("serving die-repair: eight drives as RAID-5, 15.8 GiB")
    with outlast.serve("die-repair", OVERRIDES, speed=1.0, http=True) as served:
        say(f"the live page: {served.url}")
        with file_system(served) as mounted:
            if mounted is None:
                kill_a_die_under_load(served, ["--ioengine=nbd", "--iodepth=16", f"--uri={served.uri}"])
                wait_for_repair(served)
                served.power_cut()
                say("the power was cut")
                call(*FIO, "--ioengine=nbd", "--iodepth=16", f"--uri={served.uri}", "--verify_only=1")
                wrong = 0  # or fio would have said so
            else:
                files = write_files(mounted.place)
                say(f"ext4 at {mounted.place}, {FILES} files of {FILE_BYTES >> 20} MiB written and synchronised")
                kill_a_die_under_load(
                    served, [f"--directory={mounted.place}", "--direct=1", "--ioengine=libaio", "--iodepth=16"]
                )
                wait_for_repair(served)
                served.power_cut()
                say("the power was cut")
                mounted.mount_again()
                say("mounted again")
                wrong = wrong_bytes(files)
    print(f"{wrong} bytes wrong, after {time.monotonic() - begun:.0f} s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
