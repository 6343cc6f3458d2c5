"""The points of a search, as optuna's TPE chooses them (`outlast[search]`); the only file that knows optuna.

Its study is kept in a journal beside the sweep, which optuna and its dashboard read while the search runs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from outlast.errors import OutputError, ScenarioError
from outlast.report.sweep import scale
from outlast.sweeps.plan import axis_label
from outlast.sweeps.spec import Axis, Spec

JOURNAL = "optuna.journal"
"""File in a sweep's folder."""
MOST_DRAWS = 200
"""Draws in a row that may give points which were tried already."""
ORDERED_FROM = 3
"""Values from which their order is worth telling the sampler: two have none that it could use."""


def optuna(module: str = "optuna") -> Any:
    """A module of optuna, which is loaded only where a search begins."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ScenarioError('method = "tpe" needs optuna; install outlast[search]') from error


@contextmanager
def quiet() -> Iterator[None]:
    """Within it optuna logs warnings only: the sweep has a progress bar of its own."""
    logging = optuna().logging
    level = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(level)


class Choice:
    """One chosen point, and what is to be told of it."""

    def __init__(self, trial: Any, place: tuple[Any, ...]) -> None:
        self._trial = trial
        self.place = place
        """Value of every axis."""

    def report(self, value: float, repeat: int) -> bool:
        """Takes the mean of the aim over the repeats so far; true if the point is not worth another one."""
        self._trial.report(value, repeat)
        return bool(self._trial.should_prune())

    def note(self, notes: Mapping[str, Any]) -> None:
        """Notes what the dashboard shows beside the point."""
        for name, value in notes.items():
            self._trial.set_user_attr(name, value)


class Sampler:
    """A study of optuna over the axes of a sweep, with all its randomness from the sweep's seed."""

    def __init__(self, spec: Spec, folder: Path) -> None:
        self.version: str = optuna().__version__
        """Version of optuna, of which the points that it chooses depend."""
        self._axes = spec.axes
        digest = hashlib.sha256(f"outlast sweep search {spec.seed}".encode()).digest()
        seed = int.from_bytes(digest[:4], "big")
        self._study = optuna().create_study(
            study_name=spec.name,
            storage=_storage(folder),
            sampler=optuna("optuna.samplers").TPESampler(seed=seed, constant_liar=True),
            pruner=optuna("optuna.pruners").MedianPruner() if spec.prune else optuna("optuna.pruners").NopPruner(),
            directions=["maximize" if best == "highest" else "minimize" for _, best in spec.aims],
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna("optuna.exceptions").ExperimentalWarning)
            self._study.set_metric_names([name for name, _ in spec.aims])
        self._tried: set[str] = set()
        self._most = _count(spec.axes)

    def ask(self) -> Choice | None:
        """Chooses the next point, by all that was told; points under way count as bad, so that others are chosen.

        No point is chosen twice; `None` when there is no other, or none was found in many draws.
        """
        for _ in range(MOST_DRAWS):
            if self._most is not None and len(self._tried) >= self._most:
                break
            trial = self._study.ask()
            choice = Choice(trial, tuple(_value(trial, axis) for axis in self._axes))
            name = json.dumps(choice.place, default=str, sort_keys=True)
            if name not in self._tried:
                self._tried.add(name)
                return choice
            # A failed trial is none to the sampler, which draws anew.
            self._study.tell(trial, state=optuna("optuna.trial").TrialState.FAIL)
        return None

    def tell(self, choice: Choice, values: list[float] | None) -> None:
        """Takes the aims' means of a point; `None` of one whose runs failed or lack one of them."""
        state = None if values is not None else optuna("optuna.trial").TrialState.FAIL
        self._study.tell(choice._trial, values, state=state)

    def tell_pruned(self, choice: Choice) -> None:
        """Takes note of a point that was given up, or whose settings were refused: the sampler keeps away from it."""
        self._study.tell(choice._trial, state=optuna("optuna.trial").TrialState.PRUNED)


def _storage(folder: Path) -> Any:
    """An empty journal: a search that goes on repeats its choices, and its runs come from the folder."""
    file = folder / JOURNAL
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # With the lock that a killed search leaves.
        for old in (file, Path(f"{file}.lock")):
            old.unlink(missing_ok=True)
        journal = optuna("optuna.storages.journal")
        return optuna("optuna.storages").JournalStorage(journal.JournalFileBackend(str(file)))
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from error


def _value(trial: Any, axis: Axis) -> Any:
    """The value of an axis: a number of its range, or one of its values by their place."""
    if axis.values is not None:
        if _is_ordered(list(axis.values)):
            return axis.values[trial.suggest_int(axis.name, 0, len(axis.values) - 1)]
        # By their labels, which the dashboard shows; by number where two are alike.
        labels = [str(axis_label(axis, value)) for value in axis.values]
        labels = labels if len(set(labels)) == len(labels) else [str(index) for index in range(len(labels))]
        return axis.values[labels.index(trial.suggest_categorical(axis.name, labels))]
    assert axis.start is not None
    assert axis.stop is not None
    is_log = axis.scale == "log"
    if axis.whole:
        number = trial.suggest_int(axis.name, int(axis.start), int(axis.stop), log=is_log)
        return f"{number}{axis.unit}" if axis.unit else number
    # As many digits as other draws have.
    text = f"{trial.suggest_float(axis.name, float(axis.start), float(axis.stop), log=is_log):.12g}"
    return f"{text}{axis.unit}" if axis.unit else float(text)


def _count(axes: tuple[Axis, ...]) -> int | None:
    """Number of points that there are; `None` where an axis is continuous."""
    count = 1
    for axis in axes:
        if axis.values is not None:
            count *= len({json.dumps(value, default=str, sort_keys=True) for value in axis.values})
        elif axis.whole and axis.start is not None and axis.stop is not None:
            count *= int(axis.stop) - int(axis.start) + 1
        else:
            return None
    return count


def _is_ordered(values: list[Any]) -> bool:
    """True if values are rising numbers, of one unit if of any: then near ones are alike."""
    numbers, _ = scale(values)
    if len(values) < ORDERED_FROM or not all(isinstance(each, (int, float)) for each in numbers):
        return False
    return all(one < two for one, two in itertools.pairwise(numbers))
