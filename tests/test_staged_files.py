"""Is a file that a signal interrupts whole or not there, wherever in its making the signal comes?"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from outlast import interrupts
from outlast.output import staged_file

STEPPED = ("output.py", "interrupts.py", "contextlib.py", "tempfile.py")
"""Files whose every bytecode is a moment at which the signal comes once."""


def interrupted_at(moment: int, write: Callable[[], None]) -> bool:
    """Calls `write` with a signal before bytecode `moment`; false if there are fewer."""
    left = moment

    def step(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if Path(frame.f_code.co_filename).name not in STEPPED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                interrupts._handle(signal.SIGINT, frame)
        return step

    sys.settrace(step)
    try:
        write()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return left <= 0


def test_a_file_is_whole_or_not_there_at_every_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.log"

    def write() -> None:
        with staged_file(path) as staging:
            staging.write_text("first\n")
            staging.write_text("first\nlast\n")

    whole = absent = moment = 0
    while True:
        moment += 1
        handling = interrupts._SignalHandling()
        monkeypatch.setattr(interrupts, "_handling", handling)
        interrupts.raise_on_signal()
        if not interrupted_at(moment, write):
            break
        assert {file.name for file in tmp_path.iterdir()} <= {path.name}, moment
        assert path.exists() == (handling.disk_state != "nothing was written"), moment
        if path.exists():
            assert path.read_text() == "first\nlast\n", moment
            path.unlink()
            whole += 1
        else:
            absent += 1
    assert whole > 0
    assert absent > 100
