"""Progress of a run as a bar: in a notebook one of its own, elsewhere that of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, TypeVar

from outlast.errors import ScenarioError
from outlast.plain_values import shown

Tell = TypeVar("Tell", bound=Callable[..., Any])


def in_notebook() -> bool:
    """True if IPython runs in a kernel: Jupyter, VS Code, Colab. IPython in a terminal has none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def of_run(progress: Tell | bool | None) -> AbstractContextManager[Any]:
    """Context that reports a run's progress: a bar (`True`), a function of the caller's, or nothing."""
    return _of(progress, "Run")


def of_sweep(progress: Tell | bool | None) -> AbstractContextManager[Any]:
    """Context that reports a sweep's progress: a bar (`True`), a function of the caller's, or nothing."""
    return _of(progress, "Sweep")


def _of(progress: object, kind: str) -> AbstractContextManager[Any]:
    if progress is True:
        # Only now, so that a run that is silent imports no command line.
        home, name = ("notebook.cells", f"{kind}Cell") if in_notebook() else ("cli.progress", f"{kind}Progress")
        bar: AbstractContextManager[Any] = getattr(import_module(f"outlast.{home}"), name)()
        return bar
    if progress is not None and progress is not False and not callable(progress):
        raise ScenarioError(f"progress = {shown(progress)}: must be True, False, None or a function")
    return nullcontext(progress or None)
