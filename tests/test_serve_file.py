"""Is a served drive a file like any other, where nbdfuse is installed?"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import outlast
from conftest import call
from drives import SMALL
from patience import eventually
from served import SMALL as SMALL_TOML
from served import needs, serving, start

MIB = 1 << 20

can_fuse = pytest.mark.skipif(
    not os.access("/dev/fuse", os.R_OK | os.W_OK) or shutil.which("nbdfuse") is None or not shutil.which("fusermount3"),
    reason="a file takes nbdfuse and FUSE",
)


@can_fuse
@needs("mkfs.ext4", "e2fsck")
def test_a_file_system_is_made_and_checked_in_it(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    checks = 'mkfs.ext4 -q "$file" && e2fsck -fn "$file" && stat -c %s "$file" && nbdinfo --size "$uri"'
    done = call("serve", "small.toml", "--clock", "virtual", "--file", "drive", "--run", checks, cwd=tmp_path)
    assert done.stdout.splitlines()[-2:] == [str(96 * MIB)] * 2
    assert not (tmp_path / "drive").exists()


@can_fuse
@needs("cp", "cmp", "nbdcopy")
def test_what_is_copied_there_is_on_the_drive(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    content = random.Random(8).randbytes(8 * MIB) + bytes(88 * MIB)
    (tmp_path / "content").write_bytes(content)
    (tmp_path / "drive").touch()
    with serving(tmp_path, "small.toml", "--file", "drive", "--image", "kept") as served:
        served.run("cp", "content", "drive")
        served.run("cmp", "content", "drive")
        served.run("nbdcopy", served.uri, "back")
        assert (tmp_path / "back").read_bytes() == content
        # Not all of it may have left the page cache when the server is told to end.
        with (tmp_path / "drive").open("r+b") as file:
            file.write(b"last words".ljust(512))
    # A file that was there before is there again; the drive has what was written last.
    assert (tmp_path / "drive").stat().st_size == 0
    with serving(tmp_path, "--image", "kept", "--clock", "virtual", "--file", "drive"):
        assert (tmp_path / "drive").read_bytes() == b"last words".ljust(512) + content[512:]


@can_fuse
def test_a_file_in_use_leaves_when_its_users_do(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    with serving(tmp_path, "small.toml", "--clock", "virtual", "--file", "drive") as served:
        with (tmp_path / "drive").open("rb") as file:
            user = subprocess.Popen(["sleep", "3"], stdin=file)
        code, said = served.stop()
        assert (code, user.wait()) == (0, 0), said
    assert not (tmp_path / "drive").exists()


@can_fuse
def test_a_file_from_python(tmp_path: Path) -> None:
    with outlast.serve(SMALL, file=tmp_path / "drive") as served:
        assert (tmp_path / "drive").stat().st_size == served.state()["machine"]["capacity"]
        with (tmp_path / "drive").open("r+b", buffering=0) as file:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
        assert served.metrics()["operations"]
    assert not (tmp_path / "drive").exists()


def test_what_would_be_hidden_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    (tmp_path / "mine").write_text("mine")
    for path in ("mine", "nowhere/drive", "."):
        refused = call("serve", "small.toml", "--file", path, cwd=tmp_path, check=False)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("error: --file") and refused.stderr.count("\n") == 1
    assert (tmp_path / "mine").read_text() == "mine"


def test_without_nbdfuse_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlast.serving.file import DriveFile

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(outlast.ControlError, match="needs nbdfuse, which is not installed"):
        DriveFile(tmp_path / "drive")


@can_fuse
def test_what_a_killed_server_has_left_at_the_path_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    served = start(tmp_path, "small.toml", "--clock", "virtual", "--file", "drive")
    nbdfuse = subprocess.run(
        ["pgrep", "-f", f"nbdfuse {tmp_path}/drive"], capture_output=True, text=True
    ).stdout.split()
    served.process.kill()
    served.process.communicate()
    for pid in nbdfuse:
        os.kill(int(pid), signal.SIGKILL)

    def is_dead() -> bool:
        try:
            (tmp_path / "drive").stat()
        except OSError as error:
            return error.errno == errno.ENOTCONN
        return False

    assert nbdfuse and eventually(is_dead)
    call("serve", "small.toml", "--clock", "virtual", "--file", "drive", "--run", 'test -s "$file"', cwd=tmp_path)
    assert not os.path.lexists(tmp_path / "drive")
