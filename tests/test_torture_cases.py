"""Do programs that lose what they acknowledged get caught, and those that keep it pass?

First the checks themselves, on a folder that no power is cut from: each sees what is lost, corrupt, or there too soon.
Then cases of those behind docs/reference/torture-table.md in small: `make torture-table` has all.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "torture" / "cases"
GOOD, LOST, CORRUPT, AHEAD = 0, 3, 4, 5


class Listener:
    """The recorder's side of marks: every mark is answered."""

    def __init__(self, folder: Path) -> None:
        self.marks: list[str] = []
        self.path = folder / "marks.socket"
        self.datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagrams.bind(str(self.path))
        self.ours, self.theirs = socket.socketpair()
        for serve in (self._datagrams, self._lines):
            threading.Thread(target=serve, daemon=True).start()

    def _datagrams(self) -> None:
        while True:
            text, sender = self.datagrams.recvfrom(4096)
            self.marks.append(text.decode())
            self.datagrams.sendto(b"ok", sender)

    def _lines(self) -> None:
        with self.ours.makefile() as lines:
            for line in lines:
                self.marks.append(line.rstrip("\n"))
                self.ours.sendall(b"\n")

    def run(self, *command: str, **environment: str) -> None:
        """A workload, to its end."""
        number = self.theirs.fileno()
        known = {"OUTLAST_MARK_SOCKET": str(self.path), "OUTLAST_MARK_FD": str(number)}
        subprocess.run(
            [sys.executable, *command], env={**os.environ, **known, **environment}, pass_fds=[number], check=True
        )


def check(program: str, mark: str, **environment: str) -> tuple[int, str]:
    """Exit code and output of a check."""
    done = subprocess.run(
        [sys.executable, str(CASES / program), "check"],
        env={**os.environ, **environment, "OUTLAST_MARK": mark}, text=True, capture_output=True,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    assert done.stdout.count("\n") == (done.returncode != GOOD), done.stdout
    return done.returncode, done.stdout


def sqlite_damage(folder: Path) -> None:
    path = folder / "rows.db"
    held = path.read_bytes()
    path.write_bytes(held[:4096] + held[8192:12288] * 2 + held[12288:])


def lmdb_damage(folder: Path) -> None:
    path = folder / "rows.lmdb" / "data.mdb"
    held = path.read_bytes()
    path.write_bytes(held[:8192] + bytes(byte ^ 0xFF for byte in held[8192:]))


def rocksdb_damage(folder: Path) -> None:
    for path in (folder / "rows.rocksdb").glob("*.sst"):
        path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))


def rename_damage(folder: Path) -> None:
    path = folder / "document"
    path.write_bytes(path.read_bytes()[:-1])


def tree_damage(folder: Path) -> None:
    path = next(path for path in sorted(folder.rglob("file*")) if path.stat().st_size)
    path.write_bytes(b"x" + path.read_bytes()[1:])


@pytest.mark.parametrize(
    ("program", "mark", "last", "damage"),
    [
        ("sqlite_rows.py", "commit", 30, sqlite_damage),
        ("lmdb_rows.py", "commit", 100, lmdb_damage),
        ("rocksdb_rows.py", "commit", 100, rocksdb_damage),
        ("rename_save.py", "saved", 30, rename_damage),
        ("tree.py", "operation", 150, tree_damage),
    ],
)
def test_a_check_tells_what_is_lost_from_what_is_corrupt(
    tmp_path: Path, program: str, mark: str, last: int, damage: Callable[[Path], None]
) -> None:
    module = {"lmdb_rows.py": "lmdb", "rocksdb_rows.py": "rocksdict"}.get(program, "json")
    if find_spec(module) is None:
        pytest.skip(f"the module {module} is not installed")
    mount = tmp_path / "mount"
    mount.mkdir()
    listener = Listener(tmp_path)
    listener.run(str(CASES / program), "work", OUTLAST_MOUNT=str(mount))
    assert listener.marks[-1] == f"{mark} {last}"

    def said(promised: str) -> int:
        return check(program, promised, OUTLAST_MOUNT=str(mount))[0]

    assert said(f"{mark} {last}") == GOOD
    assert said(f"{mark} {last - 1}") == GOOD  # the one under way had been carried out
    assert said("") == GOOD
    assert said(f"{mark} {last + 1}") == LOST
    assert said(f"{mark} {last - 2}") == AHEAD
    damage(mount)
    assert said(f"{mark} {last}") == CORRUPT


def test_a_check_of_blocks_tells_what_is_lost_from_what_is_corrupt(tmp_path: Path) -> None:
    drive = tmp_path / "drive"
    drive.write_bytes(bytes(1 << 20))
    listener = Listener(tmp_path)
    listener.run(str(CASES / "blocks.py"), "work", OUTLAST_DEVICE=str(drive))

    def said(promised: int) -> int:
        return check("blocks.py", f"round {promised}", OUTLAST_DEVICE=str(drive))[0]

    assert [said(promised) for promised in (60, 59, 61, 58)] == [GOOD, GOOD, LOST, AHEAD]
    held = drive.read_bytes()
    drive.write_bytes(held[:100] + b"?" + held[101:])
    assert said(60) == CORRUPT


def outlast(*words: str) -> subprocess.CompletedProcess[str]:
    """`outlast torture` of this Python."""
    return subprocess.run([sys.executable, "-m", "outlast", "torture", *words], text=True, capture_output=True)


@pytest.mark.parametrize(
    ("program", "options", "found"),
    [
        ("sqlite_rows.py", ["journal=DELETE", "synchronous=FULL", "commits=6"], {LOST}),
        ("sqlite_rows.py", ["journal=DELETE", "synchronous=EXTRA", "commits=6"], set()),
        ("rename_save.py", ["folder=yes", "saves=6"], set()),
        ("rename_save.py", ["folder=no", "saves=6"], {LOST}),
    ],
    ids=["sqlite-full", "sqlite-extra", "rename-folder-synced", "rename-folder-forgotten"],
)
def test_what_was_acknowledged_is_lost_only_by_who_does_not_sync_it(
    tmp_path: Path, program: str, options: list[str], found: set[int]
) -> None:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    for tool in ("nbdfuse", "mkfs.ext4"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    recording, results = tmp_path / "run.outlast", tmp_path / "results"
    case = [sys.executable, str(CASES / program)]
    done = outlast("record", "--out", str(recording), "--", *case, "work", *options)
    assert done.returncode == 0, done.stderr
    words = ["check", str(recording), "--out", str(results), "--states", "40", "--model", "contract"]
    done = outlast(*words, "--", *case, "check", *options)
    assert done.returncode == bool(found), done.stdout + done.stderr
    verdicts = [json.loads(line) for line in (results / "results.jsonl").read_text().splitlines()]
    assert sum(bool(verdict["mark"]) for verdict in verdicts) > 25
    bad = [verdict for verdict in verdicts if verdict["verdict"] == "bad"]
    assert {verdict["exit"] for verdict in bad} == found
    assert all(verdict["stage"] == "check" for verdict in bad)
