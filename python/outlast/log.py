"""The log of long commands, on standard error: records of the standard library's `logging`, as text or as JSON.

The command line turns it on by `-v` or `--log-format`. What is printed on standard error otherwise, such as warnings
and the files that were written, becomes records as well, so that each line of a JSON log is an object.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from outlast import interrupts

if TYPE_CHECKING:
    import logging

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
"""Levels, as `logging` numbers them; it is imported only where the log is on."""
TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)


class _Log:
    """The logger of this process and its format; the command that began decides both."""

    def __init__(self) -> None:
        self.logger: logging.Logger | None = None
        self.form = TEXT
        self.began = time.monotonic()
        self.is_begun = False


_log = _Log()


def is_on() -> bool:
    """True if records are written."""
    return _log.logger is not None


def is_detailed() -> bool:
    """True if each step is written."""
    return _log.logger is not None and _log.logger.isEnabledFor(DEBUG)


def turn_on(name: str, *, level: int | None = None, form: str | None = None) -> None:
    """Writes records to standard error from now on, under the name `name`; a later call changes level or format."""
    if _log.logger is None:
        from outlast.log_records import logger_of

        _log.logger = logger_of(name, lambda: _log.form)
        interrupts.write_last_line_by(_last_line)
    if level is not None:
        _log.logger.setLevel(level)
    _log.form = form or _log.form


def ended(exit_code: int) -> None:
    """Records the end of the command."""
    record("ended", exit_code=exit_code, seconds=round(time.monotonic() - _log.began, 3))


def record(message: str, *, level: int = INFO, **facts: Any) -> None:
    """Writes a record, if the log is on: a message that stays the same, and by name what it is about this time."""
    if _log.logger is None:
        return
    if not _log.is_begun:
        _begin(_log.logger)
    _log.logger.log(level, message, extra={"facts": facts})


def _begin(logger: logging.Logger) -> None:
    """The first record: what was called, and by which version."""
    from outlast import __version__

    _log.is_begun = True
    logger.info("started", extra={"facts": {"version": __version__, "arguments": sys.argv[1:]}})


def say(text: str, message: str | None = None, *, level: int = INFO, **facts: Any) -> None:
    """Prints a line on standard error; a record instead where the log is on, of `message` and facts or of the line."""
    if _log.logger is None:
        print(text, file=sys.stderr, flush=True)
    else:
        record(message or text, level=level, **facts)


def _last_line(text: str) -> str:
    """The error that ends a program at once, as a line for standard error."""
    from outlast.log_records import line

    if _log.logger is None or _log.form == TEXT:
        return f"error: {text}\n"
    return line(time.time(), {"level": "error", "logger": _log.logger.name, "message": text}) + "\n"


def written(*files: object) -> None:
    """Says which files were written."""
    names = [str(each) for each in files]
    say(f"written: {', '.join(names)}", "written", files=names)
