"""The fit: stage after stage in the order in which numbers can be told, then all of them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from outlast.products.fit.choices import EXPLAINS, HIGH_MARK, PACINGS, POLICIES, Choice, choose
from outlast.products.fit.intervals import Interval, leave_out, profile, scale_of
from outlast.products.fit.machine import Machine
from outlast.products.fit.measured import Measured
from outlast.products.fit.observe import Observation, Simulator, observations
from outlast.products.fit.parameters import BY_NAME, PARAMETERS, STAGES, Stage, Theta, known_numbers, stage_named
from outlast.products.fit.runs import Runs
from outlast.products.fit.solve import Model, Problem, Solution, Surrogate, Vector, solve

TOGETHER_BEFORE = "suspend"
"""The stages from here on hold the other numbers: latencies of a mix are explained less well than rates."""
LISTS: dict[str, Sequence[str]] = {"policy": POLICIES, "pacing": list(PACINGS)}
"""Stages that compare a list."""
LINK_BOUND = 0.95
"""Reason of the link's rate: faster sequential writes tell the link rather than tPROG."""
SUSPENDS_ABOVE = 4.6
"""Two numbers more must explain so much more: the 90th percentile of the chi-squared distribution with two degrees."""
MORE_THAN_FULL = 1.005
"""The least of effective flash over what is filled."""


@dataclass
class Found:
    """A number that was fitted."""

    name: str
    stage: str
    value: float
    interval: Interval
    figures: int
    """Number of figures that its stage used."""


@dataclass
class Fit:
    """Outcome of a fit."""

    measured: Measured
    machine: Machine
    theta: Theta
    found: dict[str, Found] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    """Reasons why stages found nothing, by their names."""
    seen: list[Observation] = field(default_factory=list)
    """All figures, those that were only predicted included."""
    simulated: Vector = field(default_factory=lambda: np.zeros(0))
    """Logarithms of what the fitted drive gives for them; NaN where it cannot say."""
    left_out: dict[str, float] = field(default_factory=dict)
    """Error by row and figure: the share by which it is missed when its row is left out."""
    choices: dict[str, Choice] = field(default_factory=dict)
    """Compared alternatives, by stage."""
    scale: float = 1.0
    """Factor of variances, since the drive is missed by more than noise."""
    runs: int = 0


def fit(measured: Measured, runs: Runs) -> Fit:
    """Fits a drive to what was measured."""
    return _Fitting(measured, runs).all()


class _Fitting:
    def __init__(self, measured: Measured, runs: Runs) -> None:
        self.machine = Machine(measured)
        self.runs = runs
        self.simulator = Simulator(self.machine, runs)
        self.seen = observations(measured.rows)
        self.fit = Fit(measured, self.machine, self._start(measured), seen=self.seen)
        self.fills = [each.row.load.user_bytes or measured.capacity for each in self.seen]

    def _start(self, measured: Measured) -> Theta:
        theta: Theta = {each.name: each.start for each in PARAMETERS}
        theta |= {"effective": 1.07 * measured.capacity, "policy": "greedy", "pacing": "smooth"}
        theta["suspends"] = False
        return theta | known_numbers(measured.known, self.machine.shape.channels)

    def bounds(self, names: Sequence[str]) -> tuple[Vector, Vector]:
        """The logarithms between which numbers are looked for."""
        low, high = [], []
        for name in names:
            least, most = BY_NAME[name].low, BY_NAME[name].high
            if name == "effective":
                least, most = MORE_THAN_FULL * max(self.fills), 8 * max(self.fills)
            low.append(math.log(least))
            high.append(math.log(most))
        return np.array(low), np.array(high)

    def theta(self, names: Sequence[str], x: Vector) -> Theta:
        """The numbers with some of them replaced."""
        return self.fit.theta | {name: math.exp(value) for name, value in zip(names, x, strict=True)}

    def all(self) -> Fit:
        """Stage after stage, then together."""
        together = None
        for stage in STAGES:
            self.runs.phase = stage.title
            if stage.name == TOGETHER_BEFORE:
                together = self._together()
            self._stage(stage)
        if self.fit.theta["pacing"] != "smooth":
            # Marks keep spare space free, and reads wait for another collection than the one they were fitted beside.
            together = self._together()
            self._suspension(stage_named("suspend"))
        if together is not None:
            self._intervals(*together)
        self.runs.phase = "predictions"
        simulated = self.simulator.simulate([self.fit.theta], self.seen)[0]
        self.fit.simulated = simulated
        self.fit.runs = self.runs.made
        return self.fit

    def _stage(self, stage: Stage) -> None:
        seen = [each for each in self.seen if each.stage == stage.name]
        names = self._finds(stage, seen)
        if stage.name in LISTS or stage.name == "suspend":
            (self._suspension(stage) if stage.name == "suspend" else self._choice(stage, seen))
            return
        if not names:
            return
        if stage.name == "program" and (why := self._bounded(seen)):
            self.fit.missing[stage.name] = why
            return
        if len(seen) < len(names):
            self.fit.missing[stage.name] = _too_few(len(seen), names[len(seen) :], stage.missing)
            names = names[: len(seen)]
        if not names:
            return
        problem = self._problem(names, seen)
        start = np.array([math.log(self.fit.theta[name]) for name in names])
        solution = solve(problem, start)
        self.fit.theta = self.theta(names, solution.x)
        around = dict.fromkeys(names, Interval(None, None))
        if "dies" in names:
            self.fit.theta["dies"] = float(self.machine.dies(self.fit.theta["dies"]))
            around["dies"] = self._whole(problem, solution, names.index("dies"))
        for name in names:
            self.fit.found[name] = Found(name, stage.name, self.fit.theta[name], around[name], len(seen))
        if "program" in names:
            self.fit.missing.pop("program", None)

    def _finds(self, stage: Stage, seen: Sequence[Observation]) -> list[str]:
        """The numbers that a stage is to find, given what it has."""
        given = known_numbers(self.fit.measured.known, self.machine.shape.channels)
        names = [name for name in stage.finds if name in BY_NAME and name not in given]
        if stage.name == "waf":
            if not any(each.name == "waf" for each in seen):
                names.remove("metadata")
                if "program" not in self.fit.found and len(seen) > 1:
                    names.append("program")
            elif any(each.name == "iops" for each in seen) and "program" not in self.fit.found:
                names.append("program")
        return names

    def _bounded(self, seen: Sequence[Observation]) -> str:
        """Reason why sequential writes say nothing of programs; "" if they do."""
        most = max((each.figure.value * each.row.load.block for each in seen), default=0.0)
        if most < LINK_BOUND * self.fit.theta["link"]:
            return ""
        return f"the link limits sequential writes; measure {stage_named('waf').missing}"

    def _whole(self, problem: Problem, solution: Solution, index: int) -> Interval:
        """The interval of dies, which this stage alone tells; its ends are numbers that channels allow."""
        residuals = _residuals(problem, solution)
        scale = scale_of(solution.chi2, len(problem.observed), len(solution.x))
        found = profile(residuals, solution.x, index, problem.low, problem.high, scale)
        ends = (None if end is None else float(self.machine.dies(math.exp(end))) for end in (found.low, found.high))
        return Interval(*ends)

    def _problem(self, names: Sequence[str], seen: Sequence[Observation], *, near: bool = False) -> Problem:
        low, high = self.bounds(names)
        return Problem(
            observed=np.array([math.log(each.figure.value) for each in seen]),
            sigma=np.array([each.sigma for each in seen]),
            low=low,
            high=high,
            closed=lambda x: self.simulator.closed(self.theta(names, x), seen),
            simulate=lambda x: self.simulator.simulate([self.theta(names, x)], seen)[0],
            near=near,
        )

    def _choice(self, stage: Stage, seen: Sequence[Observation]) -> None:
        """Takes what misses its figures least."""
        if f"device.ftl.gc.{stage.name}" in self.fit.measured.known:
            return
        if not seen:
            self.fit.missing[stage.name] = f"not measured; measure {stage.missing}"
            return
        free = self.machine.shape.blocks * (1 - self.fit.measured.capacity / self.fit.theta["effective"])
        # Marks need spare space; a drive with so little of it has none.
        few = stage.name == "pacing" and free < 2 * HIGH_MARK
        names = [name for name in LISTS[stage.name] if not (few and PACINGS[name].kept_free)]
        runs = self.simulator.simulate([self.fit.theta | {stage.name: name} for name in names], seen)
        observed = np.array([math.log(each.figure.value) for each in seen])
        misses = {
            name: float(np.sqrt(np.nanmean((run - observed) ** 2))) for name, run in zip(names, runs, strict=True)
        }
        found = choose(misses)
        if min(misses.values()) > EXPLAINS:
            self.fit.missing[stage.name] = (
                f"none of the choices explains its figures; their errors are {found.words()}. If the drive collects in "
                "bursts, measure random writes over about thirty of them"
            )
            return
        self.fit.choices[stage.name] = found
        self.fit.theta[stage.name] = found.taken

    def _suspension(self, stage: Stage) -> None:
        """Settings of reads that suspend programs; the other numbers stay as they are."""
        if any(name.startswith("device.timing.suspend") for name in self.fit.measured.known):
            return
        seen = [each for each in self.seen if each.stage == stage.name]
        given = known_numbers(self.fit.measured.known, self.machine.shape.channels)
        if seen and "program" not in {*self.fit.found, *given}:
            self.fit.missing[stage.name] = f"tPROG is not known; measure {stage_named('program').missing}"
            return
        if len(seen) < len(stage.finds):
            self.fit.missing[stage.name] = _too_few(len(seen), stage.finds[len(seen) :], stage.missing)
            return
        before = self.fit.theta | {"suspends": False}
        self.fit.theta = before
        without = self._problem((), seen)
        waits = float(np.sum(((without.simulate(np.zeros(0)) - without.observed) / without.sigma) ** 2))
        self.fit.theta = before | {"suspends": True}
        problem = self._problem(stage.finds, seen)
        solution = solve(problem, np.array([math.log(before[name]) for name in stage.finds]))
        if waits <= solution.chi2 + SUSPENDS_ABOVE:
            self.fit.theta = before
            for name in stage.finds:
                self.fit.found.pop(name, None)
            self.fit.missing[stage.name] = "reads wait for whole programs: the drive does not suspend them"
            return
        self.fit.theta = self.theta(stage.finds, solution.x)
        scale = scale_of(solution.chi2, len(seen), len(stage.finds))
        for index, name in enumerate(stage.finds):
            interval = profile(_residuals(problem, solution), solution.x, index, problem.low, problem.high, scale)
            self.fit.found[name] = Found(name, stage.name, self.fit.theta[name], _exp(interval), len(seen))

    def _together(self) -> tuple[list[str], list[Observation], Problem, Solution] | None:
        """All numbers at once, with all figures: what intervals are taken from; `None` where nothing was found."""
        names = [name for name, found in self.fit.found.items() if name != "dies" and found.stage != "suspend"]
        stages = {self.fit.found[name].stage for name in names} | ({"dies"} & {*self.fit.found})
        seen = [each for each in self.seen if each.stage in stages]
        if not names:
            return None
        problem = self._problem(names, seen, near=True)
        start = np.array([math.log(self.fit.theta[name]) for name in names])
        solution = solve(problem, start)
        self.fit.theta = self.theta(names, solution.x)
        return names, seen, problem, solution

    def _intervals(
        self, names: Sequence[str], seen: Sequence[Observation], problem: Problem, solution: Solution
    ) -> None:
        """Ranges in which each number can move, and what is missed where a row is left out."""
        residuals = _residuals(problem, solution)
        self.fit.scale = scale_of(solution.chi2, len(seen), len(names))
        for index, name in enumerate(names):
            interval = profile(residuals, solution.x, index, problem.low, problem.high, self.fit.scale)
            self.fit.found[name].value = self.fit.theta[name]
            self.fit.found[name].interval = _exp(interval)
        self._leave_out(residuals, solution.x, seen, problem, solution.surrogate)

    def _leave_out(
        self, residuals: Model, best: Vector, seen: Sequence[Observation], problem: Problem, surrogate: Surrogate
    ) -> None:
        rows = list({each.row.place: None for each in seen})
        groups = [[index for index, each in enumerate(seen) if each.row.place == place] for place in rows]
        for group, x in zip(groups, leave_out(residuals, best, groups, problem.low, problem.high), strict=True):
            missed = surrogate(x) - problem.observed
            for index in group:
                self.fit.left_out[f"{seen[index].row.place} {seen[index].name}"] = math.expm1(float(missed[index]))


def _residuals(problem: Problem, solution: Solution) -> Model:
    return lambda x: (solution.surrogate(x) - problem.observed) / problem.sigma


def _exp(interval: Interval) -> Interval:
    return Interval(*(None if end is None else math.exp(end) for end in (interval.low, interval.high)))


def _too_few(figures: int, without: Sequence[str], remedy: str) -> str:
    if not figures:
        return f"not measured; measure {remedy}"
    titles = " and ".join(BY_NAME[name].title for name in without)
    return f"{titles}: too few figures ({figures}); measure {remedy}"
