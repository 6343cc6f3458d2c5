"""Texts that come from files, from pipes or from standard input, each read once."""

from __future__ import annotations

import os
import select
import stat
from dataclasses import dataclass
from pathlib import Path

from outlast import log
from outlast.errors import ScenarioError

STANDARD_INPUT = "-"
MOST_BYTES = 1 << 20
"""Limit of an input, above the size of any scenario or sweep; bounds what is read of a device that never ends."""
SILENCE_S = 2.0
"""Silence of an input, in seconds, after which a person is told what is being waited for."""


@dataclass(frozen=True)
class Text:
    """A text and what messages call it."""

    name: str
    content: str


def is_stream(path: str | Path) -> bool:
    """True if a path can be read only once: standard input, a pipe, a terminal, a device."""
    if str(path) == STANDARD_INPUT:
        return True
    mode = mode_of(path)
    return mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_folder(path: str | Path) -> bool:
    """True if a folder is there."""
    mode = mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def mode_of(path: str | Path) -> int | None:
    """Kind and rights of what is there; `None` where nothing is, also where the system does not take the path."""
    try:
        return Path(path).stat().st_mode
    except OSError:
        return None


def read_stream(path: str | Path) -> Text:
    """All that comes from there until its end. Whoever waits is told for what."""
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    try:
        handle = 0 if str(path) == STANDARD_INPUT else os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            content = _all_of(handle, name)
        finally:
            if handle:
                os.close(handle)
        return Text(name, content.decode("utf-8-sig"))
    except OSError as error:
        raise ScenarioError(f"{name}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name}: not UTF-8") from error


def _all_of(handle: int, name: str) -> bytes:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    parts: list[bytes] = []
    size, has_warned = 0, False
    while size <= MOST_BYTES:
        events = waiting.poll(None if has_warned else 1000 * SILENCE_S)
        if not events:
            log.say(f"waiting for {name}, from which nothing has come yet (Ctrl-C ends this)", level=log.WARNING)
            has_warned = True
            continue
        try:
            part = os.read(handle, 1 << 16)
        except BlockingIOError:
            continue
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
