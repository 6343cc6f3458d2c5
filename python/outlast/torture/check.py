"""Checks the states of a recording: that with nothing lost, then the plan, then smaller ones of what is bad."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from outlast import interrupts
from outlast.errors import TortureError
from outlast.torture import probability, twice
from outlast.torture.asked import TWICE, Asked
from outlast.torture.crash import Plan, Recording, State
from outlast.torture.crew import Crew
from outlast.torture.result import Failure, Result, failures_of
from outlast.torture.results import Journal, Verdict, group_of
from outlast.torture.shrink import ddmin
from outlast.torture.trial import Subject, Trial, Trials, as_shrink, subject_of

MOST_SHRUNK = 5
"""Failures that look different and are made smaller."""
MOST_CHECKS = 200
"""States that are checked to make one bad state smaller."""
SHRINKING = 0.25
"""Of the budget, so much again may be spent on making bad states smaller."""
Tell = Callable[[str, int, int, int], None]
"""Told of progress: phase, states done, states there are, bad ones."""


class FirstStateBad(TortureError):  # noqa: N818 - what is wrong is the check
    """The check fails although nothing is lost."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("the check fails even without a loss of power: is it correct? (--force continues)")
        self.verdict = verdict


class Checking:
    """One check from its first state to its result."""

    def __init__(
        self, recording: Recording, plan: Plan, asked: Asked, journal: Journal, crew: Crew, tell: Tell
    ) -> None:
        self._recording, self._plan, self._asked = recording, plan, asked
        self._journal, self._crew, self._tell = journal, crew, tell
        self._facts: dict[str, Any] = json.loads(recording.facts())
        first, last = self._facts["window_ns"]
        self._window: probability.Span = (first, last)
        plans: dict[str, dict[str, Any]] = json.loads(plan.facts())
        self._drawn = {group: draws for facts in plans.values() for group, draws in facts.pop("draws", {}).items()}
        self._planned = plans
        self._began = time.monotonic()
        self._bad = 0
        self._is_out_of_time = False

    def run(self, backend: str) -> Result:
        """Checks what there is to check and is not known yet."""
        self._first()
        wanted = self._asked.states
        has_twice = TWICE in self._asked.models
        # Cuts of recoveries are one model more.
        share = wanted if wanted is None or not has_twice else wanted - wanted // (len(self._asked.planned) + 1)
        every = self._arranged()
        states = every[:share]
        verdicts = self._check(states)
        planned = _count([state.model for state in states])
        if has_twice:
            most = None if wanted is None or share is None else wanted - share
            verdicts += self._twice(states, most, planned)
        stopped = interrupts.by() if interrupts.asked() else "budget" if self._is_out_of_time else None
        failures = list(self._failures(verdicts))
        return Result(
            asked=self._asked,
            facts=self._facts,
            timeline=json.loads(self._recording.timeline())["events"],
            backend=backend,
            model_of={group_of(state.id): state.model for state in every},
            planned=planned,
            plan=self._planned,
            verdicts=verdicts,
            failures=failures,
            risks=self._risks(every, verdicts),
            seconds=time.monotonic() - self._began,
            checked_now=self._journal.added,
            stopped=stopped,
        )

    def _go_on(self) -> bool:
        budget = self._asked.budget_s
        if budget is not None and time.monotonic() - self._began > budget:
            self._is_out_of_time = True
        return not self._is_out_of_time and not interrupts.asked()

    def _first(self) -> None:
        """Whether the check is right at all: it must not fail with everything there, at the end."""
        state = self._recording.state(f"contract@{self._facts['window'][1]}")
        verdict = self._journal.known.get(state.id)
        if verdict is None:
            self._tell("the state with nothing lost", 0, 1, 0)
            subject = subject_of(state, self._recording, "first")
            verdict = next(self._crew.each([subject], _try))
            if _is_of_signal(verdict):
                return
            self._journal.add(verdict)
        if verdict.is_bad and not self._asked.force:
            raise FirstStateBad(verdict)

    def _arranged(self) -> list[State]:
        """In turns a state of each model, those of a machine as random instants meet them."""
        states = [self._plan[index] for index in range(len(self._plan))]
        groups = _groups(states)
        for group, own in groups.items():
            if own[0].spans_ns:
                spans, drawn = [state.spans_ns for state in own], self._drawn.get(group)
                met = probability.order(spans, self._window, self._asked.seed, group, drawn)
                groups[group] = [own[number] for number in met]
        return [state for turn in zip_longest(*groups.values()) for state in turn if state is not None]

    def _check(self, states: list[State]) -> list[Verdict]:
        known = self._journal.known
        missing = [subject_of(state, self._recording) for state in states if state.id not in known]
        self._bad = sum(known[state.id].is_bad for state in states if state.id in known)
        self._each(missing, "checking", len(states))
        return [known[state.id] for state in states if state.id in known]

    def _each(self, subjects: list[Subject], phase: str, total: int) -> None:
        done = total - len(subjects)
        self._tell(phase, done, total, self._bad)
        for verdict in self._crew.each(subjects, _try, self._go_on):
            if _is_of_signal(verdict):
                continue
            self._bad += self._journal.add(verdict).is_bad
            done += 1
            self._tell(phase, done, total, self._bad)

    def _twice(self, states: list[State], most: int | None, planned: dict[str, int]) -> list[Verdict]:
        known = self._journal.known
        good = [state for state in states if state.id in known and not known[state.id].is_bad]
        recoveries = twice.Recoveries(self._recording, self._journal.folder / TWICE, self._asked)
        self._tell("recording recoveries", 0, 0, self._bad)
        subjects = recoveries.make(good, most, self._crew, self._go_on)
        planned[TWICE] = len(subjects)
        self._each([each for each in subjects if each.id not in known], "cut while they recover", len(subjects))
        return [known[each.id] for each in subjects if each.id in known]

    def _risks(self, states: list[State], verdicts: list[Verdict]) -> dict[str, probability.Risk]:
        by_id = {verdict.state: verdict.is_bad for verdict in verdicts}
        risks = {}
        for group, own in _groups(states).items():
            classes = [probability.Class(state.spans_ns, by_id.get(state.id)) for state in own if state.spans_ns]
            if not classes:
                continue
            risk = probability.risk(classes, self._window, self._asked.seed, group, self._drawn.get(group))
            if risk is not None:
                risks[group] = risk
        return risks

    def _failures(self, verdicts: list[Verdict]) -> Iterator[Failure]:
        """The failures that look different, the first of them made smaller."""
        budget = self._asked.budget_s
        until = None if budget is None else self._began + budget * (1 + SHRINKING)
        kinds = failures_of(verdicts)
        self._tell("making bad states smaller", 0, len(kinds[:MOST_SHRUNK]), len(kinds))
        smaller: dict[str, Failure] = {}
        firsts = [own for own in kinds[:MOST_SHRUNK] if own[0].lost and not interrupts.asked()]
        for failure in self._crew.each(firsts, lambda trial, own: self._smaller(trial, own, until)):
            smaller[failure.states[0].state] = failure
            self._tell("making bad states smaller", len(smaller), len(firsts), len(kinds))
        for own in kinds:
            yield smaller.get(own[0].state) or Failure(own, own[0], 0, not own[0].lost)

    def _smaller(self, trial: Trial, own: list[Verdict], until: float | None) -> Failure:
        """The smallest state that fails in the same way; called by a worker."""
        worst = own[0]
        whole = twice.subject(worst.state, self._recording, self._journal.folder / TWICE)
        pieces = whole.state.lost
        known, smallest, checks = self._journal.known, worst, 0

        def is_bad(lost: list[str]) -> bool | None:
            nonlocal checks, smallest
            if checks == MOST_CHECKS or interrupts.asked() or (until is not None and time.monotonic() > until):
                return None
            chosen = set(lost)
            subject = as_shrink(whole, [piece for piece in pieces if piece not in chosen])
            verdict = known.get(subject.id)
            if verdict is None:
                checks += 1
                verdict = self._journal.add(trial(subject))
            if same := (verdict.is_bad and verdict.failure[1:] == worst.failure[1:]):
                smallest = min(smallest, verdict, key=lambda each: each.lost)
            return same

        # What only a machine leaves, such as torn units, is in no smaller state: then there may be none that is bad.
        if is_bad(pieces):
            shrunk = ddmin(pieces, is_bad)
            return Failure(own, smallest, checks, shrunk.minimal)
        return Failure(own, worst, checks, False)


def _is_of_signal(verdict: Verdict) -> bool:
    """Whether the signal that stopped this program ended the check, too.

    A check has a session of its own, but only from a moment after it was forked: until then it is told what this
    program's group is told.
    """
    return bool(interrupts.asked()) and verdict.exit == interrupts.code()


def _try(trial: Trial, subject: Subject) -> Verdict:
    return trial(subject)


def _count(models: list[str]) -> dict[str, int]:
    return {model: models.count(model) for model in dict.fromkeys(models)}


def _groups(states: list[State]) -> dict[str, list[State]]:
    """The states of each model, of those with a fault by the fault: each such group shares out the time."""
    groups: dict[str, list[State]] = {}
    for state in states:
        groups.setdefault(group_of(state.id), []).append(state)
    return groups


def check(recording: Recording, asked: Asked, trials: Trials, backend: str, tell: Tell) -> Result:
    """Checks the states of a recording as asked, and keeps what becomes of each in the folder."""
    facts = json.loads(recording.facts())
    journal = Journal(asked.out, asked.agreement(facts, backend), fresh=asked.fresh)
    tell("planning", 0, 0, 0)
    # Before anything is written: it finds what cannot be, and a signal ends it, since nothing is lost.
    interrupts.raising()
    plan = recording.plan(asked.spec(asked.planned))
    interrupts.keep()
    with Crew(trials, asked.jobs) as crew, journal:
        return Checking(recording, plan, asked, journal, crew, tell).run(backend)


def again(recording: Recording, asked: Asked, trials: Trials, ids: list[str]) -> Iterator[Verdict]:
    """Checks states by name; nothing is kept."""
    subjects = [twice.subject(each, recording, asked.out / TWICE) for each in ids]
    with Crew(trials, min(asked.jobs, len(ids))) as crew:
        found = {verdict.state: verdict for verdict in crew.each(subjects, _try, lambda: not interrupts.asked())}
    for subject in subjects:
        if subject.id in found:
            yield replace(found[subject.id], purpose="plan")
