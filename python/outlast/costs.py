"""Estimated cost of a run: counts of simulated events, and times and memory derived from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from outlast import _core, memory
from outlast.api import Overrides, ScenarioLike, check_limits, layers, override_list
from outlast.errors import ScenarioError
from outlast.plain_values import flag_of


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a run, beside memory counted from its settings and its first requests.

    Counts are those of the scenario. Times are counts by what each took where it was measured, and by how long a small
    run takes on this computer now, so that they differ from call to call; one run of it is timed in a process.
    """

    memory_bytes: int
    """Peak, within 15 %."""
    requests: int
    """Requests of the workload, warm-up included."""
    prepared_units: int
    """Mapping units programmed while the drive is prepared."""
    flash_reads: int
    """Pages read while the workload runs."""
    flash_programs: int
    """Pages programmed while the workload runs."""
    precondition_cpu_s: float
    """Processor time for preparing, tables included, in seconds."""
    cpu_s: float
    """Processor time of the run, preparing included, in seconds."""

    def __str__(self) -> str:
        return f"needs about {memory.amount(self.memory_bytes)} of memory and {span(self.cpu_s)} of processor time"


def estimate(
    scenario: ScenarioLike | Sequence[ScenarioLike], overrides: Overrides | None = None, *, load: bool = False
) -> Estimate:
    """Checks a scenario as `validate` does, and says what running it will probably cost. Builds no drive.

    Rebuilds and repairs that go on after the host has ended are left out. Code that the scenario names is not run, and
    built-in policies are counted in its place; with `load` it is loaded, and asked what it decides.
    """
    chosen, changes = layers(scenario), override_list(overrides)
    needed, effort = _core.estimate(chosen, changes, runs_code=flag_of(load, "load", ScenarioError))
    check_limits(_core.resolve(chosen, changes, "toml"), scenario)
    return Estimate(memory_bytes=memory.process_bytes() + needed, **json.loads(effort))


def span(seconds: float) -> str:
    """`about 3 min`: as much as can be said, one digit."""
    if seconds < 1:
        return "less than a second"
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 100 * size or unit == "h":
            amount = seconds / size
            rounded = float(f"{amount:.0e}")
            return f"about {rounded:.0f} {unit}"
    raise AssertionError("the last unit takes every time")
