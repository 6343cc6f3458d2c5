"""Are models, faults and failures of states as they should be, whatever machine may have left them?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from outlast import errors
from outlast.products.torture.check import check
from outlast.products.torture.check_request import CheckRequest
from outlast.products.torture.crash import State
from outlast.products.torture.result import Result
from outlast.products.torture.trial import Trial, in_process
from states import FakeRecording, FakeState


def checked(made: list[FakeState], tmp_path: Path, bad: set[str], **more: Any) -> tuple[Result, list[str]]:
    """Result of checking made-up states, of which some are bad, and the order in which they were checked."""
    seen: list[str] = []

    def function(state: State) -> bool:
        seen.append(state.id)
        return state.id not in bad

    request = CheckRequest(run=tmp_path / "run", out=tmp_path / "out", command=[], in_process="a.py:f", **more)
    recording = FakeRecording(made)
    return check(recording, request, in_process(function), "in process", lambda *_: None), seen


def drive_states(count: int) -> list[FakeState]:
    return [FakeState(f"drive@{n * 10}", "drive", spans_ns=[(n * 10, n * 10 + 10)]) for n in range(count)]


def test_the_probability_of_a_loss_is_the_share_of_bad_time(tmp_path: Path) -> None:
    bad = {f"drive@{n}" for n in (130, 140, 770)}
    result, _ = checked(drive_states(100), tmp_path, bad, models=("drive",))
    assert result.risks["drive"].exact
    assert result.risks["drive"].value == 0.03
    assert result.by_model()["drive"] == {"planned": 100, "checked": 100, "bad": 3}


def test_models_are_checked_in_turns_and_drives_at_random_instants(tmp_path: Path) -> None:
    contract = [FakeState(f"contract@{n}", "contract", event=n) for n in range(20)]
    states = [*contract[:20], *drive_states(100)]
    result, seen = checked(states, tmp_path, {"drive@130"}, models=("contract", "drive"), states=30)
    assert len(result.verdicts) == 30
    plan = [each for each in seen if each != "contract@9"][:29]
    assert sum(each.startswith("drive") for each in plan) in (14, 15)
    times = [int(each.partition("@")[2]) for each in plan if each.startswith("drive")]
    assert times != sorted(times)
    risk = result.risks["drive"]
    assert not risk.exact
    assert risk.known_ns == 150
    assert risk.draws >= 15
    assert risk.low <= 0.01 <= risk.high


def test_a_device_that_does_not_start_is_bad_and_nobody_is_asked(tmp_path: Path) -> None:
    states = [
        FakeState("array1@5", "array", spans_ns=[(0, 1000)], refused="parity is in doubt and a member is missing")
    ]
    result, seen = checked(states, tmp_path, set(), models=("array",))
    [verdict] = result.verdicts
    assert (verdict.verdict, verdict.stage, verdict.output) == ("bad", "start", states[0].refused)
    assert seen == ["contract@9"]
    assert result.risks["array1"].value == 1.0
    assert result.risks_of("array") == result.risks


def test_failures_that_look_different_are_each_made_smaller(tmp_path: Path) -> None:
    lost = [str(n) for n in range(8)]
    states = [FakeState(f"drive@{n}", "drive", event=n, lost=lost, spans_ns=[(n, n + 1)]) for n in (3, 4)]
    needed = {"2", "5"}

    def function(state: State) -> str | None:
        return "bad" if needed <= set(state.lost) else None

    request = CheckRequest(
        run=tmp_path / "run", out=tmp_path / "out", command=[], in_process="a.py:f", models=("drive",), jobs=3
    )
    result = check(FakeRecording(states), request, in_process(function), "in process", lambda *_: None)
    [failure] = result.failures
    assert (failure.smallest.state, failure.minimal) == ("lost@3-2,5", True)
    assert [each["write"] for each in failure.smallest.witness] == [2, 5]
    assert len(failure.states) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_cannot_begin_or_end_is_told_of(when: str, tmp_path: Path) -> None:
    @contextmanager
    def trials() -> Iterator[Trial]:
        if when == "before":
            raise errors.TortureError("there is no loop device")
        with in_process(lambda _: None)() as trial:
            yield trial
        raise errors.TortureError("it cannot be unmounted")

    run, out = tmp_path / "run", tmp_path / "out"
    request = CheckRequest(run=run, out=out, command=[], in_process="a.py:f", models=("drive",), jobs=3)
    with pytest.raises(errors.TortureError, match=r"no loop device|cannot be unmounted"):
        check(FakeRecording(drive_states(4)), request, trials, "in process", lambda *_: None)


def test_an_error_of_a_worker_ends_the_check(tmp_path: Path) -> None:
    def function(state: State) -> bool:
        return True

    class Broken(FakeState):
        def witness(self) -> str:
            raise errors.TortureError("the recording cannot be read")

    states = [Broken("drive@1", "drive", spans_ns=[(0, 1000)], refused="it is broken")]
    request = CheckRequest(
        run=tmp_path / "run", out=tmp_path / "out", command=[], in_process="a.py:f", models=("drive",), jobs=2
    )
    with pytest.raises(errors.TortureError, match="cannot be read"):
        check(FakeRecording(list(states)), request, in_process(function), "in process", lambda *_: None)
