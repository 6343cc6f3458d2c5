"""Does a run that nobody watches show that it lives?"""

from __future__ import annotations

import os
import pty
import re
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import outlast
from outlast import ScenarioError
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


class Place:
    """A cell of a notebook: what it has shown, the last thing last."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Place:
    """IPython as it is in a kernel, with one cell."""
    place, display, ipython = Place(), ModuleType("IPython.display"), ModuleType("IPython")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = lambda *_, **__: place  # type: ignore[attr-defined]
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return place


def fractions(place: Place) -> list[float]:
    """Fractions that the bar has shown."""
    return [float(found[1]) for html in place.shown if (found := re.search(r'value="([\d.]+)"', html))]


def test_a_bar_never_goes_back_within_a_phase() -> None:
    """Preconditioning learns how long it takes while it goes on: a low tolerance makes it longer and longer."""
    told: list[tuple[str, float]] = []

    def tell(phase: str, fraction: float | None, requests: int, simulated_s: float) -> None:
        assert fraction is not None and 0 <= fraction <= 1
        told.append((phase, fraction))

    hard = {"precondition.tolerance": 0.002, "precondition.round": 0.05, "precondition.max_drive_writes": 6}
    outlast.run("peers-32g", hard | {"workload.synthetic.requests": 300_000}, progress=tell)
    prepared = [fraction for phase, fraction in told if phase == "precondition"]
    assert len(prepared) >= 5, told
    for (before, first), (phase, second) in pairwise(told):
        assert phase != before or second >= first, told
    # How far it is when the first report comes depends on the machine.
    assert prepared[0] < prepared[-1] and 0.5 < prepared[-1] < 1, told


def test_a_run_has_a_bar_in_a_notebook(notebook: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert not outlast.run("demo", {"workload.synthetic.duration": "60s"}, progress=True).partial
    done = fractions(notebook)
    assert any("s simulated" in html and "requests/s" in html for html in notebook.shown)
    assert done and all(0 <= each <= 1 for each in done)
    assert notebook.shown[-1] == "" and capsys.readouterr().err == ""


def test_a_sweep_has_a_bar_in_a_notebook(notebook: Place, tiny: Path) -> None:
    vary = [{"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}]
    outlast.sweep({"name": "s", "scenario": str(tiny), "vary": vary}, tiny.parent / "out", jobs=1, progress=True)
    assert fractions(notebook)[-1] == 1.0
    assert "2 of 2" in notebook.shown[-2] and notebook.shown[-1] == ""


def test_a_bar_goes_away_with_a_run_that_fails(notebook: Place, tmp_path: Path) -> None:
    with pytest.raises(outlast.OutlastError):
        outlast.run("demo", {"workload.trace.file": str(tmp_path / "none.csv")}, progress=True, any_memory=True)
    assert notebook.shown[-1:] in ([""], [])


def test_a_run_has_a_bar_in_a_terminal() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import outlast; outlast.run('demo', progress=True)"])
    seen = b""
    try:
        while more := os.read(terminal, 65_536):
            seen += more
    except OSError:  # the terminal is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, seen.decode()
    assert "━" in seen.decode() and "s simulated" in seen.decode()


@pytest.mark.parametrize("silent", [None, False])
def test_without_progress_a_run_says_nothing(silent: Any, tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outlast.run(str(tiny), progress=silent)
    assert capfd.readouterr() == ("", "")


def test_progress_that_is_neither_is_refused(tiny: Path) -> None:
    with pytest.raises(ScenarioError, match=r"^progress = 'yes': must be True, False, None or a function$"):
        outlast.run(str(tiny), progress="yes")  # type: ignore[arg-type]
