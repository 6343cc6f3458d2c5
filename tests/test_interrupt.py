"""Does Ctrl-C stop a run within about a second and keep what was measured?"""

from __future__ import annotations

import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import files_below, summary_of
from patience import PATIENCE_S

# Long enough that it would not end by itself within the test; small enough to be measuring at once.
LONG = ["--set", "workload.synthetic.duration=2000h", "--set", "precondition.overwrite=none"]


RUNS, PREPARES = re.compile(rb"\brun\b.*s simulated"), re.compile(rb"\bprecondition\b.*requests/s")
"""Text of the bar while the workload runs, and while the drive is prepared."""
MOST_CPU_S = 5.0
"""Processor time from Ctrl-C to the end: a run looks for it every 50 ms, and sums up."""


def processor_s(pid: int) -> float:
    """Seconds of processors that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Program:
    """A run whose messages go to a terminal, so that its bar tells how far it is."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "outlast", "run", "tiny.toml", *LONG, *arguments]
        self._terminal, theirs = pty.openpty()
        self._messages = b""
        self.process = subprocess.Popen(
            command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs
        )
        os.close(theirs)

    def _read(self, until: float) -> bool:
        """Takes what the terminal shows next; false where nothing comes any more."""
        if not select.select([self._terminal], [], [], max(0.0, until - time.monotonic()))[0]:
            return False
        try:
            more = os.read(self._terminal, 65_536)
        except OSError:  # the other end is closed
            return False
        self._messages += more
        return bool(more)

    def wait_for(self, shown: re.Pattern[bytes]) -> None:
        """Waits until the bar shows it."""
        until = time.monotonic() + PATIENCE_S
        while not shown.search(self._messages):
            assert self._read(until), f"never shown: {shown.pattern!r} in {self._messages[-2000:]!r}"

    def interrupt(self, after: re.Pattern[bytes] = RUNS) -> tuple[str, str, float]:
        """Sends Ctrl-C once the bar shows `after`; returns output, messages and the processor time until the end."""
        self.wait_for(after)
        assert self.process.poll() is None
        before = processor_s(self.process.pid)
        others = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process.send_signal(signal.SIGINT)
        output, messages = self.ended()
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return output, messages, now.ru_utime + now.ru_stime - others.ru_utime - others.ru_stime - before

    def ended(self) -> tuple[str, str]:
        """Output and messages of a run that ends."""
        until = time.monotonic() + PATIENCE_S
        while self._read(until):
            pass
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        os.close(self._terminal)
        return out, self._messages.decode()


def test_what_was_measured_is_kept_and_marked(tiny: Path, tmp_path: Path) -> None:
    out, messages, seconds = Program(tmp_path, "--json").interrupt()
    import json

    summary = json.loads(out)
    assert summary["partial"] is True
    assert summary["host"]["reads"] > 0
    assert "Ctrl-C" in messages
    assert seconds < MOST_CPU_S


def test_the_folder_is_written_whole_and_marked(tiny: Path, tmp_path: Path) -> None:
    program = Program(tmp_path, "--out", "out")
    program.interrupt()
    assert program.process.returncode == 130
    assert summary_of(tmp_path / "out")["partial"] is True
    assert "partial" in (tmp_path / "out" / "report.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.toml", "out"}


def test_ctrl_c_before_anything_is_measured(tiny: Path, tmp_path: Path) -> None:
    long_fill = ["--set", "precondition.overwrite=random", "--set", "precondition.min_drive_writes=1000000"]
    program = Program(tmp_path, *long_fill, "--set", "precondition.max_drive_writes=1000000", "--json")
    out, _, seconds = program.interrupt(after=PREPARES)
    import json

    assert program.process.returncode == 130
    assert json.loads(out)["partial"] is True
    assert json.loads(out)["host"]["reads"] == 0
    assert seconds < MOST_CPU_S


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_killed_outright_nothing_half_done_appears(tiny: Path, tmp_path: Path) -> None:
    program = Program(tmp_path, "--out", "out")
    program.wait_for(RUNS)
    program.process.kill()
    program.ended()
    assert files_below(tmp_path) == {Path("tiny.toml")}
