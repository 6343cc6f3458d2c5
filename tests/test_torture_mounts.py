"""Is a state mounted as it is, checked by the user's command, and is nothing left of it?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import outlast
from outlast.errors import TortureError
from outlast.products.torture import device, linux, loop
from outlast.products.torture.mounts import BACKENDS, Disk, Ran, Worker, choose
from patience import PATIENCE_S, eventually
from served import needs
from tortured import MAKE, disk, image, in_threads, lacks, needs_loop

file_systems = pytest.mark.parametrize(
    "fs", [pytest.param(fs, marks=pytest.mark.skipif(bool(lacks(fs)), reason=f"{fs}: {lacks(fs)}")) for fs in MAKE]
)

COPY = 'dd if="$OUTLAST_DEVICE" bs=1M iflag=direct conv=sparse status=none'
"""Copies the device's content past the file system's cache."""


def shell(worker: Worker, state: Disk, fs: str, script: str, timeout: float = PATIENCE_S, fsck: bool = False) -> Ran:
    return worker.run(state, fs, ["sh", "-c", script], {"OUTLAST_MARK": "commit 17"}, timeout, fsck)


def with_worker(fs: str, use: Callable[[Worker], None], options: str = "") -> None:
    """Uses a worker in a thread of its own, so that this one keeps its mounts."""

    def work() -> None:
        with choose(fs, options, "loop").worker() as worker:
            use(worker)

    in_threads(work)


def test_a_plain_file_needs_no_mount() -> None:
    state = Disk(1 << 20, lambda handle: os.pwrite(handle, b"data", 4096), None)
    with choose("none").worker() as worker:
        script = (
            'dd if="$OUTLAST_DEVICE" bs=1 skip=4096 count=4 2>&-; stat -c %s "$OUTLAST_DEVICE"; echo "$OUTLAST_MARK"'
        )
        ran = shell(worker, state, "none", script)
        assert (ran.stage, ran.exit, ran.output) == ("done", 0, "data1048576\ncommit 17\n")
        # What one check writes the next does not see.
        assert shell(worker, state, "none", 'echo x > "$OUTLAST_DEVICE"').stage == "done"
        ran = shell(worker, state, "none", 'head -c 1 "$OUTLAST_DEVICE" | od -An -tx1; echo "$OUTLAST_DEVICE"; exit 7')
        assert (ran.stage, ran.exit, ran.output[:4]) == ("check", 7, " 00\n")
    assert not Path(ran.output.split("\n")[1]).parent.exists()


def test_output_is_cut_at_its_beginning_and_a_time_limit_kills_all_of_the_group() -> None:
    state = Disk(4096, lambda _: 0, None)
    with choose("none").worker() as worker:
        ran = shell(worker, state, "none", "seq 1 100000")
        assert len(ran.output) == 1 << 16 and ran.output.endswith("\n99999\n100000\n")
        # On a busy machine the shell may not get as far as its first command at once.
        for limit in (0.3, 3, 30, 300):
            ran = shell(worker, state, "none", "echo $$; sleep 7777 & sleep 7777", timeout=limit)
            if ran.output:
                break
        assert (ran.stage, ran.exit, ran.timed_out) == ("check", 128 + signal.SIGKILL, True)
        assert ran.seconds >= limit
        assert eventually(lambda: subprocess.run(["pgrep", "-g", ran.output.strip()]).returncode == 1)
        with pytest.raises(TortureError, match=r"absent\.sh: cannot be run: No such file"):
            worker.run(state, "none", ["./absent.sh"], {}, 1, False)


def test_a_backend_that_is_not_there_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TortureError, match="backend floppy: must be one of none, loop"):
        choose("ext4", name="floppy")
    with pytest.raises(TortureError, match="loop: knows ext4, xfs, btrfs"):
        choose("minix", name="loop")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(TortureError, match="ext4 cannot be mounted here: loop: needs root"):
        choose("ext4", name="loop")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(loop, "SYSTEM", ())
    with pytest.raises(TortureError, match="e2fsck is needed, and not installed"):
        loop.program("e2fsck")
    assert list(BACKENDS)[:2] == ["none", "loop"]


@needs_loop
@file_systems
def test_each_state_is_what_its_file_system_held(fs: str, tmp_path: Path) -> None:
    path = image(fs, tmp_path / "state")

    def use(worker: Worker) -> None:
        # The device while it is mounted: its log has to be replayed, as after a loss of power.
        script = f'echo first > "$OUTLAST_MOUNT/file"; sync -f "$OUTLAST_MOUNT"; {COPY} of={tmp_path}/cut'
        assert shell(worker, disk(path), fs, script).stage == "done"
        assert shell(worker, disk(path), fs, 'test ! -e "$OUTLAST_MOUNT/file"').stage == "done"
        ran = shell(worker, disk(tmp_path / "cut"), fs, 'cat "$OUTLAST_MOUNT/file"', fsck=True)
        assert (ran.stage, ran.exit, ran.output.split("\n")[0]) == ("done", 0, "first")
        ran = shell(worker, disk(tmp_path / "cut"), fs, "echo bad; exit 3", fsck=True)
        assert (ran.stage, ran.exit, ran.output) == ("check", 3, "bad\n")
        ran = shell(worker, Disk(path.stat().st_size, lambda _: 0, None), fs, "true")
        assert ran.stage == "mount" and ran.exit > 0 and ran.output.startswith("mount: ")

    with_worker(fs, use)


@needs_loop
def test_a_file_system_that_is_not_in_order_is_found_by_fsck(tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "state")
    # The folder lost+found is there, and said to be free.
    assert subprocess.run(["debugfs", "-w", "-R", "freei <11>", str(path)], capture_output=True).returncode == 0

    def use(worker: Worker) -> None:
        assert shell(worker, disk(path), "ext4", "true").stage == "done"
        ran = shell(worker, disk(path), "ext4", "true", fsck=True)
        assert ran.stage == "fsck" and ran.exit == 4 and "Inode bitmap differences:  +11" in ran.output

    with_worker("ext4", use)


@needs_loop
@file_systems
def test_states_of_one_file_system_are_mounted_beside_each_other(fs: str, tmp_path: Path) -> None:
    path, names = image(fs, tmp_path / "state"), ["a", "b", "c"]
    made = {name: tmp_path / name for name in names}

    def make(worker: Worker) -> None:
        previous = path
        for name in names:
            script = f'echo {name} > "$OUTLAST_MOUNT/file"; sync -f "$OUTLAST_MOUNT"; {COPY} of={made[name]}'
            assert shell(worker, disk(previous), fs, script).stage == "done"
            previous = made[name]

    def look(names: list[str]) -> Callable[[], None]:
        def work() -> None:
            with choose(fs, "", "loop").worker() as worker:
                for name in 6 * names:
                    ran = shell(worker, disk(made[name]), fs, 'cat "$OUTLAST_MOUNT/file"; sleep 0.01')
                    assert (ran.stage, ran.output) == ("done", f"{name}\n"), ran

        return work

    with_worker(fs, make)
    in_threads(look(["a", "b", "c"]), look(["c", "b", "a"]), look(["b", "c", "a"]))


@needs_loop
def test_a_worker_does_not_keep_the_device_of_a_state_that_was_mounted_when_it_began(tmp_path: Path) -> None:
    path = image("xfs", tmp_path / "state") if lacks("xfs") is None else image("ext4", tmp_path / "state")
    fs = "xfs" if lacks("xfs") is None else "ext4"
    places = list[str]()

    def inner() -> None:
        # Its thread was begun by one that has a state mounted, and has a copy of that mount.
        with choose(fs, "", "loop").worker() as worker:
            places.append(str(linux.namespace()))
            assert not any(places[0] in str(place) for place in linux.mounts())
            shell(worker, disk(path), fs, "true")

    def outer() -> None:
        with loop.thread_resources() as own, path.open("rb+") as file, device.file_as_device(file.fileno()) as source:
            places.append(str(own.folder))
            linux.mount(source.path, own.folder / "mount", fs)
            in_threads(inner)
            linux.unmount(own.folder / "mount")

    in_threads(outer)
    assert len(places) == 2


def test_mounts_are_found_whatever_is_in_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "31 24 0:28 / /mnt/a\\040b\\134c\u00fc rw - tmpfs none rw\n"
    monkeypatch.setattr(Path, "read_text", lambda *_: line)
    assert linux.mounts() == [Path("/mnt/a b\\c\u00fc")]


@needs_loop
def test_options_of_the_mount_are_kept(tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "state")

    def use(worker: Worker) -> None:
        ran = shell(worker, disk(path), "ext4", 'findmnt -no OPTIONS "$OUTLAST_MOUNT"')
        assert {"noatime", "data=journal"} <= set(ran.output.strip().split(",")), ran

    with_worker("ext4", use, "noatime,data=journal")


@needs_loop
def test_who_stays_in_the_mount_is_killed(tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "state")

    def use(worker: Worker) -> None:
        ran = shell(worker, disk(path), "ext4", 'cd "$OUTLAST_MOUNT"; setsid sleep 78 & echo done')
        assert (ran.stage, ran.output) == ("done", "done\n")
        assert subprocess.run(["pgrep", "-f", "^sleep 78$"]).returncode == 1
        assert shell(worker, disk(path), "ext4", "true").stage == "done"

    with_worker("ext4", use)


@needs_loop
@needs("nbdfuse")
def test_a_state_may_be_a_drive(tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "state")
    with outlast.serve("serve-drive") as served:
        subprocess.run(["nbdcopy", str(path), served.uri], check=True)
        drive = Disk(1 << 30, None, served.uri)

        def use(worker: Worker) -> None:
            ran = shell(
                worker, drive, "ext4", 'echo 1 > "$OUTLAST_MOUNT/file"; nbdinfo --size "$OUTLAST_URI"', fsck=True
            )
            assert ran.stage == "done" and ran.output.startswith(f"{1 << 30}\n")
            # It is the drive that was written to.
            assert shell(worker, drive, "ext4", 'cat "$OUTLAST_MOUNT/file"; setsid sleep 79 &').output == "1\n"

        with_worker("ext4", use)


@needs_loop
def test_folders_are_gone_with_their_worker(tmp_path: Path) -> None:
    path, places = image("ext4", tmp_path / "state"), []

    def use(worker: Worker) -> None:
        places.append(shell(worker, disk(path), "ext4", 'printf %s "$OUTLAST_MOUNT"').output)
        assert str(places[0]) not in Path("/proc/mounts").read_text(), "nobody else sees the mount"

    with_worker("ext4", use)
    assert Path(places[0]).is_relative_to(tempfile.gettempdir()) and not Path(places[0]).parent.exists()
    assert shutil.which("findmnt") is None or subprocess.run(["findmnt", places[0]]).returncode == 1
