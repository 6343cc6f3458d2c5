"""Does Ctrl-C stop a run within about a second and keep what was measured?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import files_below, summary_of

# Long enough that it would not end by itself within the test; small enough to be measuring at once.
LONG = ["--set", "workload.synthetic.duration=2000h", "--set", "precondition.overwrite=none"]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "outlast", "run", "tiny.toml", *LONG, *arguments]
    return subprocess.Popen(
        command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def interrupt(program: subprocess.Popen[str]) -> tuple[str, str, float]:
    """Sends Ctrl-C once the run is under way; returns output, messages and the seconds until the end."""
    time.sleep(2.5)
    assert program.poll() is None, program.communicate()
    sent = time.monotonic()
    program.send_signal(signal.SIGINT)
    out, messages = program.communicate(timeout=60)
    return out, messages, time.monotonic() - sent


def test_what_was_measured_is_kept_and_marked(tiny: Path, tmp_path: Path) -> None:
    out, messages, seconds = interrupt(start(tmp_path, "--json"))
    import json

    summary = json.loads(out)
    assert summary["partial"] is True
    assert summary["host"]["reads"] > 0
    assert "Ctrl-C" in messages
    # The machine of a test may be busy; a person's is not. Twice the promise is still a promise kept.
    assert seconds < 2.0


def test_the_folder_is_written_whole_and_marked(tiny: Path, tmp_path: Path) -> None:
    program = start(tmp_path, "--out", "out", "--quiet")
    interrupt(program)
    assert program.returncode == 130
    assert summary_of(tmp_path / "out")["partial"] is True
    assert "partial" in (tmp_path / "out" / "report.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.toml", "out"}


def test_ctrl_c_before_anything_is_measured(tiny: Path, tmp_path: Path) -> None:
    long_fill = ["--set", "precondition.overwrite=random", "--set", "precondition.min_drive_writes=1000000"]
    program = start(tmp_path, *long_fill, "--set", "precondition.max_drive_writes=1000000", "--json")
    out, _, seconds = interrupt(program)
    import json

    assert program.returncode == 130
    assert json.loads(out)["partial"] is True
    assert json.loads(out)["host"]["reads"] == 0
    assert seconds < 2.0


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_killed_outright_nothing_half_done_appears(tiny: Path, tmp_path: Path) -> None:
    program = start(tmp_path, "--out", "out", "--quiet")
    time.sleep(2.0)
    program.kill()
    program.communicate(timeout=60)
    assert files_below(tmp_path) == {Path("tiny.toml")}
