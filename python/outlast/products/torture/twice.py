"""Power fails a second time, while a program recovers from the first: the recovery is recorded, and cut in its turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from outlast import _core, foreign, shapes
from outlast.errors import TortureError
from outlast.output import write_file
from outlast.products.torture.check_request import TWICE, CheckRequest
from outlast.products.torture.crash import Recording, State
from outlast.products.torture.trial import Subject, Trial, subject_of
from outlast.products.torture.workers import TrialWorkers

MOST_RECOVERIES = 20
"""Recoveries that are recorded if nobody says how many states to check."""
STATES_OF_EACH = 50
"""States of each of them, of those that the contract allows."""
_NAME = re.compile(r"twice/(\d+)@(.+)")


@dataclass(frozen=True)
class Recovery:
    """Recording of a program that recovers a state: DIR/twice/N, with N.json beside it."""

    number: int
    of: str
    """The state that it found."""
    mark: str | None
    marks: list[str]

    def subject(self, recording: Recording, state: State) -> Subject:
        """A state of the recovery; what the program was promised is what it was before."""
        name = f"{TWICE}/{self.number}@{state.id.partition('@')[2]}"
        return Subject(state, recording, name, self.mark, self.marks, TWICE)


class Recoveries:
    """Records recoveries from states that were found good."""

    def __init__(self, recording: Recording, folder: Path, request: CheckRequest) -> None:
        self._recording, self._folder, self._request = recording, folder, request

    def wanted(self, most: int | None) -> int:
        """Number of recoveries to record for so many states."""
        return MOST_RECOVERIES if most is None else max(1, -(-most // STATES_OF_EACH))

    def make(
        self, good: list[State], most: int | None, workers: TrialWorkers, go_on: Callable[[], bool]
    ) -> list[Subject]:
        """States of cuts within the recoveries: one of each recovery, then a second of each, and so on."""
        self._folder.mkdir(parents=True, exist_ok=True)
        spec = self._request.spec(["contract"])
        chosen = list(enumerate(good[: self.wanted(most)], 1))
        of_each: list[list[Subject]] = []
        for recovery in sorted(workers.map_items(chosen, self._record, go_on), key=lambda each: each.number):
            made: Recording = _core.Recording(str(self._folder / str(recovery.number)))
            plan = made.plan(spec)
            of_each.append([recovery.subject(made, plan[index]) for index in range(min(len(plan), STATES_OF_EACH))])
        rounds = (each for row in zip_longest(*of_each) for each in row if each is not None)
        return list(islice(rounds, most))

    def _record(self, trial: Trial, chosen: tuple[int, State]) -> Recovery:
        number, state = chosen
        file = self._folder / str(number)
        recovery = Recovery(number, state.id, state.mark, state.marks)
        about = {"of": state.id, "mark": state.mark, "marks": state.marks}
        if not _holds(file, about):
            trial(replace(subject_of(state, self._recording), record=str(file)))
            write_file(file.with_suffix(".json"), json.dumps(about, ensure_ascii=False) + "\n")
        return recovery


def _holds(file: Path, about: dict[str, Any]) -> bool:
    """True if the recovery was recorded by an earlier, stopped check."""
    try:
        return file.is_file() and bool(foreign.read(file.with_suffix(".json")) == about)
    except (OSError, ValueError):
        return False


def subject(name: str, recording: Recording, folder: Path) -> Subject:
    """The state of that id, of the recording or of one of the recoveries in the folder."""
    found = _NAME.fullmatch(name)
    if found is None:
        return subject_of(recording.state(name), recording)
    file = folder / found[1]
    try:
        about = foreign.read(file.with_suffix(".json"))
        shapes.check(file.with_suffix(".json"), about, "recovery")
    except (OSError, ValueError) as error:
        raise TortureError(f"{name}: there is no recording of that recovery in {folder}") from error
    made: Recording = _core.Recording(str(file))
    recovery = Recovery(int(found[1]), about["of"], about["mark"], about["marks"])
    return recovery.subject(made, made.state(f"contract@{found[2]}"))
