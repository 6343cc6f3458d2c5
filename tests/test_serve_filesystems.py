"""Do the kernel's file systems keep their files on a served drive?"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from served import Served, needs, serving, within

MAKE = {
    "ext4": (["mkfs.ext4", "-q"], ["e2fsck", "-fn"]),
    "xfs": (["mkfs.xfs", "-q"], ["xfs_repair", "-n"]),
    "btrfs": (["mkfs.btrfs", "-q"], ["btrfs", "check"]),
}
"""How each is made, and checked."""

can_mount = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/fuse").exists() or not Path("/dev/loop-control").exists(),
    reason="mounting needs root, FUSE and loop devices",
)


@contextmanager
def device(served: Served) -> Iterator[str]:
    """The drive as a block device: a loop over the file that nbdfuse makes of it."""
    folder = served.folder / "fuse"
    folder.mkdir(exist_ok=True)
    # If there is no such file yet when it looks, nbdfuse takes the folder for its mount point.
    (folder / "nbd").touch()
    with subprocess.Popen(["nbdfuse", str(folder / "nbd"), served.uri]) as fuse:
        try:
            assert within(10, lambda: (folder / "nbd").stat().st_size > 0)
            loop = served.run("losetup", "--find", "--show", "--direct-io=on", str(folder / "nbd")).stdout.strip()
            try:
                yield loop
            finally:
                served.run("losetup", "--detach", loop)
        finally:
            try:
                served.run("fusermount3", "-u", str(folder / "nbd"))
                fuse.wait(timeout=20)
            finally:
                fuse.kill()


def tree(folder: Path) -> None:
    """Files of many sizes."""
    draw = random.Random(11)
    for index in range(60):
        file = folder / f"{index % 7}" / f"file-{index}"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(draw.randbytes(draw.randrange(1, 200_000)))


def digest(folder: Path) -> dict[str, str]:
    """What is in every file."""
    files = sorted(path for path in folder.rglob("file-*"))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@can_mount
@needs("nbdfuse", "losetup", "fusermount3")
@pytest.mark.parametrize("kind", MAKE)
def test_files_are_whole_after_a_remount(kind: str, tmp_path: Path) -> None:
    make, check = MAKE[kind]
    needed = [program[0] for program in (make, check)]
    missing = [name for name in needed if subprocess.run(["which", name], capture_output=True).returncode]
    if missing:
        pytest.skip(f"{', '.join(missing)} absent")
    (tmp_path / "tree").mkdir()
    tree(tmp_path / "tree")
    expected = digest(tmp_path / "tree")
    mount = tmp_path / "mount"
    mount.mkdir()
    with serving(tmp_path, "serve-drive", "--clock", "virtual") as served:
        with device(served) as loop:
            served.run(*make, loop)
            served.run("mount", loop, str(mount))
            served.run("cp", "-r", str(tmp_path / "tree"), str(mount))
            served.run("umount", str(mount))
            served.run(*check, loop)
        # Another device, so that nothing comes from a cache.
        with device(served) as loop:
            served.run("mount", "-o", "ro", loop, str(mount))
            found = digest(mount / "tree")
            served.run("umount", str(mount))
    assert found == expected
