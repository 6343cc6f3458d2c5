"""A progress bar with rate and time left, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from outlast import log

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: Between two lines where there is no terminal.
SECONDS_BETWEEN_LINES = 30.0


class Bar:
    """A bar on a terminal, records in a log, else a line now and then: a job of hours shows that it lives."""

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown and sys.stderr.isatty() and not log.is_on()
        self._lines = (shown and not self._shown) or log.is_on()
        self._said = time.monotonic()
        self._bar: Progress | None = None
        self._phase: str | None = None
        self._task: TaskID | None = None
        self._start = (0.0, 0)

    def _open(self) -> None:
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._end_phase()

    def _end_phase(self) -> None:
        if self._phase is not None:
            log.record("phase ends", phase=self._phase, seconds=round(time.monotonic() - self._start[0], 3))

    def _rate(self, phase: str, count: int) -> float:
        """Counted items a second since this phase began; 0 before any time has passed."""
        now = time.monotonic()
        if phase != self._phase:
            if self._bar is not None and self._task is not None:
                self._bar.remove_task(self._task)
            self._end_phase()
            log.record("phase begins", phase=phase)
            self._phase, self._task, self._start = phase, None, (now, count)
        elapsed, done = now - self._start[0], count - self._start[1]
        return done / elapsed if elapsed > 0 else 0.0

    def _draw(self, phase: str, fraction: float | None, beside: str) -> None:
        if self._bar is None:
            return
        if self._task is None:
            self._task = self._bar.add_task(phase, total=None, rate="")
        total, completed = (None, 0.0) if fraction is None else (1.0, fraction)
        self._bar.update(self._task, total=total, completed=completed, rate=beside)

    def _say(self, phase: str, fraction: float | None, beside: str, **facts: Any) -> None:
        """Says how far a phase is: in words, or by `facts` in the log."""
        now = time.monotonic()
        is_due = now - self._said >= SECONDS_BETWEEN_LINES
        if not self._lines or not (is_due or log.is_detailed()):
            return
        self._said = now if is_due else self._said
        done = "" if fraction is None else f" {fraction:.0%},"
        level = log.INFO if is_due else log.DEBUG
        log.say(f"{phase}:{done} {beside}", "progress", level=level, phase=phase, fraction=fraction, **facts)


class RunProgress(Bar):
    """Shows the phases of a run. It is the progress function of `outlast.run`."""

    def __enter__(self) -> RunProgress | None:
        if self._shown:
            self._open()
        return self if self._shown or self._lines else None

    def __call__(self, phase: str, fraction: float | None, requests: int, simulated_s: float) -> bool:
        per_s = self._rate(phase, requests)
        rate = f"{per_s / 1e6:5.2f} M requests/s" if per_s > 0 else ""
        self._draw(phase, fraction, rate + (f"  {simulated_s:,.1f} s simulated" if simulated_s > 0 else ""))
        at = f", {simulated_s:,.1f} s simulated" if simulated_s > 0 else ""
        words = f"{requests / 1e6:,.1f} M requests{at}"
        self._say(phase, fraction, words, requests=requests, simulated_s=simulated_s)
        return True

    def count(self, phase: str, done: int, wanted: int) -> None:
        """Shows runs of a phase that are done, where a phase is made of many."""
        self._rate(phase, done)
        self._draw(phase, done / max(1, wanted), f"{done} of {wanted} runs")
        self._say(phase, done / max(1, wanted), f"{done} of {wanted} runs", done=done, wanted=wanted)


class SweepProgress(Bar):
    """Shows how many runs of a sweep are done. It is the progress function of `outlast.sweep`."""

    def __enter__(self) -> SweepProgress | None:
        if self._shown:
            self._open()
        return self if self._shown or self._lines else None

    def __call__(self, done: int, wanted: int) -> None:
        self._rate("runs", done)
        self._draw("runs", done / wanted if wanted else None, f"{done} of {wanted}")
        self._say("runs", done / wanted if wanted else None, f"{done} of {wanted}", done=done, wanted=wanted)


class StatesProgress(Bar):
    """Shows how many states of a recording are checked, and how many of them are bad."""

    def __enter__(self) -> Self:
        if self._shown:
            self._open()
        return self

    def __call__(self, phase: str, done: int, total: int, bad: int) -> None:
        per_s = self._rate(phase, done)
        rate = f"{per_s:,.1f} states/s" if per_s > 0 else ""
        found = f"{done} of {total}{f', {bad} bad' if bad else ''}" if total else ""
        fraction = done / total if total else None
        self._draw(phase, fraction, f"{found}  {rate}")
        self._say(phase, fraction, f"{found} {rate}".strip(), done=done, wanted=total, bad=bad)


class StagesProgress(Bar):
    """Shows the stage of a study and how much of it is done. It is the progress function of a fleet."""

    def __enter__(self) -> StagesProgress | None:
        if self._shown:
            self._open()
        return self if self._shown or self._lines else None

    def __call__(self, stage: str, count: int) -> None:
        self._rate(stage, count)
        shown = f"{count}" if count else ""
        self._draw(stage, None, shown)
        self._say(stage, None, shown, done=count)
