"""Runs a scenario in a process of its own, so that whatever becomes of it can be told."""

from __future__ import annotations

import json
import os
import resource
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import outlast
from random_scenarios.generate import Case

Summary: TypeAlias = dict[str, Any]

CPU_S = 1800
"""Seconds of processor time after which a run is given up. A drive that goes in circles stops itself much earlier, by
the number of its events (`crates/ssd/src/livelock.rs`); this ends only what is caught nowhere."""


@dataclass(frozen=True)
class Ran:
    """The run has ended; what it found."""

    summary: Summary


@dataclass(frozen=True)
class Refused:
    """The scenario cannot run, and why."""

    message: str


@dataclass(frozen=True)
class Broken:
    """An error that no input may cause, or the end of the process."""

    message: str


Outcome: TypeAlias = Ran | Refused | Broken


def apart(work: Callable[[], Any]) -> Any:
    """Runs `work` in a process of its own and returns its result; `Broken` if the process ends without one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with suppress(BaseException), os.fdopen(writing, "w") as answer:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
            answer.write(json.dumps(work()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    with suppress(ValueError):
        return json.loads(text)
    return ["Broken", f"its process ended with {os.waitstatus_to_exitcode(status)}"]


def outcome(case: Case) -> Outcome:
    """Outcome of a scenario's run."""

    def work() -> list[Any]:
        with tempfile.TemporaryDirectory(prefix="random-scenario-") as folder:
            return list(attempt(lambda: outlast.run(str(case.write(Path(folder)))).summary))

    kind, value = apart(work)
    if kind == "Ran":
        return Ran(value)
    return Refused(value) if kind == "Refused" else Broken(value)


def attempt(run: Callable[[], Summary]) -> tuple[str, Any]:
    """End of a run in a word, with its figures or its message."""
    try:
        return "Ran", run()
    except (outlast.ScenarioError, outlast.WorkloadError, outlast.DeviceError) as error:
        return "Refused", str(error)
    except BaseException as error:
        return "Broken", f"{type(error).__name__}: {error}"
