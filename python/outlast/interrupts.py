"""Ctrl-C and SIGTERM, from the first moment of the program to its last.

Until a command has something to lose, a signal ends the program at once, with one line and no traceback. While a run is
under way it only leaves word: the run asks for it about ten times a second, stops, and keeps what it measured. Commands
that clean up behind themselves are told by a `KeyboardInterrupt`, once.

This module is imported before all others and therefore imports next to nothing.

During a run the handler never raises: it sets a flag, which the run's progress function reads. Cleaning up is not
interrupted again. Results are written (`output`) before reports are drawn, and inputs that can be read only once
(pipes, standard input) are read in `inputs`.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

_QUIT, _LEAVE_WORD, _RAISE = "quit", "leave word", "raise"


class _State:
    """What the program is doing, and what it was asked."""

    mode = _QUIT
    asked: list[int] = []  # noqa: RUF012 - there is one program, and one state of it
    truth = "nothing was written"


def install() -> None:
    """Takes over both signals; to be called before anything else. Signals that a shell set to be ignored count, too."""
    for number in _NAMES:
        signal.signal(number, _handle)


def _handle(number: int, _: FrameType | None) -> None:
    _State.asked.append(number)
    if _State.mode == _QUIT:
        _quit(number)
    if _State.mode == _RAISE:
        _State.mode = _LEAVE_WORD  # a second signal must not break into the cleaning up
        raise KeyboardInterrupt


def _quit(number: int) -> None:
    try:
        os.write(2, f"error: stopped by {_NAMES[signal.Signals(number)]}; {_State.truth}\n".encode())
    except OSError:
        pass
    finally:
        os._exit(128 + number)


def keep() -> None:
    """From now on a signal only leaves word, for `asked` to tell."""
    _State.mode = _LEAVE_WORD


def raising() -> None:
    """From now on the first signal raises `KeyboardInterrupt`, and later ones only leave word."""
    _State.mode = _RAISE
    if _State.asked:
        _State.mode = _LEAVE_WORD
        raise KeyboardInterrupt


class Deferred:
    """While a file is being put in its place, a signal that would end the program at once waits until it is."""

    def __enter__(self) -> None:
        self._before = _State.mode
        if self._before == _QUIT:
            _State.mode = _LEAVE_WORD

    def __exit__(self, *_: object) -> None:
        if self._before != _QUIT:
            return
        _State.mode = _QUIT
        if _State.asked:
            _quit(_State.asked[0])


def over() -> None:
    """The program has done everything and only has to end: signals change nothing any more."""
    for number in _NAMES:
        signal.signal(number, signal.SIG_IGN)


def asked() -> int:
    """How often the program was asked to stop."""
    return len(_State.asked)


def by() -> str:
    """What asked first."""
    return _NAMES[signal.Signals(_State.asked[0])] if _State.asked else _NAMES[signal.SIGINT]


def code() -> int:
    """The exit code of a program that was stopped: 128 and the number of the signal."""
    return 128 + (_State.asked[0] if _State.asked else signal.SIGINT)


def truth() -> str:
    """What there is on the disk."""
    return _State.truth


def written(what: str) -> None:
    """Notes what there is on the disk, so that the last line before the end says what is true."""
    _State.truth = f"{what} was written"
