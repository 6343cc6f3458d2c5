"""Running a search: points chosen a batch at a time, each by the figures of those before it.

The batches depend on the sweep's seed and on what its runs gave, and not on how many run at once or when each ends. So
the same search gives the same points anywhere, and one that was stopped repeats its choices from the records in its
folder before it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlast import points
from outlast.errors import OutlastError, ScenarioError
from outlast.points import Outcome, Workers
from outlast.sweeps import draw, figures
from outlast.sweeps.plan import Plan, Resolver, Run, axis_label
from outlast.sweeps.sampler import Choice, Sampler, quiet
from outlast.sweeps.spec import Spec
from outlast.sweeps.statistics import mean_of

Progress = Callable[[int, int], None]


@dataclass
class _Point:
    """A chosen point and its runs."""

    number: int
    choice: Choice
    runs: list[Run]
    refused: str = ""
    """Message of a point whose settings do not go together."""
    pruned: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Figures of the repeats that were made."""

    def mean(self, figure: str, confidence: float) -> float | None:
        """The mean of a figure over the repeats that have it."""
        known = [value for row in self.rows if (value := figures.number(row, figure)) is not None]
        return mean_of(known, confidence).mean


class _Crew(AbstractContextManager["_Crew"]):
    """Workers that are made when the first run needs them, and stay for all batches."""

    def __init__(self, make: Callable[[int], Workers], most: int) -> None:
        self._make, self._most = make, most
        self._stack = ExitStack()
        self._made: Workers | None = None

    def __call__(self, _: int) -> AbstractContextManager[Workers]:
        if self._made is None:
            self._made = self._stack.enter_context(self._make(self._most))
        return nullcontext(self._made)

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def search(
    spec: Spec,
    overrides: Sequence[tuple[str, str]],
    folder: Path,
    workers: Callable[[int], Workers],
    progress: Progress | None = None,
) -> tuple[Plan, Outcome]:
    """Runs a search, and gives its points and runs as a plan, with what came of them."""
    resolver, outcome, done = Resolver(spec, overrides), Outcome(), list[_Point]()
    wanted = spec.points or 0
    draw.check_count(spec, wanted)
    with quiet(), _Crew(workers, spec.batch * spec.repeats) as crew:
        sampler = Sampler(spec, folder)
        while len(done) < wanted:
            asked = (sampler.ask() for _ in range(min(spec.batch, wanted - len(done))))
            batch = [choice for choice in asked if choice is not None]
            if not batch:
                break
            chosen = _resolved(resolver, batch, len(done))
            if not done and all(point.refused for point in chosen):
                values = _values(spec, chosen[0].choice)
                raise ScenarioError(f"{spec.source}: point 0 ({values}): {chosen[0].refused}")
            _run(spec, chosen, folder / "points", crew, outcome, _told(spec, done, progress))
            if not done:
                _check_aims(spec, chosen)
            for point in chosen:
                _tell(spec, sampler, point)
            done += chosen
    runs = [run for point in done for run in point.runs]
    found = {
        "optuna": sampler.version,
        "pruned": [point.number for point in done if point.pruned],
        "refused": [{"point": point.number, "error": point.refused} for point in done if point.refused],
    }
    return Plan(spec, [point.choice.place for point in done], runs, found), outcome


def _resolved(resolver: Resolver, batch: list[Choice], first: int) -> list[_Point]:
    answers = list(resolver.runs([choice.place for choice in batch], first))
    if len(answers) < len(batch):  # what they all have in common is wrong
        answers *= len(batch)
    found = []
    for number, (choice, answer) in enumerate(zip(batch, answers, strict=True), start=first):
        if isinstance(answer, OutlastError):
            found.append(_Point(number, choice, [], refused=" ".join(str(answer).split())))
        else:
            found.append(_Point(number, choice, answer))
    return found


def _run(
    spec: Spec, chosen: list[_Point], folder: Path, crew: _Crew, outcome: Outcome, progress: Progress | None
) -> None:
    """Runs the repeats of a batch: all at once, or, where points may be given up, repeat by repeat."""
    rounds = [[repeat] for repeat in range(spec.repeats)] if spec.prune else [list(range(spec.repeats))]
    made = 0
    for repeats in rounds:
        alive = [point for point in chosen if not point.pruned and not point.refused]
        runs = [point.runs[repeat] for point in alive for repeat in repeats]
        ahead = made

        def tell(done: int, _: int, ahead: int = ahead) -> None:
            if progress is not None:
                progress(ahead + done, 0)

        jobs = [run.job for run in runs]
        gave = points.run_all(jobs, folder, crew, retries=spec.retries, progress=tell, keep=figures.of_run)
        outcome.records |= gave.records
        outcome.failures |= gave.failures
        made += len(runs)
        for point in alive:
            for repeat in repeats:
                if (row := gave.records.get(point.runs[repeat].job.key)) is not None:
                    point.rows.append(row)
        if spec.prune and repeats[-1] + 1 < spec.repeats:
            for point in alive:
                _give_up(spec, point, repeats[-1])


def _give_up(spec: Spec, point: _Point, repeat: int) -> None:
    """Asks whether a point is worth another repeat; of runs that are not steady, nothing is concluded."""
    if any(row.get("steady_state.measured.reached") is False for row in point.rows):
        return
    mean = point.mean(spec.aims[0][0], spec.confidence)
    if mean is not None and point.choice.report(mean, repeat):
        point.pruned, point.runs = True, point.runs[: repeat + 1]


def _check_aims(spec: Spec, chosen: list[_Point]) -> None:
    """Refuses a search for a figure that no run of its first batch has."""
    rows = [row for point in chosen for row in point.rows]
    for name, _ in spec.aims:
        if rows and (why := figures.why_absent(name, rows)) is not None:
            raise ScenarioError(f"{spec.source}: aim = {name}: no run of the first points has it: {why}")


def _tell(spec: Spec, sampler: Sampler, point: _Point) -> None:
    notes: dict[str, Any] = {"point": point.number, "values": _values(spec, point.choice)}
    notes |= {"refused": point.refused} if point.refused else {}
    known = {name: point.mean(name, spec.confidence) for name in spec.figures}
    point.choice.note(notes | {name: mean for name, mean in known.items() if mean is not None})
    if point.pruned or point.refused:
        sampler.tell_pruned(point.choice)
        return
    means = [point.mean(name, spec.confidence) for name, _ in spec.aims]
    whole = [mean for mean in means if mean is not None]
    sampler.tell(point.choice, whole if len(whole) == len(means) else None)


def _values(spec: Spec, choice: Choice) -> str:
    pairs = zip(spec.axes, choice.place, strict=True)
    return ", ".join(f"{axis.name} = {axis_label(axis, value)}" for axis, value in pairs)


def _told(spec: Spec, done: list[_Point], progress: Progress | None) -> Progress | None:
    """Progress of a batch as that of the search; points given up or refused count as done."""
    if progress is None:
        return None
    before, whole = len(done) * spec.repeats, (spec.points or 0) * spec.repeats
    return lambda made, _: progress(min(before + made, whole), whole)
