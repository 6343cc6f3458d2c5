"""Does a guest mount states of every file system, of one identity and in any order? `make test-guest`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from outlast.products.torture import guest, guest_files
from outlast.products.torture.guest_boot import Boot
from outlast.products.torture.guest_machine import file_node
from outlast.products.torture.mounts import Disk, choose

os.environ.setdefault(guest_files.VARIABLE, str(Path(__file__).parents[2] / "target" / "guest" / "files"))

MAKE = {"xfs": ["mkfs.xfs", "-q", "-f"], "btrfs": ["mkfs.btrfs", "-q", "-f"]}
SIZE = 300 << 20

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(guest.missing("ext4") is not None, reason=f"guest: {guest.missing('ext4')}"),
]


@pytest.mark.skipif(shutil.which("nbdkit") is None, reason="nbdkit absent")
@pytest.mark.parametrize("fs", MAKE)
def test_an_older_state_after_a_younger_one_is_the_older_one(fs: str, tmp_path: Path) -> None:
    path, address = tmp_path / "image", tmp_path / "nbd"
    with path.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run([*MAKE[fs], path], check=True)
    ages = []
    with choose(fs, name="guest").worker() as worker:
        for age in range(3):
            with subprocess.Popen(["nbdkit", "-f", "-U", str(address), "file", str(path)]) as server:
                while not address.exists():
                    assert server.poll() is None
                drive = Disk(SIZE, None, f"nbd+unix:///?socket={address}")
                script = f'echo {age} > "$OUTLAST_MOUNT/age"'
                assert worker.run(drive, fs, ["sh", "-c", script], {}, 60, True).stage == "done"
                server.terminate()
            address.unlink(missing_ok=True)
            ages.append(path.read_bytes())
        for age in (2, 0, 1, 0, 2):

            def write_to(handle: int, age: int = age) -> int:
                return os.pwrite(handle, ages[age], 0)

            ran = worker.run(Disk(SIZE, write_to, None), fs, ["sh", "-c", 'cat "$OUTLAST_MOUNT/age"'], {}, 60, False)
            assert (ran.stage, ran.output) == ("done", f"{age}\n")


def test_a_guest_that_runs_short_of_memory_is_booted_again() -> None:
    """Whatever checks leave behind outside the mount is in the guest's memory."""

    def write_to(handle: int) -> int:
        return os.pwrite(handle, made, 0)

    made = subprocess.run(
        "f=$(mktemp); truncate -s 16M $f; mkfs.ext4 -q $f; cat $f; rm $f", shell=True, check=True, capture_output=True
    ).stdout
    state = Disk(len(made), write_to, None)
    with choose("ext4", name="guest").worker() as worker:
        fill = ["sh", "-c", "test ! -e /tmp/left && dd if=/dev/zero of=/tmp/left bs=1M count=600 status=none"]
        assert worker.run(state, "ext4", fill, {}, 60, False).stage == "done"
        ran = worker.run(state, "ext4", fill, {}, 60, False)
        assert ran.stage == "done", ran


def test_a_guest_ends_when_nobody_is_there_any_more() -> None:
    """Whoever is killed just after QEMU began has had no time to say that it is to be ended."""
    boot = Boot()
    disk = os.memfd_create("disk")
    os.truncate(disk, 1 << 20)
    try:
        with boot.machine(file_node(disk), (disk,)) as machine:
            machine._socket.close()
            machine._process.wait(30)
    finally:
        boot.close()
        os.close(disk)
