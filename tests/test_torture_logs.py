"""Are recordings in foreign formats, and states as drives, what they are here?"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledgers import CHECK, record
from outlast import _core
from patience import PATIENCE_S
from served import has_libnbd, needs
from test_serve_filesystems import can_mount, device, digest, run, tree

ALL = json.dumps({"models": ["contract"], "seed": 1, "random": 0})
FORMATS = ["log-writes", "list"]
has_nbd = pytest.mark.skipif(not has_libnbd(), reason="python3-libnbd absent")


def torture(*arguments: object, check: int | None = 0) -> str:
    """Output of `outlast torture`."""
    command = [sys.executable, "-m", "outlast", "torture", *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=PATIENCE_S)
    assert check is None or done.returncode == check, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def states(recording: Any) -> set[tuple[str | None, str]]:
    """The last mark and the content of every state that the contract allows."""
    plan = recording.plan(ALL)
    every = [plan[index] for index in range(len(plan))]
    return {(own.mark, hashlib.sha256(own.read(0, 1 << 20)).hexdigest()) for own in every}


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a program that flushes after each entry."""
    return record(tmp_path_factory.mktemp("good"), 6)


@pytest.fixture(scope="module")
def loses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of a program that flushes after each third."""
    return record(tmp_path_factory.mktemp("bad"), 6, flush_every=3)


@has_nbd
@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_has_the_states_of_its_recording(promises: Path, loses: Path, tmp_path: Path, kind: str) -> None:
    for number, image in enumerate((promises, loses)):
        copy = tmp_path / f"copy-{number}"
        said = torture("export", image, copy, "--format", kind)
        assert "written to" in said
        own, other = _core.Recording(str(image)), _core.Recording(str(copy))
        facts, copied = json.loads(own.facts()), json.loads(other.facts())
        assert copied["source"] == {"log-writes": "dm-log-writes", "list": "list"}[kind]
        for name in ("capacity", "writes", "flushes", "bytes"):
            assert copied[name] == facts[name], name
        assert [mark["text"] for mark in copied["marks"]] == [mark["text"] for mark in facts["marks"]]
        expected, found = states(own), states(other)
        assert len(expected) > 6 and found == expected


@has_nbd
@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_is_checked_as_its_recording(promises: Path, loses: Path, tmp_path: Path, kind: str) -> None:
    check = tmp_path / "check.py"
    check.write_text(CHECK)
    for image, code in ((promises, 0), (loses, 1)):
        copy = tmp_path / image.parent.name
        torture("export", image, copy, "--format", kind)
        torture("check", copy, "--out", tmp_path / f"out-{code}", "--", sys.executable, check, check=code)


@has_nbd
def test_what_cannot_be_is_one_line(promises: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    torture("export", promises, log)
    said = torture("check", log, "--model", "drive", "--out", tmp_path / "out", "--", "true", check=2)
    assert "drive" in said and "contract" in said and len(said.splitlines()) <= 3, said
    damaged = tmp_path / "damaged"
    damaged.write_bytes(log.read_bytes()[:3000])
    said = torture("check", damaged, "--out", tmp_path / "other", "--", "true", check=2)
    assert not (tmp_path / "other").exists()
    assert f"{damaged}: byte " in said and "Traceback" not in said, said
    foreign = tmp_path / "foreign"
    foreign.write_text("hello\n")
    said = torture("export", foreign, tmp_path / "copy", check=2)
    assert f"{foreign}: is not a recording" in said, said
    said = torture("export", promises, tmp_path / "no" / "copy", check=2)
    assert "cannot be written" in said, said
    assert not (tmp_path / "copy").exists()


@contextmanager
def serving(recording: Any, state: Any, folder: Path, log: Path) -> Iterator[str]:
    """The URI of a state that is served and recorded; afterwards the recording can be read."""
    server = recording.serve(state, f"unix:{folder / 'socket'}", str(log))
    try:
        yield server.uri
    finally:
        server.stop()
        while server.wait(1)[0] != "ended":
            pass


def content(state: Any) -> bytes:
    """All that a state holds."""
    return bytes(state.read(0, state.size))


@has_nbd
def test_what_is_done_to_a_state_is_recorded_over_it(promises: Path, tmp_path: Path) -> None:
    recording = _core.Recording(str(promises))
    plan = recording.plan(ALL)
    state = plan[len(plan) - 1]
    log = tmp_path / "log"
    with serving(recording, state, tmp_path, log) as uri:
        program = "import sys, nbd\nh = nbd.NBD()\nh.connect_uri(sys.argv[1])\nh.pwrite(b'x' * 512, 512)\nh.flush()\n"
        run("/usr/bin/python3", "-c", program, uri)
    again = _core.Recording(str(log))
    facts = json.loads(again.facts())
    # After what was there, its flush, and the mark.
    assert facts["events"] - facts["window"][0] == 4
    before = again.state(f"contract@{facts['window'][0]}")
    assert content(before) == content(state)
    expected = bytearray(content(state))
    expected[512:1024] = b"x" * 512
    assert content(again.state(f"contract@{facts['events']}")) == bytes(expected)


def test_a_place_where_nobody_can_listen_is_one_line(tmp_path: Path) -> None:
    log = empty_log(tmp_path, 1 << 20)
    recording = _core.Recording(str(log))
    with pytest.raises(Exception, match=r"--listen \"here\": must be unix:PATH"):
        recording.serve(recording.state("contract@0"), "here", None)


def empty_log(folder: Path, size: int) -> Path:
    """A log of a drive that nobody has written to."""
    log = folder / "empty.log"
    mark = f"outlast:capacity {size}".encode()
    words = [0x6A736677736872, 1, 1, 512]
    head = b"".join(word.to_bytes(8, "little") for word in words)
    entry = b"".join(word.to_bytes(8, "little") for word in (0, 0, 8, len(mark))) + mark
    log.write_bytes(head.ljust(512, b"\0") + entry.ljust(512, b"\0"))
    return log


@can_mount
@needs("nbdfuse", "nbdcopy", "mkfs.ext4")
def test_the_recording_of_a_file_system_is_what_the_drive_holds(tmp_path: Path) -> None:
    size = 64 << 20
    recording = _core.Recording(str(empty_log(tmp_path, size)))
    log, copy, mount = tmp_path / "log", tmp_path / "copy", tmp_path / "mount"
    mount.mkdir()
    with serving(recording, recording.state("contract@0"), tmp_path, log) as uri:
        with device(uri, tmp_path / "fuse") as loop:
            run("mkfs.ext4", "-q", loop)
            run("mount", loop, str(mount))
            try:
                tree(mount)
                written = digest(mount)
                # Of this file system alone: others on the machine are no business of the test.
                run("sync", "--file-system", str(mount))
                (mount / "0" / "file-0").unlink()
            finally:
                run("umount", str(mount))
        run("nbdcopy", uri, str(copy))
    again = _core.Recording(str(log))
    facts = json.loads(again.facts())
    assert facts["capacity"] == size and facts["flushes"] > 2 and facts["writes"] > 20
    last = again.state(f"contract@{facts['events']}")
    assert last.size == size and content(last) == copy.read_bytes()
    run("e2fsck", "-fn", str(copy))
    assert len(written) == 60
