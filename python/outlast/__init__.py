"""Outlast simulates solid-state drives: what a workload does to the flash, how long each request takes, how it wears.

    import outlast

    result = outlast.run("demo", {"workload.synthetic.read_percent": 0})
    result.latency_us.write.p99      # microseconds
    result.table("timeseries")       # a polars.DataFrame
    result.write("out/first")        # result.json, Parquet tables, scenario.toml, report.html

Names are the same in scenario files, in Python and in `result.json`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; what `typing` takes to import is spared
if TYPE_CHECKING:
    from typing import Any

    from outlast import fleet, models, planning, policies, settings
    from outlast._core import (
        DeviceError,
        InternalError,
        ModelError,
        OutlastError,
        ScenarioError,
        WorkloadError,
        __version__,
    )
    from outlast.api import (
        presets,
        resolve,
        run,
        show_preset,
        snapshot,
        validate,
    )
    from outlast.comparison import Comparison, compare
    from outlast.costs import Estimate, estimate
    from outlast.drive import Batch, Drive
    from outlast.errors import ControlError, DriveError, MediumError, OutputError
    from outlast.repeats import Repeats, repeat
    from outlast.result import Figures, Result, load
    from outlast.schemas import scenario_schema, sweep_schema
    from outlast.serving import Served, serve
    from outlast.simulation import Simulation, State, open, restore  # noqa: A004 - `outlast.open`
    from outlast.sweeps import Sweep, load_sweep, sweep
    from outlast.sweeps.spec import SweepError
    from outlast.traces import trace_convert, trace_info
    from outlast.why import Explanation, explain

_HOMES = {
    "__version__": "outlast._core",
    "DeviceError": "outlast._core",
    "InternalError": "outlast._core",
    "ModelError": "outlast._core",
    "OutlastError": "outlast._core",
    "ScenarioError": "outlast._core",
    "WorkloadError": "outlast._core",
    "Batch": "outlast.drive",
    "Comparison": "outlast.comparison",
    "ControlError": "outlast.errors",
    "Drive": "outlast.drive",
    "DriveError": "outlast.errors",
    "MediumError": "outlast.errors",
    "OutputError": "outlast.errors",
    "Figures": "outlast.result",
    "Repeats": "outlast.repeats",
    "Result": "outlast.result",
    "Served": "outlast.serving",
    "Simulation": "outlast.simulation",
    "State": "outlast.simulation",
    "Sweep": "outlast.sweeps",
    "SweepError": "outlast.sweeps.spec",
    "Explanation": "outlast.why",
    "compare": "outlast.comparison",
    "Estimate": "outlast.costs",
    "estimate": "outlast.costs",
    "explain": "outlast.why",
    "fleet": "outlast.fleet",
    "load": "outlast.result",
    "load_sweep": "outlast.sweeps",
    "models": "outlast.models",
    "open": "outlast.simulation",
    "planning": "outlast.planning",
    "presets": "outlast.api",
    "repeat": "outlast.repeats",
    "resolve": "outlast.api",
    "restore": "outlast.simulation",
    "run": "outlast.api",
    "scenario_schema": "outlast.schemas",
    "serve": "outlast.serving",
    "policies": "outlast.policies",
    "settings": "outlast.settings",
    "show_preset": "outlast.api",
    "snapshot": "outlast.api",
    "sweep": "outlast.sweeps",
    "sweep_schema": "outlast.schemas",
    "trace_convert": "outlast.traces",
    "trace_info": "outlast.traces",
    "validate": "outlast.api",
}

__all__ = [
    "Batch",
    "Comparison",
    "ControlError",
    "DeviceError",
    "Drive",
    "DriveError",
    "Estimate",
    "Explanation",
    "Figures",
    "InternalError",
    "MediumError",
    "ModelError",
    "OutlastError",
    "OutputError",
    "Repeats",
    "Result",
    "ScenarioError",
    "Served",
    "Simulation",
    "State",
    "Sweep",
    "SweepError",
    "WorkloadError",
    "__version__",
    "compare",
    "estimate",
    "explain",
    "fleet",
    "load",
    "load_sweep",
    "models",
    "open",
    "planning",
    "policies",
    "presets",
    "repeat",
    "resolve",
    "restore",
    "run",
    "scenario_schema",
    "serve",
    "settings",
    "show_preset",
    "snapshot",
    "sweep",
    "sweep_schema",
    "trace_convert",
    "trace_info",
    "validate",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that `outlast --help` answers at once.
    if name not in _HOMES:
        raise AttributeError(f"module 'outlast' has no attribute '{name}'")
    from importlib import import_module

    from outlast import processor

    if (refusal := processor.refusal()) is not None:
        raise ImportError(refusal)
    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"outlast.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
