"""Failures of commands, each told in a line and turned into an exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import click

from outlast import log

BAD_INPUT, INTERNAL = 2, 3


def _numbers(*names: str) -> set[int]:
    return {getattr(errno, name) for name in names if hasattr(errno, name)}


CANNOT_WRITE = _numbers("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM")
"""Error numbers of a place that cannot be written, reported as such and not as a defect of the program."""
CANNOT_USE = _numbers("ENAMETOOLONG", "ELOOP", "ENOTDIR", "EISDIR", "ENXIO", "ENODEV", "ETXTBSY")
"""Error numbers that a path itself causes: no program can use it for what was asked."""

SYMLINK_LOOP = "Symlink loop from "
"""Beginning of what pathlib raises for a symbolic link that leads to itself."""
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs, by which Python holds the bytes of a name that is not UTF-8."""
SHOWN = 200
"""Characters of a name that are shown before and after what is wrong in it."""
MOST_FILES = 5
"""Files that a message names of those that something was read from: a sweep reads one for each run."""


def of_system(error: OSError) -> int:
    """Tells of a failed call of the system."""
    if error.errno in CANNOT_USE and error.filename is not None and not os.environ.get("OUTLAST_DEBUG"):
        return fail(f"{error.filename}: cannot be used: {error.strerror}", BAD_INPUT)
    if error.errno == errno.ENOENT and error.filename is None and not _is_somewhere():
        return fail("the current folder has been removed; change to another", BAD_INPUT)
    if error.errno not in CANNOT_WRITE:
        return of_exception(error)
    # Files of our own are named by those who write them; what has no name is what the shell opened for us.
    drop(sys.stdout)
    name = error.filename or "standard output"
    return fail(f"{name}: cannot be written: {error.strerror}", BAD_INPUT)


def _is_somewhere() -> bool:
    """True if the current folder is there."""
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def drop(stream: TextIO) -> None:
    """Redirects the rest of `stream` to nowhere, so that the interpreter does not try to flush it again at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class ReaderLeftError(Exception):
    """A closed pipe that standard output was: click itself would end the program with the code of a failure."""


@contextmanager
def told_closed_pipe() -> Iterator[None]:
    """Context in which a closed pipe is a `ReaderLeftError`."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeftError from error


@contextmanager
def suppress_closed_pipe() -> Iterator[None]:
    """Context that prints to a reader that may have enough, such as `head`."""
    try:
        yield
    except BrokenPipeError:
        drop(sys.stdout)


def of_exception(error: Exception) -> int:
    """Tells of an exception: of bad input, or of a defect."""
    if os.environ.get("OUTLAST_DEBUG"):
        raise error
    from outlast.errors import InternalError, OutlastError

    if isinstance(error, OutlastError) and not isinstance(error, InternalError):
        return fail(str(error), BAD_INPUT)
    if (refused := _of_name(error)) is not None:
        return fail(refused, BAD_INPUT)
    kind = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
    message = " ".join(f"{kind}{error}".split())
    from outlast import foreign

    if files := foreign.relied_on():
        left = f" and {len(files) - MOST_FILES} more" if len(files) > MOST_FILES else ""
        names = ", ".join(files[:MOST_FILES]) + left
        advice = "if nobody has changed what Outlast wrote, please report this"
        return fail(f"{names}: cannot be used ({message}); {advice}", BAD_INPUT)
    return fail(f"internal error: {message}; please report this with the scenario", INTERNAL)


def _of_name(error: Exception) -> str | None:
    """The message of an exception by which Python refuses a name that no file can have; `None` of any other."""
    text = str(error)
    if isinstance(error, UnicodeEncodeError) and HALVES.match(error.object, error.start):
        before, after = error.object[: error.start], error.object[error.start :]
        name = before.splitlines()[-1][-SHOWN:] if before.splitlines() else ""
        return f"{as_bytes(name + after.splitlines()[0][:SHOWN])}: not UTF-8"
    if isinstance(error, RuntimeError) and text.startswith(SYMLINK_LOOP):
        return f"{text.removeprefix(SYMLINK_LOOP)}: cannot be used: {os.strerror(errno.ELOOP)}"
    if isinstance(error, ValueError) and text.startswith("embedded null"):
        return "a name in the input has a zero byte (\\u0000): no file has such a name"
    return None


def as_bytes(text: str) -> str:
    r"""A text whose bytes that are not UTF-8 are escapes, as a shell takes them: `\xff`."""
    return HALVES.sub(lambda half: f"\\x{ord(half[0]) & 0xFF:02x}", text)


def check_arguments(arguments: list[str]) -> None:
    """Refuses an argument that is not UTF-8: results and messages could not hold it."""
    for each in arguments:
        if HALVES.search(each):
            raise click.UsageError(f'argument "{as_bytes(each)}": not UTF-8')


def fail(message: str, code: int) -> int:
    """Prints a message on standard error and returns the exit code."""
    try:
        from outlast.printable import printable

        # A line for each thing that is wrong.
        for line in message.split("\n"):
            # On the command line, an override is what --set gave.
            told = f"--set{line.removeprefix('overrides')}" if line.startswith("overrides: ") else line
            shown = printable(" ".join(filter(None, told.split(" "))))
            if log.is_on():
                log.record(shown, level=log.ERROR)
                continue
            click.secho("error: ", fg="red", bold=True, nl=False, err=True)
            click.echo(shown, err=True)
    except OSError:
        drop(sys.stderr)  # nobody can be told; the code still says it
    return code
