"""Threads that check states, each with a trial environment of its own that serves all its states."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from outlast.products.torture.trial import Trial, Trials

T = TypeVar("T")
R = TypeVar("R")

LOOK_S = 0.2
"""Interval between two checks for signals while no item ends."""


class _NoMore:
    """Sentinel of an exhausted iterator."""


_NO_MORE = _NoMore()


def _with_item(do: Callable[[Trial, T], R], item: T, trial: Trial) -> R:
    return do(trial, item)


class TrialWorkers:
    """Hands out items to threads as they become free; to be used in `with`."""

    def __init__(self, trials: Trials, jobs: int) -> None:
        self._trials = trials
        self._todo: queue.SimpleQueue[Callable[[Trial], Any] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._ready = threading.Barrier(jobs)
        self._threads = [threading.Thread(target=self._work, name=f"worker {number}") for number in range(jobs)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join()
        # Errors of a worker's own cleanup; an error that ended the block takes precedence.
        while error is None and not self._done.empty():
            if (failure := self._done.get()[1]) is not None:
                raise failure

    def _work(self) -> None:
        try:
            with self._trials() as trial:
                # All namespaces are made before the first mount: a later one would keep mounts of other workers busy.
                self._ready.wait()
                while (do := self._todo.get()) is not None:
                    try:
                        self._done.put((do(trial), None))
                    except Exception as error:
                        self._done.put((None, error))
        except threading.BrokenBarrierError:
            pass  # another worker could not start, and reports why
        except Exception as error:
            # The worker could not start or end: the consumer of results raises its error.
            self._done.put((None, error))
            self._ready.abort()

    def map_items(
        self, items: Iterable[T], do: Callable[[Trial, T], R], go_on: Callable[[], bool] = lambda: True
    ) -> Iterator[R]:
        """Yields the result of `do` for each item, in order of completion; an error ends it.

        No item is started after `go_on` has returned false.
        """
        waiting, begun, is_over, is_stopped = iter(items), 0, False, False
        while True:
            if not is_stopped and not go_on():
                is_over = is_stopped = True
                begun -= self._withdraw()
            # One more item is queued for each under way, so that no worker has to wait.
            while not is_over and begun < 2 * len(self._threads):
                item = next(waiting, _NO_MORE)
                if isinstance(item, _NoMore):
                    is_over = True
                    break
                self._todo.put(partial(_with_item, do, item))
                begun += 1
            if not begun:
                return
            try:
                answer, error = self._done.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if error is not None:
                self._withdraw()
                raise error
            begun -= 1
            yield answer

    def _withdraw(self) -> int:
        """Takes back the items that no worker has started; returns their number."""
        count = 0
        try:
            while True:
                self._todo.get_nowait()
                count += 1
        except queue.Empty:
            return count
