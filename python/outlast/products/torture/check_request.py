"""A request for a check, the key that a resumed check must match, and the command that repeats one state."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlast.products.torture.results import of_files

TIMEOUT_S = 30.0
TWICE = "twice"
LIAR = ("ignore", "late")
PLANNED = ("contract", "drive", *LIAR, "fault", "array")
"""Models whose states the core enumerates."""
MODELS = ("contract", "drive", "liar", *LIAR, "fault", "array", TWICE)
DEFAULT_MODELS = ("contract", "drive")


def default_out(run: Path) -> Path:
    """Default folder for the results of a recording."""
    return run.with_name(f"{run.name}.torture")


@dataclass(frozen=True)
class CheckRequest:
    """Settings of a check."""

    run: Path
    """The recording."""
    out: Path
    command: list[str]
    """Empty where a function is called."""
    in_process: str | None = None
    """`FILE:FUNCTION`."""
    models: tuple[str, ...] = DEFAULT_MODELS
    states: int | None = None
    """Limit of states; `None`: all."""
    budget_s: float | None = None
    jobs: int = 1
    seed: int = 1
    tear: int | None = None
    faults: list[dict[str, Any]] = field(default_factory=list)
    """Entries of `[[faults]]` of a scenario, without a time."""
    fsck: bool = False
    timeout_s: float = TIMEOUT_S
    fresh: bool = False
    force: bool = False
    """Continue although the check fails with nothing lost."""
    fs: str = "none"
    backend: str | None = None
    """Name of the backend; `None`: the first that works."""
    repeated: tuple[str, ...] = ()
    """Options that a command which repeats a state needs, as they were given."""

    @property
    def planned(self) -> list[str]:
        """The models that are planned by the core, `contract` where only recoveries are to be cut."""
        wanted = [each for model in self.models for each in (LIAR if model == "liar" else (model,))]
        return [model for model in PLANNED if model in wanted] or ["contract"]

    def spec(self, models: list[str]) -> str:
        """Specification for the core's plan: all states of these models, of which the check takes the first."""
        return json.dumps({"models": models, "seed": self.seed, "tear": self.tear, "faults": self.faults})

    def resume_key(self, facts: dict[str, Any], backend: str) -> dict[str, Any]:
        """Settings that earlier results must share to count: all except limits, budget and number of workers."""
        files = [self.in_process.rpartition(":")[0]] if self.in_process else self.command
        return {
            "recording": {name: facts[name] for name in ("source", "capacity", "events", "bytes", "window", "marks")},
            "check": self.in_process or self.command,
            "files": of_files(files),
            "models": list(self.models),
            "seed": self.seed,
            "tear": self.tear,
            "faults": self.faults,
            "fs": self.fs,
            "fsck": self.fsck,
            "timeout_s": self.timeout_s,
            "backend": backend,
        }

    def reproduce(self, state: str) -> str:
        """Command line that checks the state again."""
        words = ["outlast", "torture", "check", str(self.run), *self.repeated, "--state", state]
        if state.startswith(f"{TWICE}/") and self.out != default_out(self.run):
            words += ["--out", str(self.out)]
        if self.in_process is not None:
            return shlex.join([*words, "--check-in-process", self.in_process])
        return f"{shlex.join(words)} -- {shlex.join(self.command)}"
