"""Jobs as they are sent to another machine, where a worker's current folder is any."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outlast import _core
from outlast.errors import OutlastError
from outlast.points.job import Inputs, Job, Record

POLICIES = "policies."


@dataclass(frozen=True)
class Sent:
    """A job whose files have absolute paths. The key is the same: it has the bytes of files, not their paths."""

    job: Job
    scenario: dict[str, Any]
    inputs: Inputs
    names: dict[str, str] = field(default_factory=dict)
    """Each changed value, and the one that the plan has."""

    @classmethod
    def of(cls, job: Job) -> Sent:
        inputs = job.inputs
        if inputs is None:
            inputs = _core.input_files([("json", json.dumps(job.scenario, allow_nan=False))])
        if all(Path(path).is_absolute() for _, path in inputs):
            return cls(job, job.scenario, inputs)
        scenario, names = copy.deepcopy(job.scenario), {}
        for setting in {setting for setting, _ in inputs}:
            *tables, last = setting.split(".")
            table = scenario
            for name in tables:
                table = table[name]
            planned = table[last]
            file, colon, code = planned.rpartition(":") if setting.startswith(POLICIES) else (planned, "", "")
            table[last] = f"{Path(file).absolute()}{colon}{code}"
            names[table[last]] = planned
        return cls(job, scenario, [(setting, str(Path(path).absolute())) for setting, path in inputs], names)

    def record(self, record: Record) -> Record:
        """The record with the values of the plan, as a run on this machine gives it."""
        if not self.names:
            return record
        return record | {"scenario": self.job.scenario, "summary": self._planned(record["summary"])}

    def _planned(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._planned(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._planned(each) for each in value]
        return self.names.get(value, value) if isinstance(value, str) else value

    def error(self, error: Exception) -> Exception:
        """The error with the policies of the plan. Paths of files stay absolute: there they were looked for."""
        if isinstance(error, OutlastError):
            error.args = tuple(self._said(each) if isinstance(each, str) else each for each in error.args)
        return error

    def _said(self, text: str) -> str:
        for sent, planned in self.names.items():
            if ":" in planned:
                text = text.replace(sent, planned)
        return text
