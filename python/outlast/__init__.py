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
        scenario_schema,
        show_preset,
        snapshot,
        trace_convert,
        trace_info,
        validate,
    )
    from outlast.errors import OutputError
    from outlast.result import Figures, Result, load
    from outlast.sweeps import Sweep, load_sweep, sweep

_HOMES = {
    "__version__": "outlast._core",
    "DeviceError": "outlast._core",
    "InternalError": "outlast._core",
    "ModelError": "outlast._core",
    "OutlastError": "outlast._core",
    "ScenarioError": "outlast._core",
    "WorkloadError": "outlast._core",
    "OutputError": "outlast.errors",
    "Figures": "outlast.result",
    "Result": "outlast.result",
    "Sweep": "outlast.sweeps",
    "load": "outlast.result",
    "load_sweep": "outlast.sweeps",
    "presets": "outlast.api",
    "resolve": "outlast.api",
    "run": "outlast.api",
    "scenario_schema": "outlast.api",
    "show_preset": "outlast.api",
    "snapshot": "outlast.api",
    "sweep": "outlast.sweeps",
    "trace_convert": "outlast.api",
    "trace_info": "outlast.api",
    "validate": "outlast.api",
}

__all__ = [
    "DeviceError",
    "Figures",
    "InternalError",
    "ModelError",
    "OutlastError",
    "OutputError",
    "Result",
    "ScenarioError",
    "Sweep",
    "WorkloadError",
    "__version__",
    "load",
    "load_sweep",
    "presets",
    "resolve",
    "run",
    "scenario_schema",
    "show_preset",
    "snapshot",
    "sweep",
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
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
