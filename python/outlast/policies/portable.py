"""Code at hand as `FILE:NAME`, so that it can be told to another process and found again."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from outlast.errors import OutputError, ScenarioError

PICKLED = ".pkl"
"""Ending of files of pickled code."""


class Code:
    """Functions and classes by `FILE:NAME`; those that are in no module that can be loaded again are pickled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pickled: dict[Path, bytes] = {}

    def portable(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Copy of a sweep's specification in which code on its axes is `FILE:NAME`, labelled by the code's name."""
        copy = dict(spec)
        axes = copy.get("vary")
        if isinstance(axes, (list, tuple)):
            copy["vary"] = [self._axis(axis) if isinstance(axis, Mapping) else axis for axis in axes]
        return copy

    @contextmanager
    def written(self) -> Iterator[None]:
        """Context that writes pickled code to its files, and removes the new ones again if its body fails."""
        new = {path: code for path, code in self._pickled.items() if not path.exists()}
        try:
            for path, code in new.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(code)
        except OSError as error:
            raise OutputError(f"{self._folder}: cannot be written: {error.strerror}") from error
        try:
            yield
        except BaseException:
            with suppress(OSError):
                for path in new:
                    path.unlink(missing_ok=True)
                if new:
                    self._folder.rmdir()
                    self._folder.parent.rmdir()
            raise

    def _axis(self, axis: Mapping[str, Any]) -> Mapping[str, Any]:
        values = axis.get("values")
        if not isinstance(values, (list, tuple)) or not any(map(callable, values)):
            return axis
        built_in = [str(value) for value in values if not callable(value)]
        labels: list[str] = []
        for value in values:
            name = _called(value) if callable(value) else str(value)
            labels.append(f"own {name}" if callable(value) and name in [*built_in, *labels] else name)
        return {"labels": labels} | dict(axis) | {"values": [self._value(value) for value in values]}

    def _value(self, value: Any) -> Any:
        if not callable(value):
            return value
        file = _file(value)
        return f"{file or self._pickle(value)}:{_called(value)}"

    def _pickle(self, policy: Callable[..., Any]) -> Path:
        called = _called(policy)
        try:
            import cloudpickle
        except ImportError as error:
            raise ScenarioError(f"policy {called}: is in no file; put it into one, or install cloudpickle") from error
        try:
            code: bytes = cloudpickle.dumps(policy)
        except Exception as error:
            raise ScenarioError(f"policy {called}: cannot be sent to another process: {error}") from error
        name = "".join(letter if letter.isalnum() else "_" for letter in called)
        path = (self._folder / f"{name}-{hashlib.sha256(code).hexdigest()[:12]}{PICKLED}").resolve()
        self._pickled[path] = code
        return path


def _called(policy: Callable[..., Any]) -> str:
    name: str = getattr(policy, "__qualname__", type(policy).__qualname__)
    return name.rpartition(".<locals>.")[2]


def _file(policy: Callable[..., Any]) -> str | None:
    """The file of what stands by its name in a module other than the program itself."""
    if getattr(policy, "__module__", "__main__") == "__main__" or "<" in getattr(policy, "__qualname__", "<"):
        return None
    try:
        return inspect.getsourcefile(policy)
    except (OSError, TypeError):
        return None
