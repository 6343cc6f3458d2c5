"""Does replay-log of xfstests, where it is on the PATH, replay an export as it is meant to be? `make test-guest`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledgers import record
from outlast import _core
from served import has_libnbd, needs


@pytest.mark.skipif(not has_libnbd(), reason="python3-libnbd absent")
@needs("replay-log")
def test_replay_log_of_xfstests_replays_an_export(tmp_path: Path) -> None:
    log, disk = tmp_path / "log", tmp_path / "disk"
    image = record(tmp_path, 6, flush_every=3)
    subprocess.run([sys.executable, "-m", "outlast", "torture", "export", image, log], check=True)
    recording = _core.Recording(str(log))
    facts = json.loads(recording.facts())
    for mark in facts["marks"]:
        disk.write_bytes(b"")
        os.truncate(disk, facts["capacity"])
        subprocess.run(["replay-log", "--log", log, "--replay", disk, "--end-mark", mark["text"]], check=True)
        state = recording.state(f"contract@{mark['event']}")
        assert state.read(0, state.size) == disk.read_bytes(), mark
    assert len(facts["marks"]) == 9
