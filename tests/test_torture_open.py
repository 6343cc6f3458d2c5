"""Is a state there to be looked at as a check would see it, and gone afterwards? Do record and check go in one?"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast, call
from outlast._core import Recording
from patience import PATIENCE_S, eventually
from served import needs
from tortured import attached, needs_loop

pytestmark = [needs_loop, needs("nbdfuse", "fusermount3", "nbdcopy")]

WORK = """#!/bin/sh
set -eu
for number in 1 2 3; do
    echo $number > "$OUTLAST_MOUNT/new"
    [ "${CAREFUL:-}" = "" ] || sync "$OUTLAST_MOUNT/new"
    mv "$OUTLAST_MOUNT/new" "$OUTLAST_MOUNT/file"
    sync "$OUTLAST_MOUNT"
    printf 'commit %s\\n' $number >&"$OUTLAST_MARK_FD"; read -r _ <&"$OUTLAST_MARK_FD"
done
"""

CHECK = """#!/bin/sh
[ -z "$OUTLAST_MARK" ] || [ "$(cat "$OUTLAST_MOUNT/file")" -ge "${OUTLAST_MARK#commit }" ]
"""


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of three commits."""
    folder = tmp_path_factory.mktemp("open")
    work = program(folder / "work.sh", WORK)
    call("torture", "record", "--out", "run", "--", "env", "CAREFUL=1", work, cwd=folder)
    return folder / "run"


def marks_of(run: Path) -> dict[str, dict[str, Any]]:
    return {mark["text"]: mark for mark in json.loads(Recording(str(run)).facts())["marks"]}


SEEN = (
    'cat "$OUTLAST_MOUNT/file"; echo "$OUTLAST_STATE|$OUTLAST_MARK"; wc -l < "$OUTLAST_MARKS"; dirname "$OUTLAST_MOUNT"'
)


def test_a_state_by_its_name_is_as_a_check_sees_it(run: Path, outlast: Outlast) -> None:
    cut = f"contract@{marks_of(run)['commit 2']['event'] + 1}"
    done = outlast("torture", "open", run, "--cut", cut, "--", "sh", "-c", f"{SEEN}; exit 6", check=False)
    value, state, marks, folder = done.stdout.split("\n")[:4]
    assert (done.returncode, value, state, marks) == (6, "2", f"{cut}|commit 2", "2")
    assert f"{cut}: after {cut[9:]} events, at " in done.stderr and 'last mark "commit 2"' in done.stderr
    assert not Path(folder).exists() and not attached(folder) and folder not in Path("/proc/mounts").read_text()


def test_a_time_is_what_the_drive_leaves(run: Path, outlast: Outlast) -> None:
    at = f"{marks_of(run)['commit 3']['at_ns']}ns"
    script = f'{SEEN}; nbdinfo --size "$OUTLAST_URI"'
    done = outlast("torture", "open", run, "--cut", at, "--", "sh", "-c", script)
    assert done.stdout.split("\n")[:2] == ["3", f"drive@{at[:-2]}|commit 3"]
    assert done.stdout.split("\n")[4] == str(1 << 30)
    script = f'{SEEN}; test -z "${{OUTLAST_URI:-}}"'
    done = outlast("torture", "open", run, "--content", "--cut", at, "--", "sh", "-c", script)
    assert done.stdout.split("\n")[:2] == ["3", f"drive@{at[:-2]}|commit 3"]


def test_the_drive_that_is_served_has_the_content_of_its_state(tmp_path: Path, outlast: Outlast) -> None:
    work = """
    write() { dd if=/dev/urandom of="$OUTLAST_DEVICE" bs=4096 "$@"; }
    write count=40 conv=notrunc,fsync
    write seek=20 count=400 conv=notrunc
    echo now >&"$OUTLAST_MARK_FD"; read -r _ <&"$OUTLAST_MARK_FD"
    """
    drive = ("--fs", "none", "--set", "device.ftl.capacity=64MiB")
    outlast("torture", "record", *drive, "--out", "raw", "--", "sh", "-c", work)
    at = marks_of(tmp_path / "raw")["now"]["at_ns"]
    outlast("torture", "open", "raw", "--cut", f"{at}ns", "--", "sh", "-c", 'nbdcopy "$OUTLAST_URI" drive')
    state = Recording(str(tmp_path / "raw")).state(f"drive@{at}")
    assert (tmp_path / "drive").read_bytes()[: 1 << 21] == state.read(0, 1 << 21)
    script = 'cp --sparse=always "$OUTLAST_DEVICE" content'
    outlast("torture", "open", "raw", "--content", "--cut", f"{at}ns", "--", "sh", "-c", script)
    assert (tmp_path / "content").read_bytes()[: 1 << 21] == state.read(0, 1 << 21)


def test_without_a_command_it_is_there_until_ctrl_c(run: Path, tmp_path: Path) -> None:
    cut = f"contract@{marks_of(run)['commit 1']['event'] + 1}"
    command = [sys.executable, "-m", "outlast", "torture", "open", str(run), "--cut", cut]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        mount = Path(process.stdout.readline().strip().removeprefix("OUTLAST_MOUNT="))
        assert (mount / "file").read_text() == "1\n", "everybody sees it"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert not mount.parent.exists() and not attached(str(mount.parent))


def test_one_that_is_killed_leaves_no_mount(run: Path) -> None:
    command = [sys.executable, "-m", "outlast", "torture", "open", str(run), "--cut"]
    for cut in (f"contract@{marks_of(run)['commit 1']['event']}", f"{marks_of(run)['commit 1']['at_ns']}ns"):
        with subprocess.Popen([*command, cut], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            mount = Path(process.stdout.readline().strip().removeprefix("OUTLAST_MOUNT="))
            assert mount.is_mount()
            process.kill()
        assert eventually(partial(is_gone, mount.parent)), cut


def is_gone(folder: Path) -> bool:
    return not folder.exists() and not attached(str(folder)) and str(folder) not in Path("/proc/mounts").read_text()


@pytest.mark.parametrize(
    ("cut", "message"),
    [("now", "--cut now: must be a time"), ("contract@999999", "contract@999999"), ("9h", "before 9h")],
)
def test_a_cut_that_is_none_is_one_line(cut: str, message: str, run: Path, outlast: Outlast) -> None:
    done = outlast("torture", "open", run, "--cut", cut, "--", "true", check=False)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_record_and_check_go_in_one(outlast: Outlast, tmp_path: Path) -> None:
    check = ("--check", program(tmp_path / "check.sh", CHECK), "--model", "contract", "--states", "60", "--quiet")
    work = program(tmp_path / "work.sh", WORK)
    done = outlast("torture", "run", *check, "--out", "bad", "--", work, check=False)
    assert done.returncode == 1, "a rename of a file that was not synced is found"
    assert json.loads((tmp_path / "bad.torture" / "result.json").read_text())
    done = outlast("torture", "run", *check, "--out", "good", "--", "env", "CAREFUL=1", work, check=False)
    assert done.returncode == 0, done.stderr
    done = outlast("torture", "run", *check, "--out", "failed", "--", "false", check=False)
    assert done.returncode == 1 and not (tmp_path / "failed.torture").exists()
    done = outlast("torture", "run", "--out", "none", "--", work, check=False)
    assert (done.returncode, "name the check" in done.stderr, (tmp_path / "none").exists()) == (2, True, False)
