"""Ctrl-C and SIGTERM, from the first moment of the program to its last.

Until a command has something to lose, a signal ends the program at once, with one line and no traceback. During a run
a signal is only counted: the run reads the count about ten times a second, stops, and keeps its measurements. Commands
that clean up get one `KeyboardInterrupt`.

This module is imported before all others and therefore imports next to nothing.

During a run the handler never raises: it counts, and the run's progress function reads the count. Cleaning up is not
interrupted again. Results are written (`output`) before reports are drawn, and inputs that can be read only once
(pipes, standard input) are read in `inputs`.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

_QUIT, _COUNT, _RAISE = "quit", "count", "raise"


class _SignalHandling:
    """Reaction to a signal, the signals received, and the state of the disk that the last line reports."""

    def __init__(self) -> None:
        self.mode = _QUIT
        self.received: list[int] = []
        self.disk_state = "nothing was written"
        self.last_line: Callable[[str], str] = "error: {}\n".format


_handling = _SignalHandling()
"""Signals concern the process, so there is one of it."""


def install() -> None:
    """Takes over both signals; to be called before anything else. Signals that a shell set to be ignored count, too."""
    for number in _NAMES:
        signal.signal(number, _handle)


def _handle(number: int, _: FrameType | None) -> None:
    _handling.received.append(number)
    if _handling.mode == _QUIT:
        _quit(number)
    if _handling.mode == _RAISE:
        _handling.mode = _COUNT  # a second signal must not break into the cleaning up
        raise KeyboardInterrupt


def _quit(number: int) -> None:
    try:
        text = f"stopped by {_NAMES[signal.Signals(number)]}; {_handling.disk_state}"
        os.write(2, _handling.last_line(text).encode())
    except OSError:
        pass
    finally:
        os._exit(128 + number)


def write_last_line_by(last_line: Callable[[str], str]) -> None:
    """Has the error of a signal that ends the program at once written as this function says."""
    _handling.last_line = last_line


def defer_signals() -> None:
    """Counts signals from now on, without any other effect; see `stop_requests`."""
    _handling.mode = _COUNT


def raise_on_signal() -> None:
    """Makes the first signal from now on raise `KeyboardInterrupt`; later ones are only counted.

    Raises at once if a signal has been counted before.
    """
    _handling.mode = _RAISE
    if _handling.received:
        _handling.mode = _COUNT
        raise KeyboardInterrupt


class Deferred:
    """Context of a step that a signal must not break into, such as making a file and noting its name.

    A signal within the block has its effect right after it. With `raising=False` a `KeyboardInterrupt` still comes at
    once, and only the end of the program waits: for longer blocks that clean up after themselves.
    """

    def __init__(self, *, raising: bool = True) -> None:
        self._modes = (_QUIT, _RAISE) if raising else (_QUIT,)

    def __enter__(self) -> None:
        self._before = _handling.mode
        self._received = len(_handling.received)
        if self._before in self._modes:
            _handling.mode = _COUNT

    def __exit__(self, *_: object) -> None:
        if self._before not in self._modes:
            return
        _handling.mode = self._before
        if len(_handling.received) == self._received:
            return
        if self._before == _QUIT:
            _quit(_handling.received[self._received])
        _handling.mode = _COUNT
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignores signals from now on: the program has done everything and only has to end."""
    for number in _NAMES:
        signal.signal(number, signal.SIG_IGN)


def stop_requests() -> int:
    """Number of signals received."""
    return len(_handling.received)


def signal_name() -> str:
    """Name of the first signal received; Ctrl-C if there was none."""
    return _NAMES[signal.Signals(_handling.received[0])] if _handling.received else _NAMES[signal.SIGINT]


def exit_code() -> int:
    """Exit code of a program that was stopped: 128 and the number of the first signal."""
    return 128 + (_handling.received[0] if _handling.received else signal.SIGINT)


def disk_state() -> str:
    """Sentence about what has been written to the disk."""
    return _handling.disk_state


def note_written(path: str) -> None:
    """Records that `path` was written, for the line that reports a stop."""
    _handling.disk_state = f"{path} was written"
