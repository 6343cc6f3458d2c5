"""Values of Python as scenarios hold them: numbers, texts, lists and tables."""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
from collections.abc import Mapping
from datetime import timedelta
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from outlast.errors import OutlastError, OutputError, ScenarioError
from outlast.foreign import DEEPEST, HALF

NO_NAME = re.compile("[\0\ud800-\udfff]")
"""Characters that no name of a file has: the zero byte, and halves of surrogate pairs."""
LONGEST_PLACE = 60
"""Characters that are shown of the place of a value that is nested too deep."""


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 300


def shown(value: Any) -> str:
    """A value in a message: in one line that is not long, even of one that contains itself."""
    return " ".join(_SHORT.repr(value).split())


def path_of(value: Any, what: str, refused: type[OutlastError]) -> Path:
    """The path that a caller gave; of a value that can be no path, `refused` says `what` is wanted."""
    if not isinstance(value, (str, PathLike)) or isinstance(path := fspath(value), bytes):
        raise refused(f"{shown(value)}: {what}")
    if NO_NAME.search(path):
        raise refused(f"{shown(path)}: cannot be read: no file has such a name")
    return Path(path)


def place_of(value: Any) -> Path:
    """The path that a caller gave to write to; `OutputError` for a value that can be no path."""
    if not isinstance(value, (str, PathLike)) or isinstance(path := fspath(value), bytes):
        raise OutputError(f"{shown(value)}: what is written to is named by a path")
    if NO_NAME.search(path):
        raise OutputError(f"{shown(path)}: cannot be written: no file has such a name")
    return Path(path)


def name_of(value: Any, what: str, refused: type[OutlastError]) -> str:
    """The name that a caller gave; of what is no text, `refused` says `what` is named."""
    if not isinstance(value, str) or HALF.search(value):
        raise refused(f"{shown(value)}: {what} is named by a text")
    return value


def flag_of(value: Any, name: str, refused: type[OutlastError]) -> bool:
    """The yes or no that a caller gave; `refused` for all else."""
    if value is True or value is False or type(value).__name__ == "bool":  # numpy's, too
        return bool(value)
    raise refused(f"{name} = {shown(value)}: must be True or False")


def jobs_of(value: Any) -> int:
    """Number of runs at a time: that of the caller, or one for each core if there is none."""
    if value is None:
        return os.cpu_count() or 1
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ScenarioError(f"jobs = {shown(value)}: must be a whole number, or None for one on each core")
    return value or os.cpu_count() or 1


def override_of(name: str, value: Any) -> tuple[str, str]:
    """A setting and its value as `--set` takes them."""
    text = override_text(plain(value, name))
    if not (name.isascii() and text.isascii()) and HALF.search(name + text):
        raise ScenarioError(f"overrides: {name!a} = {text[:300]!a}: half of a surrogate pair is no text")
    return name, text


def override_text(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml_text(item)}" for key, item in value.items()) + " }"
    return _toml_text(value)


def _toml_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return override_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_text(item) for item in value) + "]"
    # As `json` writes them, which makes an encoder for each.
    return repr(value) if type(value) in (int, float) else json.dumps(value)


def json_text(settings: Mapping[str, Any]) -> str:
    """Settings as JSON; what JSON cannot hold is refused by name."""
    return json.dumps(plain(settings), allow_nan=False)


def plain(value: Any, name: str = "", *, room: int = DEEPEST) -> Any:
    """The value as JSON can hold it: paths become texts, times theirs, numpy's scalars and arrays Python's.

    `room`: how many lists and tables may be within each other.
    """
    if type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, (dict, Mapping, list, tuple)):
        if room == 0:
            raise ScenarioError(f"{name[:LONGEST_PLACE]}...: lists and tables within each other: {DEEPEST} at most")
        if isinstance(value, (list, tuple)):
            return [plain(item, f"{name}[{index}]", room=room - 1) for index, item in enumerate(value)]
        return {
            str(key): plain(item, f"{name}.{key}" if name else str(key), room=room - 1) for key, item in value.items()
        }
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if hasattr(value, "tolist") and callable(value.tolist):
        return plain(value.tolist(), name, room=room)  # a numpy scalar or array
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(f"{name or 'value'} = {value}: must be a finite number")
    if value is None or isinstance(value, (str, int, float)):
        return value
    kind = type(value).__name__
    raise ScenarioError(
        f"{name or 'value'} = {shown(value)}: a {kind} cannot be a setting; give a number, a text, a list or a table"
    )
