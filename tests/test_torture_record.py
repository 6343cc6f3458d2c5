"""Does a recording hold what a program asked of its drive and marked, and is nothing left, however it ends?"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast
from outlast._core import Recording
from outlast.products.torture.mounts import Disk, choose
from patience import PATIENCE_S, eventually
from served import needs
from tortured import MAKE, attached, in_threads, lacks, needs_loop

needs_recorder = needs("nbdfuse", "fusermount3")


def script(folder: Path, text: str, name: str = "workload.sh") -> str:
    """A program of a few lines."""
    path = folder / name
    path.write_text(f"#!/bin/sh\nset -eu\n{text}\n")
    path.chmod(0o755)
    return str(path)


MARK = """mark() { printf '%s\\n' "$1" >&"$OUTLAST_MARK_FD"; read -r _ <&"$OUTLAST_MARK_FD"; }"""


def facts(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Recording(str(run)).facts())
    return found


def marks(run: Path) -> list[str]:
    return [mark["text"] for mark in facts(run)["marks"]]


@needs_loop
@needs_recorder
@pytest.mark.parametrize("fs", MAKE)
def test_a_recording_has_the_file_system_the_writes_and_the_marks(fs: str, outlast: Outlast, tmp_path: Path) -> None:
    if lack := lacks(fs):
        pytest.skip(lack)
    work = f"""{MARK}
    cat /sys/block/"$(basename "$OUTLAST_DEVICE")"/loop/dio
    cat /sys/block/"$(basename "$OUTLAST_DEVICE")"/loop/backing_file
    dirname "$OUTLAST_MOUNT" > folder
    for number in 1 2 3; do
        echo $number > "$OUTLAST_MOUNT/file-$number"
        sync "$OUTLAST_MOUNT/file-$number" "$OUTLAST_MOUNT"
        mark "commit $number"
    done"""
    done = outlast("torture", "record", "--fs", fs, "--out", "run.outlast", "--", script(tmp_path, work))
    assert "recorded in run.outlast" in done.stderr
    run = tmp_path / "run.outlast"
    said = json.loads((run / "torture.json").read_text())
    assert (said["fs"], said["exit"], said["drive"], said["backend"]) == (fs, 0, "serve-drive", "loop")
    assert marks(run) == ["outlast:begin", "commit 1", "commit 2", "commit 3", "outlast:end", "outlast:unmounted"]
    folder = (tmp_path / "folder").read_text().strip()
    direct, backing = done.stdout.split("\n")[:2]
    assert direct == "1" and Path(folder).name in backing
    assert not attached(folder) and folder not in Path("/proc/mounts").read_text() and not Path(folder).exists()
    # What is on the drive behind each mark, seen by the kernel: all that was promised before.
    recording = Recording(str(run))
    states = {mark["text"]: recording.state(f"contract@{mark['event']}") for mark in facts(run)["marks"]}

    def look() -> None:
        with choose(fs, "", "loop").worker() as worker:
            for text, state in states.items():
                names = worker.run(
                    Disk(state.size, state.write_to, None), fs, ["sh", "-c", 'cd "$OUTLAST_MOUNT"; ls'], {}, 30, True
                )
                assert names.stage == "done", (text, names)
                promised = int(text.removeprefix("commit ")) if "commit" in text else 3 * (text != "outlast:begin")
                there = [f"file-{number}" for number in range(1, promised + 1)]
                assert [name for name in names.output.split("\n") if name in there] == there, text

    in_threads(look)


@needs_recorder
def test_without_a_file_system_it_needs_no_root(outlast: Outlast, tmp_path: Path) -> None:
    work = f"""{MARK}
    printf 'first %0506d' 0 > block
    dd if=block of="$OUTLAST_DEVICE" seek=8 conv=notrunc,fsync status=none
    mark "block 8"
    printf 'second %0505d' 0 > block
    dd if=block of="$OUTLAST_DEVICE" seek=16 conv=notrunc,fsync status=none
    test "$(nbdinfo --size "$OUTLAST_URI")" = 1073741824"""
    outlast("torture", "record", "--fs", "none", "--out", "raw.outlast", "--", script(tmp_path, work))
    recording = Recording(str(tmp_path / "raw.outlast"))
    found = facts(tmp_path / "raw.outlast")
    assert [mark["text"] for mark in found["marks"]][:2] == ["outlast:begin", "block 8"]
    state = recording.state(f"contract@{found['marks'][1]['event']}")
    assert state.read(8 * 512, 5) == b"first" and state.read(16 * 512, 6) == bytes(6) and state.mark is None
    state = recording.state(f"contract@{found['marks'][1]['event'] + 1}")
    assert state.mark == "block 8"
    assert recording.state(f"contract@{found['window'][1]}").read(16 * 512, 6) == b"second"


@needs_loop
@needs_recorder
def test_what_setup_makes_is_there_before_the_window(outlast: Outlast, tmp_path: Path) -> None:
    work = script(tmp_path, 'cat "$OUTLAST_MOUNT/table"; setpriv --reuid 65534 test -x "$OUTLAST_MOUNT"')
    setup = 'echo made > "$OUTLAST_MOUNT/table"; chmod 755 "$OUTLAST_MOUNT"'
    done = outlast("torture", "record", "--setup", setup, "--out", "run", "--", work)
    assert done.stdout == "made\n"
    recording = Recording(str(tmp_path / "run"))
    begin = facts(tmp_path / "run")["window"][0]

    def look() -> None:
        # All that no flush covers is lost: setup is synced.
        plan = recording.plan('{"models":["contract"]}')
        states = [state for state in (plan[at] for at in range(len(plan))) if state.event == begin]
        with choose("ext4", "", "loop").worker() as worker:
            for state in states:
                there = ["sh", "-c", 'cat "$OUTLAST_MOUNT/table"']
                ran = worker.run(Disk(state.size, state.write_to, None), "ext4", there, {}, 30, True)
                assert (ran.stage, ran.output.split("\n")[0]) == ("done", "made"), state.id

    in_threads(look)
    done = outlast("torture", "record", "--setup", "exit 5", "--out", "other", "--", "true", check=False)
    assert (done.returncode, done.stderr) == (2, "error: --setup exit 5: failed with exit code 5\n")
    assert not (tmp_path / "other").exists()


@needs_recorder
def test_the_exit_code_is_that_of_the_command_and_the_recording_stays(outlast: Outlast, tmp_path: Path) -> None:
    done = outlast("torture", "record", "--fs=none", "--out=run", "--", script(tmp_path, "exit 7"), check=False)
    assert done.returncode == 7 and "the command failed with exit code 7" in done.stderr
    assert json.loads((tmp_path / "run" / "torture.json").read_text())["exit"] == 7
    assert marks(tmp_path / "run")[0] == "outlast:begin"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "there"), "--out there: already exists"),
        (("--out", "run", "--fs", "none", "--mkfs-options", "-b 1024"), "--mkfs-options: not with --fs none"),
        (("--out", "run", "--fs", "fat"), "'fat' is not one of"),
        (("--out", "run", "--drive", "floppy"), "floppy"),
        (("--out", "run", "--fs", "ext4", "--backend", "floppy"), "--backend floppy: there are loop, guest"),
        (("--out", "run", "--backend", "loop"), "--backend loop: not with --fs none"),
        (("--out", "run", "--speed", "0"), "0 is not within 0.001 to 1000"),
        (("--out", "run", "--set", "device.colour=red"), "device.colour"),
    ],
)
def test_what_cannot_be_recorded_is_one_line_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, outlast: Outlast, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    fs = () if "--fs" in arguments else ("--fs", "none")
    done = outlast("torture", "record", *arguments, *fs, "--", "true", check=False)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


@needs_recorder
def test_all_three_ways_of_marking_are_in_the_recording_in_their_order(outlast: Outlast, tmp_path: Path) -> None:
    work = f"""{MARK}
    mark "by descriptor"
    "{sys.executable}" -m outlast ctl mark by control
    "{sys.executable}" -c 'import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(""); s.connect(os.environ["OUTLAST_MARK_SOCKET"])
s.send(b"by datagram"); assert s.recv(9) == b"ok"'"""
    outlast("torture", "record", "--fs", "none", "--out", "run", "--", script(tmp_path, work))
    ours = ["outlast:begin", "by descriptor", "by control", "by datagram", "outlast:end", "outlast:unmounted"]
    assert marks(tmp_path / "run") == ours


def recording(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A recording under way, whose workload has said that it runs."""
    command = [sys.executable, "-m", "outlast", "torture", "record", *arguments]
    process = subprocess.Popen(command, cwd=folder, text=True, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert eventually((folder / "runs").exists), process.stderr and process.stderr.read()
    return process


ENDLESS = """
dirname "${OUTLAST_MOUNT:-${OUTLAST_DEVICE:-none/none}}" > folder
trap 'echo asked > asked; exit 9' INT
touch runs
while :; do sleep 0.05; done"""


@needs_loop
@needs_recorder
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_workload_that_does_not_end_is_stopped_and_the_recording_kept(by: signal.Signals, tmp_path: Path) -> None:
    with recording(tmp_path, "--out", "run", "--", script(tmp_path, ENDLESS)) as process:
        process.send_signal(by)
        _, said = process.communicate(timeout=PATIENCE_S)
    name = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[by]
    assert (process.returncode, said) == (128 + by, f"error: stopped by {name}; run was written\n")
    assert (tmp_path / "asked").exists(), "the workload could tidy up"
    assert json.loads((tmp_path / "run" / "torture.json").read_text())["exit"] == 9
    assert marks(tmp_path / "run") == ["outlast:begin", "outlast:end", "outlast:unmounted"]
    folder = (tmp_path / "folder").read_text().strip()
    assert not attached(folder) and not Path(folder).exists()


@needs_loop
@needs_recorder
def test_a_recorder_that_is_killed_leaves_nothing_mounted(tmp_path: Path) -> None:
    work = script(tmp_path, "(setsid sh -c 'cd \"$OUTLAST_MOUNT\"; sleep 83; :' &)\n" + ENDLESS)
    with recording(tmp_path, "--out", "run", "--", work) as process:
        process.kill()
    folder = (tmp_path / "folder").read_text().strip()
    assert eventually(lambda: not Path(folder).exists() and not attached(folder))
    assert subprocess.run(["pgrep", "-f", "^sleep 83$"]).returncode == 1
    assert subprocess.run(["pgrep", "-f", f"nbdfuse.*{Path(folder).name}"]).returncode == 1


@needs_loop
@needs_recorder
def test_the_one_that_serves_the_drive_is_never_the_last_to_leave_its_mount(tmp_path: Path) -> None:
    # Killed at any moment, also while no command holds the mounts: who unmounts must not be whom the drive waits for.
    command = [sys.executable, "-m", "outlast", "torture", "record"]
    for moment in range(6):
        work = script(tmp_path, 'dirname "$OUTLAST_MOUNT" >> folders; echo x > "$OUTLAST_MOUNT/x"; exit 0')
        with subprocess.Popen(
            [*command, "--out", f"run-{moment}", "--", work], cwd=tmp_path, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(0.15 + 0.08 * moment)
            process.kill()
    folders = (tmp_path / "folders").read_text().split() if (tmp_path / "folders").exists() else []
    assert eventually(lambda: not any(attached(folder) or Path(folder).exists() for folder in folders))


@needs_loop
@needs_recorder
def test_a_full_disk_ends_the_recording_in_one_line(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    assert subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "small", str(small)]).returncode == 0
    try:
        work = script(tmp_path, 'dd if=/dev/urandom of="$OUTLAST_MOUNT/big" bs=1M count=20 oflag=direct 2>&-; sleep 82')
        command = [sys.executable, "-m", "outlast", "torture", "record", "--out", str(small / "run"), "--", work]
        done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == 2 and "No space left on device" in done.stderr and done.stderr.count("\n") == 1
        assert not list(small.iterdir()), "what was recorded is of no use"
        assert subprocess.run(["pgrep", "-f", "^sleep 82$"]).returncode == 1
    finally:
        subprocess.run(["umount", str(small)])


@needs_loop
@needs_recorder
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mkfs-options", "-Q"), "mkfs.ext4: "),
        (
            ("--mount-options", "colour=red"),
            "--fs ext4 --mount-options colour=red: cannot be mounted: Invalid argument",
        ),
    ],
)
def test_options_that_mkfs_or_the_kernel_refuses(
    options: tuple[str, ...], message: str, outlast: Outlast, tmp_path: Path
) -> None:
    done = outlast("torture", "record", "--out", "run", *options, "--", "true", check=False)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()
