"""Is a command that reads a long trace stopped at once, without half of a file?"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from patience import PATIENCE_S
from processes import open_files

SEED = int(os.environ.get("PROPTEST_RNG_SEED", "20261122"))
"""Seed of the moments: that of the property tests in Rust, if given."""


def wait_until_read(program: subprocess.Popen[str], trace: Path) -> None:
    """Waits until a program reads a trace, which takes it some tenths of a second, or has ended."""
    while program.poll() is None and str(trace) not in open_files(program.pid):
        time.sleep(0.005)


def test_a_long_look_into_a_trace_can_be_stopped(tmp_path: Path) -> None:
    trace = tmp_path / "big.csv"
    # A request each millisecond, or the first thousand would arrive in no time, which no trace of that format does.
    lines = "".join(f"{128166372003061629 + 10_000 * i},h,0,Read,4096,4096,0\n" for i in range(4_000_000))
    trace.write_text(lines)
    program = subprocess.Popen(
        [sys.executable, "-m", "outlast", "trace", "info", "big.csv"], cwd=tmp_path, text=True, stderr=subprocess.PIPE
    )
    wait_until_read(program, trace)
    program.send_signal(signal.SIGINT)
    _, messages = program.communicate(timeout=PATIENCE_S)
    assert (program.returncode, messages) == (130, "error: stopped by Ctrl-C; nothing was written\n")


def test_a_converted_trace_is_whole_or_not_there(tmp_path: Path) -> None:
    trace = tmp_path / "big.csv"
    trace.write_text("".join(f"{128166372003061629 + i * 1000},h,0,Read,{4096 * i},4096,0\n" for i in range(400_000)))
    rng = random.Random(SEED)
    for _ in range(5):
        command = [sys.executable, "-m", "outlast", "trace", "convert", str(trace), "big.iolog", "--to", "fio-iolog"]
        program = subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE)
        # From its reading on: before, it is Python's own start that is interrupted.
        wait_until_read(program, trace)
        time.sleep(rng.random() * 0.3)
        program.send_signal(signal.SIGINT)
        _, messages = program.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in messages
        made = tmp_path / "big.iolog"
        if program.returncode == 130:
            assert messages.startswith("error: stopped by Ctrl-C;")
        if made.exists():
            assert made.read_text().rstrip().endswith("close")
            made.unlink()
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
