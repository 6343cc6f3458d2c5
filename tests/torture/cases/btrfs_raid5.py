"""btrfs with metadata and data as RAID-5 over three parts of one drive: `btrfs_raid5.py setup|work|check saves=40`.

The drive loses its power as a whole. A check first mounts what is left with all three parts there, which must be sound,
and then thrice with one part gone, as when a disk of three dies after the power came back: what had been saved must
still be there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from promise import Marks, checked, corrupt, lost, main, sync

PARTS = 3


def tool(*command: str) -> str:
    """Output of a program; OSError with the first line of its message if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["without a word"]
        raise OSError(f"{command[0]}: {said[0]}")
    return done.stdout.strip()


@contextlib.contextmanager
def parts(drive: str, without: int | None = None) -> Iterator[list[str]]:
    """Loop devices over the thirds of a drive, without one of them."""
    with Path(drive).open("rb") as file:
        size = file.seek(0, os.SEEK_END) // PARTS >> 20 << 20
    devices = []
    try:
        for part in range(PARTS):
            if part != without:
                place = (f"--offset={part * size}", f"--sizelimit={size}")
                devices.append(tool("losetup", "--find", "--show", "--direct-io=on", *place, drive))
        yield devices
    finally:
        for device in devices:
            subprocess.run(["btrfs", "device", "scan", "--forget", device], capture_output=True)
            tool("losetup", "--detach", device)


@contextlib.contextmanager
def mounted(devices: list[str], *options: str) -> Iterator[Path]:
    """The file system on these devices, mounted at a folder of its own."""
    tool("btrfs", "device", "scan", *devices)
    with tempfile.TemporaryDirectory() as folder:
        tool("mount", "-t", "btrfs", *(word for option in options for word in ("-o", option)), devices[0], folder)
        try:
            yield Path(folder)
        finally:
            tool("umount", folder)


def text(number: int) -> bytes:
    """Text of save `number`, after a hash that proves that all of it is there."""
    body = f"save {number} ".encode() * (10 + number * 31 % 900)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def setup(**_: object) -> None:
    """The file system, empty."""
    with parts(os.environ["OUTLAST_DEVICE"]) as devices:
        tool("mkfs.btrfs", "--quiet", "--force", "-m", "raid5", "-d", "raid5", *devices)


def work(saves: int) -> None:
    """Saves files by write and fsync, each marked when it has been saved; a sync now and then writes the trees."""
    say = Marks()
    with parts(os.environ["OUTLAST_DEVICE"]) as devices, mounted(devices) as folder:
        say("saves 0")
        for number in range(1, saves + 1):
            with (folder / f"file{number}").open("wb") as file:
                file.write(text(number))
                file.flush()
                os.fsync(file.fileno())
            if number % 4 == 0:
                sync(folder)
            say(f"saves {number}")


def all_there(folder: Path, promised: int, where: str) -> None:
    """Every file that was saved is there and whole; OSError where btrfs cannot read it."""
    for number in range(1, promised + 1):
        try:
            held = (folder / f"file{number}").read_bytes()
        except FileNotFoundError:
            raise lost(f"{where}: file {number} of {promised} is missing") from None
        if held != text(number):
            raise corrupt(f"{where}: file {number} of {promised} has other bytes")


def read(promised: int) -> None:
    """The files with all parts, and without each. Mounting replays btrfs's log, which writes: each time on a copy."""
    for without in (None, *range(PARTS)):
        where = "with all parts" if without is None else f"without part {without}"
        with tempfile.TemporaryDirectory() as folder:
            copy = f"{folder}/drive"
            tool("cp", "--sparse=always", os.environ["OUTLAST_DEVICE"], copy)
            try:
                with parts(copy, without) as devices, mounted(devices, "degraded") as there:
                    all_there(there, promised, where)
            except OSError as error:
                raise corrupt(f"{where}: {error}") from None


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read)


if __name__ == "__main__":
    main(work, check, setup, saves=40)
