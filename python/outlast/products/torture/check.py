"""Checks of the states of a recording: with nothing lost, then as planned, then smaller versions of bad states."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from outlast import interrupts
from outlast.errors import TortureError
from outlast.products.torture import probability, twice
from outlast.products.torture.check_request import TWICE, CheckRequest
from outlast.products.torture.crash import Plan, Recording, State
from outlast.products.torture.result import Failure, Result, failures_of
from outlast.products.torture.results import Journal, Verdict, group_of
from outlast.products.torture.shrink import ddmin
from outlast.products.torture.trial import Subject, Trial, Trials, as_shrink, subject_of
from outlast.products.torture.workers import TrialWorkers

MOST_SHRUNK = 5
"""Limit of different failures that are shrunk."""
MOST_CHECKS = 200
"""Limit of checks to shrink one bad state."""
SHRINKING = 0.25
"""Share of the budget that may be spent in addition on shrinking bad states."""
ProgressCallback = Callable[[str, int, int, int], None]
"""Callback for progress: phase, states done, states to do, bad states."""


class FirstStateBad(TortureError):  # noqa: N818 - what is wrong is the check
    """The check fails although nothing is lost."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("the check fails even without a loss of power: is it correct? (--force continues)")
        self.verdict = verdict


class Checking:
    """A check of a recording, from its first state to its result."""

    def __init__(
        self,
        recording: Recording,
        plan: Plan,
        request: CheckRequest,
        journal: Journal,
        workers: TrialWorkers,
        tell: ProgressCallback,
    ) -> None:
        self._recording, self._plan, self._request = recording, plan, request
        self._journal, self._workers, self._tell = journal, workers, tell
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
        """Checks the planned states that have no verdict in the journal yet."""
        self._check_baseline()
        wanted = self._request.states
        has_twice = TWICE in self._request.models
        # Cuts of recoveries are one model more.
        share = wanted if wanted is None or not has_twice else wanted - wanted // (len(self._request.planned) + 1)
        every = self._ordered_states()
        states = every[:share]
        verdicts = self._check(states)
        planned = _count([state.model for state in states])
        if has_twice:
            most = None if wanted is None or share is None else wanted - share
            verdicts += self._check_recoveries(states, most, planned)
        stopped = interrupts.signal_name() if interrupts.stop_requests() else "budget" if self._is_out_of_time else None
        failures = list(self._failures(verdicts))
        return Result(
            request=self._request,
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
        budget = self._request.budget_s
        if budget is not None and time.monotonic() - self._began > budget:
            self._is_out_of_time = True
        return not self._is_out_of_time and not interrupts.stop_requests()

    def _check_baseline(self) -> None:
        """Checks the state with nothing lost: a check that fails there is wrong, and is refused without `--force`."""
        state = self._recording.state(f"contract@{self._facts['window'][1]}")
        verdict = self._journal.known.get(state.id)
        if verdict is None:
            self._tell("the state with nothing lost", 0, 1, 0)
            subject = subject_of(state, self._recording, "first")
            verdict = next(self._workers.map_items([subject], _try))
            if _was_interrupted(verdict):
                return
            self._journal.add(verdict)
        if verdict.is_bad and not self._request.force:
            raise FirstStateBad(verdict)

    def _ordered_states(self) -> list[State]:
        """Planned states, one of each model in turn; those of a simulated device in the order of random instants."""
        states = [self._plan[index] for index in range(len(self._plan))]
        groups = _groups(states)
        for group, members in groups.items():
            if members[0].spans_ns:
                spans, drawn = [state.spans_ns for state in members], self._drawn.get(group)
                met = probability.order(spans, self._window, self._request.seed, group, drawn)
                groups[group] = [members[number] for number in met]
        return [state for turn in zip_longest(*groups.values()) for state in turn if state is not None]

    def _check(self, states: list[State]) -> list[Verdict]:
        known = self._journal.known
        missing = [subject_of(state, self._recording) for state in states if state.id not in known]
        self._bad = sum(known[state.id].is_bad for state in states if state.id in known)
        self._check_subjects(missing, "checking", len(states))
        return [known[state.id] for state in states if state.id in known]

    def _check_subjects(self, subjects: list[Subject], phase: str, total: int) -> None:
        done = total - len(subjects)
        self._tell(phase, done, total, self._bad)
        for verdict in self._workers.map_items(subjects, _try, self._go_on):
            if _was_interrupted(verdict):
                continue
            self._bad += self._journal.add(verdict).is_bad
            done += 1
            self._tell(phase, done, total, self._bad)

    def _check_recoveries(self, states: list[State], most: int | None, planned: dict[str, int]) -> list[Verdict]:
        known = self._journal.known
        good = [state for state in states if state.id in known and not known[state.id].is_bad]
        recoveries = twice.Recoveries(self._recording, self._journal.folder / TWICE, self._request)
        self._tell("recording recoveries", 0, 0, self._bad)
        subjects = recoveries.make(good, most, self._workers, self._go_on)
        planned[TWICE] = len(subjects)
        missing = [each for each in subjects if each.id not in known]
        self._check_subjects(missing, "power losses during recovery", len(subjects))
        return [known[each.id] for each in subjects if each.id in known]

    def _risks(self, states: list[State], verdicts: list[Verdict]) -> dict[str, probability.Risk]:
        by_id = {verdict.state: verdict.is_bad for verdict in verdicts}
        risks = {}
        for group, members in _groups(states).items():
            classes = [probability.Class(state.spans_ns, by_id.get(state.id)) for state in members if state.spans_ns]
            if not classes:
                continue
            risk = probability.risk(classes, self._window, self._request.seed, group, self._drawn.get(group))
            if risk is not None:
                risks[group] = risk
        return risks

    def _failures(self, verdicts: list[Verdict]) -> Iterator[Failure]:
        """The different failures, of which the first few are shrunk."""
        budget = self._request.budget_s
        until = None if budget is None else self._began + budget * (1 + SHRINKING)
        kinds = failures_of(verdicts)
        self._tell("reducing bad states", 0, len(kinds[:MOST_SHRUNK]), len(kinds))
        smaller: dict[str, Failure] = {}
        firsts = [alike for alike in kinds[:MOST_SHRUNK] if alike[0].lost and not interrupts.stop_requests()]
        for failure in self._workers.map_items(firsts, lambda trial, alike: self._shrink(trial, alike, until)):
            smaller[failure.states[0].state] = failure
            self._tell("reducing bad states", len(smaller), len(firsts), len(kinds))
        for alike in kinds:
            yield smaller.get(alike[0].state) or Failure(alike, alike[0], 0, not alike[0].lost)

    def _shrink(self, trial: Trial, alike: list[Verdict], until: float | None) -> Failure:
        """Finds the smallest state that fails in the same way; called by a worker."""
        worst = alike[0]
        whole = twice.subject(worst.state, self._recording, self._journal.folder / TWICE)
        pieces = whole.state.lost
        known, smallest, checks = self._journal.known, worst, 0

        def is_bad(lost: list[str]) -> bool | None:
            nonlocal checks, smallest
            if checks == MOST_CHECKS or interrupts.stop_requests() or (until is not None and time.monotonic() > until):
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

        # Smaller states have no torn units or other effects that only a simulated device leaves, so none may be bad.
        if is_bad(pieces):
            shrunk = ddmin(pieces, is_bad)
            return Failure(alike, smallest, checks, shrunk.minimal)
        return Failure(alike, worst, checks, False)


def _was_interrupted(verdict: Verdict) -> bool:
    """True if the signal that stopped this program ended the check, too.

    A check has a session of its own, but only from a moment after the fork: until then it gets the signals of this
    program's process group.
    """
    return bool(interrupts.stop_requests()) and verdict.exit == interrupts.exit_code()


def _try(trial: Trial, subject: Subject) -> Verdict:
    return trial(subject)


def _count(models: list[str]) -> dict[str, int]:
    return {model: models.count(model) for model in dict.fromkeys(models)}


def _groups(states: list[State]) -> dict[str, list[State]]:
    """States by model, with a fault by fault: the spans of each group add up to the window."""
    groups: dict[str, list[State]] = {}
    for state in states:
        groups.setdefault(group_of(state.id), []).append(state)
    return groups


def check(recording: Recording, request: CheckRequest, trials: Trials, backend: str, tell: ProgressCallback) -> Result:
    """Checks the states of a recording as requested, and keeps each verdict in the folder `request.out`."""
    facts = json.loads(recording.facts())
    journal = Journal(request.out, request.resume_key(facts, backend), fresh=request.fresh)
    tell("planning", 0, 0, 0)
    # Planning comes before anything is written: it refuses wrong settings, and a signal may end it without loss.
    interrupts.raise_on_signal()
    plan = recording.plan(request.spec(request.planned))
    interrupts.defer_signals()
    with TrialWorkers(trials, request.jobs) as workers, journal:
        return Checking(recording, plan, request, journal, workers, tell).run(backend)


def recheck(recording: Recording, request: CheckRequest, trials: Trials, ids: list[str]) -> Iterator[Verdict]:
    """Checks states by name; verdicts are not kept."""
    subjects = [twice.subject(each, recording, request.out / TWICE) for each in ids]
    with TrialWorkers(trials, min(request.jobs, len(ids))) as workers:
        verdicts = workers.map_items(subjects, _try, lambda: not interrupts.stop_requests())
        by_state = {verdict.state: verdict for verdict in verdicts}
    for subject in subjects:
        if subject.id in by_state:
            yield replace(by_state[subject.id], purpose="plan")
