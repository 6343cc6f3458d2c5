"""A progress bar with rate and time left, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: Between two lines where there is no terminal.
SECONDS_BETWEEN_LINES = 30.0


class RunProgress:
    """Shows the phases of a run. It is the progress function of `outlast.run`."""

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown and sys.stderr.isatty()
        #: Where there is no terminal, a line now and then: a job of hours shows that it lives.
        self._lines = shown and not self._shown
        self._said = time.monotonic()
        self._bar: Progress | None = None
        self._phase: str | None = None
        self._task: TaskID | None = None
        self._start = (0.0, 0)

    def __enter__(self) -> RunProgress | None:
        if not self._shown:
            return self if self._lines else None
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, phase: str, fraction: float | None, requests: int, simulated_s: float) -> bool:
        if self._lines:
            self._say(phase, fraction, requests, simulated_s)
        if self._bar is None:
            return True
        now = time.monotonic()
        if phase != self._phase or self._task is None:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._phase, self._start = phase, (now, requests)
            self._task = self._bar.add_task(phase, total=None, rate="")
        elapsed, done = now - self._start[0], requests - self._start[1]
        rate = f"{done / elapsed / 1e6:5.2f} M requests/s" if elapsed > 0 and done > 0 else ""
        if simulated_s > 0:
            rate += f"  {simulated_s:,.1f} s simulated"
        total, completed = (None, 0.0) if fraction is None else (1.0, fraction)
        self._bar.update(self._task, total=total, completed=completed, rate=rate)
        return True

    def _say(self, phase: str, fraction: float | None, requests: int, simulated_s: float) -> None:
        now = time.monotonic()
        if now - self._said < SECONDS_BETWEEN_LINES:
            return
        self._said = now
        done = "" if fraction is None else f" {fraction:.0%}"
        at = f", {simulated_s:,.1f} s simulated" if simulated_s > 0 else ""
        print(f"{phase}:{done}, {requests / 1e6:,.1f} M requests{at}", file=sys.stderr, flush=True)
