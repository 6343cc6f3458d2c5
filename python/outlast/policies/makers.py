"""Makers of deciders: the simulator asks them for a decider of each part, made of a user's function or class."""

from __future__ import annotations

import copy
import inspect
import operator
from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast.policies.questions import QUESTIONS, LostRows
from outlast.policies.view import View
from outlast.policies.writes import MOST_HINTS, Writes


class Maker:
    """Makes a decider for each flash core of each drive, for each array, or for the writes of a run."""

    def __init__(self, decision: str, policy: Callable[..., Any], name: str | None = None) -> None:
        self.decision, self.policy = decision, policy
        self.name = name or _name_of(policy)
        """`FILE:NAME`; of code that stands in no file, `interactive:NAME`."""

    def begin(self) -> Decider | Placer | Orders | Answers:
        """One for another flash core, another array, or another run."""
        decides = self.policy() if isinstance(self.policy, type) else self.policy
        if self.decision == "placement":
            return Placer(decides)
        if self.decision == "repair_order":
            return Orders(decides)
        return Answers(self.decision, decides) if self.decision in QUESTIONS else Decider(decides)


class Decider:
    """Decides for one flash core."""

    def __init__(self, choose: Callable[[View], Any]) -> None:
        if not callable(choose):
            raise TypeError(f"{choose!r} cannot be called with a view")
        self._choose = choose
        self._view: View | None = None

    @property
    def sees_cells(self) -> bool:
        """True if the view of this policy includes the history of the cells."""
        return bool(getattr(self._choose, "sees_cells", False))

    def bind(self, columns: tuple[Any, ...], lots: Any, cells: tuple[Any, ...] | None) -> None:
        """Makes these arrays the columns of the view."""
        self._view = View(_read_only(columns), lots, None if cells is None else _read_only(cells))

    def decide(self, clock: int, units: int) -> int | None:
        """The superblock that is taken, if one is."""
        view = self._view
        assert view is not None, "the arrays come before the first question"
        view.clock, view.units = clock, units
        # That u = 0 makes a score infinite is what its formula means.
        with np.errstate(divide="ignore", invalid="ignore"):
            choice = self._choose(view)
        if choice is None:
            return None
        try:
            if isinstance(choice, (bool, np.bool_)):
                raise TypeError
            number = operator.index(choice)
        except TypeError:
            raise TypeError(f"returned {choice!r}: must be the number of a superblock or None") from None
        if not 0 <= number < len(view):
            raise ValueError(f"returned superblock {number}, and there are {len(view)}")
        return number

    def copy(self) -> Decider:
        """One that goes on from the same state, for a drive that is forked."""
        return Decider(copy.deepcopy(self._choose))


def _read_only(columns: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """The same columns, in which a policy cannot change what it sees."""
    views = tuple(column.view() for column in columns)
    for view in views:
        view.flags.writeable = False
    return views


class Placer:
    """Gives the writes of a run their stream hints."""

    def __init__(self, place: Callable[[Writes], Any]) -> None:
        if not callable(place):
            raise TypeError(f"{place!r} cannot be called with writes")
        self._place = place

    def place(self, *columns: NDArray[Any]) -> NDArray[np.uint16]:
        """A hint for each write."""
        writes = Writes(*columns)
        hints = np.asarray(self._place(writes))
        if hints.shape not in ((), (len(writes),)):
            raise ValueError(f"returned {hints.size} hints for {len(writes)} writes")
        if not (np.issubdtype(hints.dtype, np.integer) or np.issubdtype(hints.dtype, np.bool_)):
            raise TypeError(f"returned {hints.dtype}: hints are whole numbers")
        if hints.size and not (hints.min() >= 0 and hints.max() < MOST_HINTS):
            raise ValueError(f"returned hints from {hints.min()} to {hints.max()}: must be 0 to {MOST_HINTS - 1}")
        return np.ascontiguousarray(np.broadcast_to(hints, len(writes)), dtype=np.uint16)


class Answers:
    """Answers questions of a few values."""

    def __init__(self, decision: str, decide: Callable[[Any], Any]) -> None:
        if not callable(decide):
            raise TypeError(f"{decide!r} cannot be called with a question")
        self._decision, self._decide = decision, decide
        self._question, self._answered = QUESTIONS[decision]

    def answer(self, **values: Any) -> Any:
        """The answer to the question that has these values."""
        # What is a word of the language has a name of its own.
        question = self._question(**{f"{name}_" if iskeyword(name) else name: value for name, value in values.items()})
        answer = self._decide(question)
        return None if answer is None else self._answered(answer)

    def copy(self) -> Answers:
        """One that goes on from the same state."""
        return Answers(self._decision, copy.deepcopy(self._decide))


class Orders:
    """Gives rows that a member of an array has lost their scores."""

    def __init__(self, order: Callable[[LostRows], Any]) -> None:
        if not callable(order):
            raise TypeError(f"{order!r} cannot be called with rows")
        self._order = order

    def order(self, member: int, *columns: NDArray[Any]) -> NDArray[np.float64]:
        """A score for each row; all are equal where it says nothing."""
        rows = LostRows(member, *columns)
        returned = self._order(rows)
        scores = np.zeros(len(rows)) if returned is None else np.asarray(returned)
        if scores.shape != (len(rows),):
            raise ValueError(f"returned {scores.size} scores for {len(rows)} rows")
        if not (np.issubdtype(scores.dtype, np.number) or np.issubdtype(scores.dtype, np.bool_)):
            raise TypeError(f"returned {scores.dtype}: scores are numbers")
        return np.ascontiguousarray(scores, dtype=np.float64)

    def copy(self) -> Orders:
        """One that goes on from the same state."""
        return Orders(copy.deepcopy(self._order))


def _name_of(policy: Callable[..., Any]) -> str:
    called = getattr(policy, "__qualname__", type(policy).__qualname__)
    try:
        file = inspect.getsourcefile(policy)
    except (OSError, TypeError):  # of what was typed in, and of objects that are neither function nor class
        file = None
    return f"{file if file and not file.startswith('<') else 'interactive'}:{called}"
