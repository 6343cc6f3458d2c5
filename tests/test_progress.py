"""Does a run that nobody watches show that it lives?"""

from __future__ import annotations

from itertools import pairwise

import pytest

from outlast.cli.progress import RunProgress


def test_without_a_terminal_there_is_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1000.0
    monkeypatch.setattr("outlast.cli.progress.time.monotonic", lambda: now)
    said = []
    with RunProgress() as tell:
        assert tell is not None
        # Ten minutes, asked some twenty times a second as the simulator does.
        for step in range(1, 9_601):
            now = 1000.0 + step / 16
            assert tell("precondition", step / 16_000, step * 1250, 0.0)
            if line := capsys.readouterr().err:
                said.append((now - 1000.0, line))
    assert len(said) == 20
    apart = [later[0] - earlier[0] for earlier, later in pairwise(said)]
    assert all(gap == 30.0 for gap in apart), apart
    assert said[0][1] == "precondition: 3%, 0.6 M requests\n"


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("outlast.cli.progress.time.monotonic", lambda: 1000.0)
    with RunProgress(shown=False) as tell:
        assert tell is None
    assert capsys.readouterr().err == ""
