"""Text that others wrote, as values: JSON, TOML and lines of CSV, from files, sockets and pipes.

What Python's own parsers let through or stumble over is refused here in one line: nesting without end, numbers that no
figure has, `NaN`, a key that is given twice, half of a surrogate pair. Whoever gets a value can write it down again.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outlast.inputs import is_stream

DEEPEST = 64
"""Tables and lists within each other; a scenario has 7, a result 8."""

LARGEST = 1e150
"""Largest accepted magnitude of a number: its square is still finite. Whole numbers have 64 bits."""

_NO_FILE = "must be a regular file, not a pipe or device"

HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which is no text."""


def json_of(text: str | bytes) -> Any:
    """The value that a JSON text holds; raises ValueError with one line, which names no file."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 from byte {error.start} on") from error
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_number, parse_int=_whole, object_pairs_hook=_table
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError(f"lists and tables within each other: {DEEPEST} at most") from error
    if is_deep(value):
        raise ValueError(f"lists and tables within each other: {DEEPEST} at most")
    if "\\u" in text or (not text.isascii() and HALF.search(text)):
        for each in texts(value):
            if HALF.search(each):
                raise ValueError(f"{ascii(each)[:60]}: half of a surrogate pair is no text")
    return value


def toml_of(text: str) -> dict[str, Any]:
    """The table that a TOML text holds; raises ValueError with one line, which names no file."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(f"lists and tables within each other: {DEEPEST} at most") from error


def cells_of(line: str) -> list[str]:
    """The cells of a line of CSV, without spaces around them; raises ValueError with one line, which names no file."""
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error as error:
        raise ValueError(f"not CSV: {error}") from error


def bytes_of(file: str | Path) -> bytes:
    """The bytes of a file, which must be one: a pipe would be waited for, and a device may have no end.

    Raises OSError, or ValueError with one line, which names no file.
    """
    # A large sweep reads a file for each run: the system is asked once for each thing, which `Path` does twice.
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(_NO_FILE)
        content = os.read(handle, found.st_size + 1)
        while len(content) != found.st_size and (more := os.read(handle, 1 << 20)):
            content += more
        return content
    finally:
        os.close(handle)


def text_of(file: Path) -> str:
    """The text of a file that a person has named, which must be one.

    Raises OSError, or ValueError with one line, which names no file.
    """
    if is_stream(file):
        raise ValueError(_NO_FILE)
    try:
        return bytes_of(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 from byte {error.start} on") from error


def read(file: Path, parse: Callable[[str], Any] = json_of) -> Any:
    """Parses a file. Raises OSError, or ValueError with a message of one line that does not name the file."""
    return parse(text_of(file))


_SEAL = b', "checksum": "'


def sealed(table: dict[str, Any]) -> bytes:
    """A table as JSON on one line, with a checksum of all before it as its last key."""
    body = json.dumps(table, allow_nan=False).encode()[:-1]
    return body + _SEAL + _end_of(body)


def unsealed(content: bytes) -> Any | None:
    """The table of a text that is as `sealed` wrote it, and so needs no other check; `None` of any other text."""
    import orjson

    body, _, end = content.rpartition(_SEAL)
    return orjson.loads(body + b"}") if end == _end_of(body) else None


def _end_of(body: bytes) -> bytes:
    return b'%08x"}\n' % zlib.crc32(body)


_RELIED_ON: dict[str, None] = {}


def rely_on(file: str | Path) -> None:
    """Notes that this process has believed what a file says, as far as it was checked.

    Not for machines, whose state is checked as it is read: one that stumbles later is a defect of Outlast.
    """
    _RELIED_ON[str(file)] = None


def relied_on() -> list[str]:
    """Paths of the files of others that this process has believed."""
    return list(_RELIED_ON)


def is_deep(value: Any) -> bool:
    """True if more than `DEEPEST` lists and tables are within each other."""
    level = [value]
    for _ in range(DEEPEST + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))]
        if not inner:
            return False
        level = [part for own in inner for part in own]
    return True


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys of tables included."""
    remaining = [value]
    while remaining:
        each = remaining.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            remaining += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            remaining += each


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _number(text: str) -> float:
    value = float(text)
    if not abs(value) <= LARGEST:
        raise ValueError(f"{text[:40]}: numbers are {LARGEST:g} at most")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or not -(1 << 63) <= int(text) < 1 << 64:
        raise ValueError(f"{text[:40]}: whole numbers have 64 bits at most")
    return int(text)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"{json.dumps(twice)[:60]} is given twice in one table")
    return table
