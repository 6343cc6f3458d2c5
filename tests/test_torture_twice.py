"""Is a program found that recovers unsafely when power fails again, and are sectors seen that nobody can read?"""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import Outlast
from ledgers import record
from served import SMALL, SYSTEM_PYTHON

CHECK = """\
import os, sys

uri = os.environ.get("OUTLAST_URI")
if uri:
    import nbd

    drive = nbd.NBD()
    drive.connect_uri(uri)
    read = drive.pread

    def write(data, offset):
        drive.pwrite(data, offset)
        drive.flush()
else:
    file = os.open(os.environ["OUTLAST_DEVICE"], os.O_RDWR)
    read = lambda length, offset: os.pread(file, length, offset)
    write = lambda data, offset: os.pwrite(file, data, offset)

mark = int(os.environ["OUTLAST_MARK"] or 0)
for i in range(1, mark + 1):
    try:
        found = read(4096, i * 4096)
    except Exception as error:
        print(f"entry {i} cannot be read: {error}")
        sys.exit(5)
    if bytes(found) != bytes([i]) * 4096:
        print(f"entry {i} was promised")
        sys.exit(3)
if mark and sys.argv[1] == "unsafe":
    write(bytes(4096), mark * 4096)
if mark and sys.argv[1] != "quiet":
    write(bytes([mark]) * 4096, mark * 4096)
"""
"""A ledger that writes its last entry again when it recovers: over itself, or unsafely after it has wiped it."""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A recording of a ledger that keeps its promises."""
    if subprocess.run([SYSTEM_PYTHON, "-c", "import nbd"], capture_output=True).returncode:
        pytest.skip("python3-libnbd is not installed")
    (tmp_path / "check.py").write_text(CHECK)
    return record(tmp_path, 6)


@pytest.mark.parametrize(("how", "code"), [("safe", 0), ("unsafe", 1), ("quiet", 0)])
def test_power_may_fail_again_while_a_program_recovers(how: str, code: int, ledger: Path, outlast: Outlast) -> None:
    command = ("--", SYSTEM_PYTHON, "check.py", how)
    words = ("torture", "check", "run.outlast", "--model", "contract", "--model", "twice")
    done = outlast(*words, *command, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    out = ledger.with_name("run.outlast.torture")
    result = json.loads((out / "result.json").read_text())
    twice = result["by_model"].get("twice", {"checked": 0, "bad": 0, "planned": 0})
    assert result["by_model"]["contract"]["bad"] == 0
    assert (twice["bad"] > 0) == bool(code)
    if how != "quiet":
        assert twice["checked"] == twice["planned"] > 10
    if not code:
        return
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    bad = [line for line in lines if line["model"] == "twice" and line["verdict"] == "bad"]
    # Wiped, and not yet written again: by the mark of the first cut.
    assert all(line["exit"] == 3 and f"entry {line['mark']} was promised" in line["output"] for line in bad)
    [failure] = result["failures"]
    assert failure["smallest"]["lost"] <= 1
    for state in (failure["smallest"]["state"], bad[0]["state"]):
        assert state.startswith("twice/")
        again = outlast("torture", "check", "run.outlast", "--state", state, *command, check=False)
        assert (again.returncode, "was promised" in again.stdout) == (1, True), again.stderr
    assert shlex.join(command[1:]) in failure["smallest"]["reproduce"]
    # A second call finds all of it known.
    assert "all checked earlier" in outlast(*words, *command, check=False).stdout


def test_sectors_that_a_dead_die_takes_along_cannot_be_read(ledger: Path, outlast: Outlast, tmp_path: Path) -> None:
    record(tmp_path, 3, name="bare.outlast", drive=SMALL.replace("[device.protection]\ndata = 3\n", ""))
    command = ("--", SYSTEM_PYTHON, "check.py", "quiet")
    words = ("torture", "check", "bare.outlast")
    faults = ("--model", "fault", "--fault", "die 1", "--fault", "die 0")
    done = outlast(*words, *faults, *command, check=False)
    assert done.returncode == 1, done.stderr
    out = tmp_path / "bare.outlast.torture"
    result = json.loads((out / "result.json").read_text())
    assert set(result["probability"]) == {"die1", "die0"}
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    unreadable = [line for line in lines if line["verdict"] == "bad" and line["purpose"] == "plan"]
    assert unreadable
    for line in unreadable:
        entry = int(line["output"].split()[1])
        assert (line["exit"], "cannot be read" in line["output"]) == (5, True), line
        assert any(offset < (entry + 1) * 4096 and entry * 4096 < offset + length for offset, length in line["bad"])
        assert entry <= int(line["mark"])
    state = unreadable[0]["state"]
    again = outlast(*words, "--state", state, *command, check=False)
    assert (again.returncode, "cannot be read" in again.stdout) == (1, True), again.stderr
