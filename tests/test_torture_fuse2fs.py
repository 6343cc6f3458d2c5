"""Does fuse2fs, with the journal replayed by e2fsck, show what the kernel would?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from outlast.errors import TortureError
from outlast.products.torture import fuse2fs
from outlast.products.torture.mounts import Disk, Ran, Worker, choose
from patience import PATIENCE_S, eventually
from served import needs
from tortured import disk, image, in_threads, needs_loop

LACK = fuse2fs.missing("ext4")
needs_fuse2fs = pytest.mark.skipif(LACK is not None, reason=f"fuse2fs: {LACK}")

CHANGES = """
set -e
copy() { dd if="$OUTLAST_DEVICE" of="$COPIES/$1" bs=1M iflag=direct conv=sparse status=none; }
cd "$OUTLAST_MOUNT"
mkdir old; echo one > old/one; ln -s one old/link; sync -f .; copy 0
seq 1 20000 > numbers; sync numbers; copy 1
mv old new; echo two > new/two; sync new/two; copy 2
truncate -s 5000 numbers; rm new/one; sync numbers; copy 3
for i in $(seq 1 200); do echo "$i" > "new/$i"; done; sync new/200; copy 4
"""
"""Script that copies the device while it is mounted: data in memory that is not in the journal yet is lost."""
TREE = """
cd "$OUTLAST_MOUNT"
find . ! -name lost+found -printf '%p %y %m %s %l\\n' | sort
find . -type f -exec sha256sum {} + | sort
"""


def shell(worker: Worker, state: Disk, script: str, timeout: float = PATIENCE_S, fsck: bool = False) -> Ran:
    return worker.run(state, "ext4", ["sh", "-c", script], {}, timeout, fsck)


@pytest.fixture
def interrupted(tmp_path: Path) -> list[Path]:
    """Images of which the kernel would have to replay the journal."""
    made = image("ext4", tmp_path / "image")

    def work() -> None:
        with choose("ext4", name="loop").worker() as worker:
            ran = worker.run(disk(made), "ext4", ["sh", "-c", CHANGES], {"COPIES": str(tmp_path)}, 60, False)
            assert ran.stage == "done", ran

    in_threads(work)
    images = [tmp_path / str(number) for number in range(5)]
    for path in images:
        features = subprocess.run(["dumpe2fs", "-h", path], capture_output=True, text=True).stdout
        assert "needs_recovery" in features, path
    return images


@needs_loop
@needs_fuse2fs
def test_a_journal_is_replayed_as_the_kernel_replays_it(interrupted: list[Path]) -> None:
    seen: dict[str, list[str]] = {"loop": [], "fuse2fs": []}

    def work() -> None:
        for name, trees in seen.items():
            with choose("ext4", name=name).worker() as worker:
                for path in interrupted:
                    ran = shell(worker, disk(path), TREE, fsck=name == "loop")
                    assert ran.stage == "done", (name, path, ran)
                    trees.append(ran.output.partition("e2fsck")[0])

    in_threads(work)
    assert seen["fuse2fs"] == seen["loop"]
    assert len(set(seen["loop"])) == len(interrupted), "each change is seen"
    assert "./new/200 f" in seen["loop"][-1]


@needs_loop
@needs_fuse2fs
def test_fuse2fs_by_itself_does_not_replay_the_journal(interrupted: list[Path], tmp_path: Path) -> None:
    """The reason for e2fsck."""
    place = tmp_path / "place"
    place.mkdir()
    done = subprocess.run(
        ["fuse2fs", "-f", "-o", "ro,fakeroot", interrupted[0], place],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "Journal needs recovery; running `e2fsck -E journal_only' is required" in said


@needs_fuse2fs
def test_a_check_has_a_mount_and_leaves_nothing(tmp_path: Path) -> None:
    state = disk(image("ext4", tmp_path / "image"))
    with choose("ext4", name="fuse2fs").worker() as worker:
        script = 'echo x > "$OUTLAST_MOUNT/new"; cat "$OUTLAST_MOUNT/new"; echo "$OUTLAST_MOUNT"; exit 3'
        ran = shell(worker, state, script)
        assert (ran.stage, ran.exit, ran.output[:2]) == ("check", 3, "x\n")
        place = ran.output.split()[1]
        ran = shell(worker, state, 'ls "$OUTLAST_MOUNT"', fsck=True)
        assert (ran.stage, ran.output.split("\n")[0]) == ("done", "lost+found")
        ran = shell(worker, state, 'cd "$OUTLAST_MOUNT"; sleep 7777 & sleep 7777', timeout=0.3)
        assert (ran.stage, ran.exit, ran.timed_out) == ("check", 137, True)
        ran = shell(worker, Disk(1 << 20, lambda _: 0, None), "true")
        assert ran.stage == "mount" and "Bad magic number in super-block" in ran.output
    assert not Path(place).exists()
    assert place not in Path("/proc/mounts").read_text()


@needs_fuse2fs
@needs("nbdkit", "nbdfuse")
def test_a_state_can_be_an_nbd_drive(tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "image")
    address = tmp_path / "nbd"
    with subprocess.Popen(["nbdkit", "-f", "-U", str(address), "file", str(path)]) as server:
        try:
            assert eventually(address.exists)
            with choose("ext4", name="fuse2fs").worker() as worker:
                state = Disk(path.stat().st_size, None, f"nbd+unix:///?socket={address}")
                assert shell(worker, state, 'echo kept > "$OUTLAST_MOUNT/new"').stage == "done"
        finally:
            server.terminate()
    listed = subprocess.run(["debugfs", "-R", "cat new", path], capture_output=True, text=True)
    assert listed.stdout == "kept\n"


@needs_fuse2fs
def test_what_it_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TortureError, match="fuse2fs: knows ext4"):
        choose("xfs", name="fuse2fs")
    with pytest.raises(TortureError, match="fuse2fs: mounts with no options of the kernel, such as data=journal"):
        choose("ext4", "data=journal", "fuse2fs")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(TortureError, match="fuse2fs: needs /dev/fuse"):
        choose("ext4", name="fuse2fs")
