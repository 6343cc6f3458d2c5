"""Code that a scenario names as `FILE:NAME`."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import pickle
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from outlast.errors import ScenarioError
from outlast.policies.makers import Maker
from outlast.policies.portable import PICKLED


def load(wanted: Sequence[tuple[str, str, str]]) -> list[Maker]:
    """Loads the code of each decision, file and name. A file runs once, so its decisions share module state."""
    modules: dict[str, ModuleType] = {}
    makers = []
    for decision, file, name in wanted:
        refused = f"policies.{decision} = {file}:{name}"
        if file.endswith(PICKLED):
            makers.append(Maker(decision, _unpickled(file, refused), f"{file}:{name}"))
            continue
        if file not in modules:
            modules[file] = _run(file, refused)
        found: Any = modules[file]
        for part in name.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            known = [key for key, value in vars(modules[file]).items() if callable(value) and not key.startswith("_")]
            hint = f"there are {', '.join(known)}" if known else "there is none"
            raise ScenarioError(f"{refused}: there is no function or class {name}; {hint}")
        makers.append(Maker(decision, found, f"{file}:{name}"))
    return makers


def _unpickled(file: str, refused: str) -> Any:
    try:
        return pickle.loads(Path(file).read_bytes())  # noqa: S301 - code of the user's, as a Python file is
    except Exception as error:
        raise ScenarioError(f"{refused}: {describe_error(error)}") from error


def _run(file: str, refused: str) -> ModuleType:
    path = Path(file)
    if not path.is_file():
        raise ScenarioError(f"{refused}: {file} is not a file")
    spec = importlib.util.spec_from_file_location(f"outlast_policy_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ScenarioError(f"{refused}: {file} is not a Python file, whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ScenarioError(f"{refused}: {describe_error(error)}") from error
    finally:
        sys.path.remove(folder)
    return module


def describe_error(error: BaseException, trace: TracebackType | None = None) -> str:
    """An exception in a line: what it says, and where in the user's own file it was raised."""
    message = " ".join(str(error).split())
    package = Path(__file__).parent
    stack = traceback.extract_tb(trace or error.__traceback__)
    frames = [frame for frame in stack if Path(frame.filename).parent != package]
    if isinstance(error, SyntaxError):  # which says where it is
        return f"{type(error).__name__}: {message}"
    if not frames or frames[-1].filename.startswith("<frozen"):
        return message or type(error).__name__
    last = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    return f"{type(error).__name__}: {message} ({Path(last.filename).name}, line {last.lineno})"


def source_of(name: str, maker: Maker | None) -> dict[str, str | None]:
    """The text of the code, where there is one, and its SHA-256."""
    try:
        code = inspect.getsource(maker.policy).encode() if maker else Path(name.rpartition(":")[0]).read_bytes()
    except (OSError, TypeError):
        return {"source": None, "sha256": None}
    try:
        text = code.decode()
    except UnicodeDecodeError:  # of a shared library
        text = None
    return {"source": text, "sha256": hashlib.sha256(code).hexdigest()}
