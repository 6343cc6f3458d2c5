"""An explanation: its sentences, the parts by utilisation, and, where asked for, what each part would gain."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import api
from outlast.plain_values import place_of
from outlast.result import Result
from outlast.why.limit import Limit, limit_of
from outlast.why.parts import Part, parts_of
from outlast.why.sentences import Sentence, sentences
from outlast.why.trial import Trials, tried

if TYPE_CHECKING:
    from collections.abc import Sequence


ASKED = (("run.causes", "true"), ("run.utilisation", "true"))
"""Settings with which a scenario is run to be explained; neither changes a figure."""


@dataclass(frozen=True)
class Explanation:
    """Limit of the drive of a result. Its text is its sentences, one to a line."""

    name: str
    """Name of the scenario."""
    limit: Limit
    parts: list[Part]
    """Parts by utilisation, the busiest first."""
    sentences: list[Sentence]
    trials: Trials | None = None

    def __str__(self) -> str:
        return "\n".join(sentence.text for sentence in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Output of `outlast explain --json`."""
        return {
            "name": self.name,
            "limit": self.limit.name,
            "parts": [
                {"name": p.name, "busy": p.busy, "mean": p.mean, "waits": p.waits, "figures": dict(p.figures)}
                for p in self.parts
            ],
            "sentences": [{"about": s.about, "text": s.text, "figures": dict(s.figures)} for s in self.sentences],
            "trials": None if self.trials is None else self.trials.to_dict(),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def of_summary(summary: dict[str, Any]) -> Explanation:
    """The explanation of what `result.json` holds."""
    parts = parts_of(summary)
    limit = limit_of(summary, parts)
    return Explanation(summary["name"], limit, parts, sentences(summary, parts, limit))


def needed_settings(
    scenario: api.ScenarioLike | Sequence[api.ScenarioLike], overrides: api.Overrides
) -> tuple[tuple[str, str], ...]:
    """The settings that a run needs so that all can be said of it: none without time."""
    timed = api.resolve(scenario, overrides)["run"]["timing"] != "none"
    return ASKED if timed else ()


def explain(
    result: Result | api.ScenarioLike | Sequence[api.ScenarioLike],
    overrides: api.Overrides | None = None,
    *,
    trials: bool = False,
    repeats: int = 3,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Explanation:
    """Says what limits a drive: of a result, or of a scenario, which is run for it.

    A scenario is run with `run.causes` and `run.utilisation`, so that the tail is told by cause. With `trials` it is
    run again with one part made 10 % faster at a time, each under `repeats` seeds, in `jobs` processes; runs are kept
    in `folder` (`out/explain`) and not made again. `progress` is told how many runs of how many are done.

    Raises `ScenarioError` for overrides of a result, which is explained as it is.
    """
    if isinstance(result, Result):
        if overrides:
            from outlast.errors import ScenarioError

            raise ScenarioError("overrides: a result is explained as it is; give its scenario to change a setting")
        explained = result
    else:
        changes = api.override_list(overrides)
        explained = api.run(result, [*needed_settings(result, changes), *changes])
    found = of_summary(explained.summary)
    if not trials:
        return found
    where = None if folder is None else place_of(folder)
    scenario = explained.summary["scenario"]
    gains = tried(scenario, explained.summary, repeats=repeats, jobs=jobs, folder=where, progress=progress)
    return Explanation(found.name, found.limit, found.parts, found.sentences, gains)
