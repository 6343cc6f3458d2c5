"""Result of a check, from which result.json, the summary, junit.xml and report.html are made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outlast import __version__
from outlast.products.torture.check_request import CheckRequest
from outlast.products.torture.probability import Risk
from outlast.products.torture.results import Verdict

MOST_STATES = 20
"""States of a failure that are told by name in result.json; results.jsonl has all."""


@dataclass(frozen=True)
class Failure:
    """States that fail in the same way."""

    states: list[Verdict]
    """The one with the fewest lost writes first."""
    smallest: Verdict
    """The smallest bad state that was found."""
    checks: int
    """States that were checked to find it."""
    minimal: bool
    """True if the state becomes good with any single one of its lost writes present."""

    def json(self, request: CheckRequest) -> dict[str, Any]:
        """The part of `result.json`."""
        first, smallest = self.states[0], self.smallest
        return {
            "model": first.group,
            "stage": first.stage,
            "exit": first.exit,
            "timed_out": first.timed_out,
            "states": len(self.states),
            "some": [verdict.state for verdict in self.states[:MOST_STATES]],
            "smallest": {
                "state": smallest.state,
                "from": first.state,
                "mark": smallest.mark,
                "lost": smallest.lost,
                "of": first.lost,
                "checks": self.checks,
                "minimal": self.minimal,
                "witness": smallest.witness,
                "output": smallest.output,
                "reproduce": request.reproduce(smallest.state),
            },
        }


@dataclass(frozen=True)
class Result:
    """Result of a check."""

    request: CheckRequest
    facts: dict[str, Any]
    """Facts of the recording."""
    timeline: list[dict[str, Any]]
    backend: str
    model_of: dict[str, str]
    """The model of each group of states, such as `fault` of `die3`."""
    planned: dict[str, int]
    """States of each model that were to be checked."""
    plan: dict[str, Any]
    """Counts of the core by model: cuts, candidates, distinct states."""
    verdicts: list[Verdict]
    failures: list[Failure]
    risks: dict[str, Risk]
    """Name of a group: its model, with its fault."""
    seconds: float
    """Duration of this run of the check."""
    checked_now: int
    """States checked in that time, those of shrinking included."""
    stopped: str | None = None
    """Reason for an end before every state was checked: `budget`, `Ctrl-C`, `SIGTERM`."""

    @property
    def bad(self) -> list[Verdict]:
        """The bad states."""
        return [verdict for verdict in self.verdicts if verdict.is_bad]

    @property
    def rate(self) -> float:
        """States checked in a second."""
        return self.checked_now / self.seconds if self.seconds > 0 else 0.0

    def by_model(self) -> dict[str, dict[str, Any]]:
        """Numbers of planned, checked and bad states by model."""
        table = {}
        for model, planned in self.planned.items():
            verdicts = [verdict for verdict in self.verdicts if verdict.model == model]
            counts = {"planned": planned, "checked": len(verdicts), "bad": sum(verdict.is_bad for verdict in verdicts)}
            table[model] = {**counts, **self.plan.get(model, {})}
        return table

    def risks_of(self, model: str) -> dict[str, Risk]:
        """The probabilities of the model's groups of states."""
        return {group: risk for group, risk in self.risks.items() if self.model_of[group] == model}

    def json(self) -> dict[str, Any]:
        """The part of `result.json`."""
        request = self.request
        return {
            "version": __version__,
            "recording": {"path": str(request.run), **{k: v for k, v in self.facts.items() if k != "marks"}},
            "check": request.in_process or request.command,
            "fs": request.fs,
            "backend": self.backend,
            "models": list(request.models),
            "seed": request.seed,
            "tear": request.tear,
            "fsck": request.fsck,
            "jobs": request.jobs,
            "states": {
                "planned": sum(self.planned.values()),
                "checked": len(self.verdicts),
                "bad": len(self.bad),
                "stopped": self.stopped,
            },
            "by_model": self.by_model(),
            "probability": {group: risk.json() for group, risk in self.risks.items()},
            "failures": [failure.json(request) for failure in self.failures],
            "seconds": round(self.seconds, 3),
            "states_per_second": round(self.rate, 2),
        }

    def text(self) -> str:
        """result.json."""
        return json.dumps(self.json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def failures_of(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """The bad states by what their failures look like; of each the one with the fewest lost writes first."""
    kinds: dict[tuple[Any, ...], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.is_bad:
            kinds.setdefault(verdict.failure, []).append(verdict)
    for verdicts in kinds.values():
        verdicts.sort(key=lambda verdict: (verdict.lost, verdict.event, verdict.state))
    return sorted(kinds.values(), key=len, reverse=True)
