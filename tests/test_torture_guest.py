"""Does a guest mount and check states as this computer would, and is nothing left of it?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from guested import HERE, needs_guest
from outlast.products.torture import guest_files
from outlast.products.torture.guest_machine import HARDWARE, KVM, acceleration
from outlast.products.torture.mounts import Disk, Ran, Worker, choose
from patience import PATIENCE_S, eventually
from served import needs
from tortured import disk, image

USER = 65534
"""An account without rights."""
PYTHON = Path("/usr/bin/python3")
"""One that every account can run."""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with choose("ext4", name="guest").worker() as worker:
        yield worker


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Disk]:
    """Two states with the same names and other contents."""
    folder = tmp_path_factory.mktemp("states")
    found = []
    for content in ("first", "second"):
        path = image("ext4", folder / content)
        (folder / "file").write_text(f"{content}\n" * 5000)
        done = subprocess.run(
            ["debugfs", "-w", "-R", f"write {folder}/file file", path], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.append(disk(path))
    return found


def shell(worker: Worker, state: Disk, script: str, timeout: float = PATIENCE_S, fsck: bool = False) -> Ran:
    return worker.run(state, "ext4", ["sh", "-c", script], {"OUTLAST_MARK": "commit 17"}, timeout, fsck)


@needs_guest
def test_each_state_is_seen_as_it_is_and_what_a_check_writes_is_gone(worker: Worker, states: list[Disk]) -> None:
    script = (
        'ls "$OUTLAST_MOUNT"; tail -n 1 "$OUTLAST_MOUNT/file"; echo x | tee "$OUTLAST_MOUNT/file" "$OUTLAST_MOUNT/new"'
    )
    for content, state in [("first", states[0]), ("second", states[1])] * 3:
        ran = shell(worker, state, script, fsck=content == "second")
        assert (ran.stage, ran.exit) == ("done", 0), ran
        assert ran.output.startswith(f"file\nlost+found\n{content}\nx\n")


@needs_guest
def test_a_check_finds_files_and_environment_as_outside_and_changes_no_file_outside(
    worker: Worker, states: list[Disk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").write_text("outside")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANSWER", "42")
    script = (
        'pwd; cat here; echo " $ANSWER $OUTLAST_MARK $PATH"; echo changed > here; cat here "$OUTLAST_MARKS"; exit 3'
    )
    for marks in ("one\n", "one\ntwo\n"):
        (tmp_path / "marks").write_text(marks)
        env = {"OUTLAST_MARK": "commit 17", "OUTLAST_MARKS": str(tmp_path / "marks")}
        (tmp_path / "check.sh").write_text(script)
        ran = worker.run(states[0], "ext4", ["sh", "check.sh"], env, 60, False)
        before = "outside" if marks == "one\n" else "changed\n"
        wanted = f"{tmp_path}\n{before} 42 commit 17 {os.environ['PATH']}\nchanged\n{marks}"
        assert (ran.stage, ran.exit, ran.output) == ("check", 3, wanted)
    assert (tmp_path / "here").read_text() == "outside"


@needs_guest
def test_what_cannot_be_mounted_or_is_damaged_is_told_from_a_check_that_fails(worker: Worker, tmp_path: Path) -> None:
    empty = Disk(128 << 20, lambda _: 0, None)
    ran = shell(worker, empty, "true")
    assert (ran.stage, ran.exit) == ("mount", 22)
    assert "Can't find ext4 filesystem" in ran.output
    path = image("ext4", tmp_path / "damaged")
    subprocess.run(["debugfs", "-w", "-R", "set_inode_field / links_count 9", path], check=True, capture_output=True)
    ran = shell(worker, disk(path), "echo fine", fsck=True)
    assert (ran.stage, ran.exit, ran.output[:5]) == ("fsck", 4, "fine\n")
    assert "ref count is 9" in ran.output


@needs_guest
def test_a_time_limit_ends_a_check_and_what_it_left_running(worker: Worker, states: list[Disk]) -> None:
    ran = shell(worker, states[0], "sleep 7777", timeout=0.5)
    assert (ran.stage, ran.exit, ran.timed_out) == ("check", 128 + signal.SIGKILL, True)
    # Whoever keeps the mount busy does not outlive the check.
    ran = shell(worker, states[0], 'cd "$OUTLAST_MOUNT"; setsid sleep 77 >&- 2>&- & sleep 0.2')
    assert (ran.stage, ran.timed_out) == ("done", False)
    ran = shell(worker, states[1], "ps -e -o comm= | grep -c sleep")
    assert (ran.stage, ran.output) == ("check", "0\n")


@needs_guest
@needs("nbdkit")
def test_a_state_can_be_an_nbd_drive(worker: Worker, states: list[Disk], tmp_path: Path) -> None:
    path = image("ext4", tmp_path / "image")
    address = tmp_path / "nbd"
    with subprocess.Popen(["nbdkit", "-f", "-U", str(address), "file", str(path)]) as server:
        try:
            assert eventually(address.exists)
            state = Disk(path.stat().st_size, None, f"nbd+unix:///?socket={address}")
            # What one check writes there the next finds; a plain state between them is another disk.
            assert (
                shell(worker, state, 'echo kept > "$OUTLAST_MOUNT/new"; echo "$OUTLAST_URI"').output == f"{state.uri}\n"
            )
            assert shell(worker, states[0], 'ls "$OUTLAST_MOUNT"').output == "file\nlost+found\n"
            ran = shell(worker, state, 'cat "$OUTLAST_MOUNT/new"', fsck=True)
            assert (ran.stage, ran.output[:5]) == ("done", "kept\n")
        finally:
            server.terminate()


@needs_guest
def test_a_guest_whose_kernel_gives_up_is_booted_again(worker: Worker, states: list[Disk]) -> None:
    ran = shell(worker, states[0], "echo c > /proc/sysrq-trigger")
    assert (ran.stage, ran.exit, ran.timed_out) == ("check", 125, False)
    assert "Kernel panic - not syncing: sysrq triggered crash" in ran.output
    ran = shell(worker, states[1], 'tail -n 1 "$OUTLAST_MOUNT/file"')
    assert (ran.stage, ran.output) == ("done", "second\n")


@needs_guest
@pytest.mark.skipif(os.geteuid() != 0, reason="not root: all tests are without root already")
@pytest.mark.skipif(not PYTHON.exists(), reason=f"{PYTHON} absent")
def test_an_account_without_rights_records_and_checks() -> None:
    """A file is synced before its mark, another is not: just the second one may be missing."""
    with tempfile.TemporaryDirectory(prefix="outlast-home-") as name:
        home = Path(name)
        home.chmod(0o755)
        # The tree and the files may lie where others have no access.
        shutil.copytree(HERE.parent / "python" / "outlast", home / "python" / "outlast", symlinks=True)
        shutil.copytree(guest_files.folder(), home / "files")
        shutil.copy2(HERE / "unprivileged.py", home)
        (home / "work").mkdir()
        os.chown(home / "work", USER, USER)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(home / "python"), "HOME": str(home / "work")}
        env |= {"TMPDIR": str(home / "work"), guest_files.VARIABLE: str(home / "files")}
        command = [str(PYTHON), "unprivileged.py", "work"]
        done = subprocess.run(
            command, cwd=home, env=env, user=USER, group=USER, extra_groups=[], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert "loop: needs root" in done.stdout and "backend: guest" in done.stdout
    assert "synced: missing in 0 of " in done.stdout
    unsynced = next(line for line in done.stdout.splitlines() if line.startswith("unsynced: missing in "))
    assert 0 < int(unsynced.split()[3]) < int(unsynced.split()[5]), done.stdout


@needs_guest
def test_a_guest_ends_with_the_process_that_booted_it(tmp_path: Path) -> None:
    program = f"""
import sys
sys.path[:] = {sys.path!r}
import guested
from outlast.products.torture import mounts
with mounts.choose("ext4", name="guest").worker() as worker:
    worker.run(mounts.Disk(1 << 20, lambda _: 0, None), "ext4", ["true"], {{}}, 9, False)
"""
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path)

    def machines() -> list[str]:
        found = []
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = entry.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[1] == str(process.pid) and "qemu" in entry.read_text():
                found.append(entry.parent.name)
        return found

    assert eventually(lambda: bool(machines()))
    [machine] = machines()
    process.kill()
    process.wait()
    assert eventually(lambda: not Path("/proc", machine).exists() or "Z" in Path("/proc", machine, "stat").read_text())


def test_how_a_guest_is_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    name, words = acceleration()
    assert (name == "kvm") == (os.access(KVM, os.R_OK | os.W_OK) and any(path.exists() for path in HARDWARE))
    assert name.upper() in words
    monkeypatch.setattr("outlast.products.torture.guest_machine.KVM", Path("/absent/kvm"))
    assert acceleration() == ("tcg", "emulated (TCG), since /absent/kvm is not here")
