"""Recordings of a program that keeps a ledger on a raw drive: entry i is 4 KiB of the byte i, and its mark says i."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import outlast
from patience import PATIENCE_S
from served import SMALL, SYSTEM_PYTHON

CHECK = """\
import os

mark = int(os.environ["OUTLAST_MARK"] or 0)
marks = open(os.environ["OUTLAST_MARKS"]).read().split()
assert marks == [str(i) for i in range(1, mark + 1)], marks
with open(os.environ["OUTLAST_DEVICE"], "rb") as device:
    for i in range(1, mark + 1):
        device.seek(i * 4096)
        found = device.read(4096)
        if found != bytes([i]) * 4096:
            print(f"entry {i} was promised, and holds {found[0]}")
            raise SystemExit(3)
"""
"""A check as a program: every entry that was promised is there."""
FUNCTION = """\
def check(state):
    for i in range(1, int(state.mark or 0) + 1):
        if state.read(i * 4096, 4096) != bytes([i]) * 4096:
            return f"entry {i} was promised"
"""
"""The same in process."""


def _note(served: outlast.Served, text: str) -> None:
    """A mark of Outlast's own, as the recorder makes it: clients cannot."""
    answer = json.loads(served._server.note(text))
    assert "ok" in answer, answer


def record(folder: Path, entries: int, flush_every: int = 1, name: str = "run.outlast", drive: str = SMALL) -> Path:
    """The recording of a ledger that flushes after each so many entries; with 1 it keeps its promises."""
    scenario = folder / "small.toml"
    scenario.write_text(drive)
    image = folder / name
    with outlast.serve(str(scenario), image=str(image)) as served:
        client = _Client(served.uri)
        try:
            _note(served, "outlast:begin")
            for number in range(1, entries + 1):
                client.do(number)
                if number % flush_every == 0:
                    client.do(0)
                served.mark(str(number))
            _note(served, "outlast:end")
            _note(served, "outlast:unmounted")
        finally:
            client.close()
    return image


SCRIPT = """
import sys, nbd
drive = nbd.NBD()
drive.connect_uri(sys.argv[1])
for line in sys.stdin:
    number = int(line)
    drive.pwrite(bytes([number]) * 4096, number * 4096) if number else drive.flush()
    print("done", flush=True)
"""
"""Writes the entry that a line names, or flushes at a 0, and says when the drive has answered."""


class _Client:
    """A client that stays connected: one that leaves might flush."""

    def __init__(self, uri: str) -> None:
        self._process = subprocess.Popen(
            [SYSTEM_PYTHON, "-c", SCRIPT, uri], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, number: int) -> None:
        """Writes an entry, or flushes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def close(self) -> None:
        """Ends it."""
        self._process.communicate(timeout=PATIENCE_S)
