"""Threads that check states, each with a worker of its own, which stays for all of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from outlast.torture.trial import Trial, Trials

T = TypeVar("T")
R = TypeVar("R")

LOOK_S = 0.2
"""Between two looks at signals while nothing ends."""


class _NoMore:
    """There are no more items."""


_NO_MORE = _NoMore()


def _swapped(do: Callable[[Trial, T], R], item: T, trial: Trial) -> R:
    return do(trial, item)


class Crew:
    """Hands out work as workers become free; to be used in `with`."""

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
        # What a worker could not put away afterwards; an error that ends everything goes first.
        while error is None and not self._done.empty():
            if (left := self._done.get()[1]) is not None:
                raise left

    def _work(self) -> None:
        try:
            with self._trials() as trial:
                # A name space of mounts that is made while another worker has something mounted would hold on to it.
                self._ready.wait()
                while (do := self._todo.get()) is not None:
                    try:
                        self._done.put((do(trial), None))
                    except Exception as error:
                        self._done.put((None, error))
        except threading.BrokenBarrierError:
            pass  # another worker could not begin, and says why
        except Exception as error:
            # There is no worker: whoever waits for an answer is told why.
            self._done.put((None, error))
            self._ready.abort()

    def each(
        self, items: Iterable[T], do: Callable[[Trial, T], R], go_on: Callable[[], bool] = lambda: True
    ) -> Iterator[R]:
        """What `do` gives of each item, as it comes; an error ends it. No new item is begun once `go_on` says no."""
        waiting, begun, is_over, is_stopped = iter(items), 0, False, False
        while True:
            if not is_stopped and not go_on():
                is_over = is_stopped = True
                begun -= self._withdraw()
            # One item waits beside each that is under way, so that no worker does.
            while not is_over and begun < 2 * len(self._threads):
                item = next(waiting, _NO_MORE)
                if isinstance(item, _NoMore):
                    is_over = True
                    break
                self._todo.put(partial(_swapped, do, item))
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
        """Takes back what nobody has begun, and says how much that was."""
        count = 0
        try:
            while True:
                self._todo.get_nowait()
                count += 1
        except queue.Empty:
            return count
