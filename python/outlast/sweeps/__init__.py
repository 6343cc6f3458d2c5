"""Sweeps: one scenario at many points of its settings, each repeated under several seeds.

`spec` reads what a sweep file says, `draw` places the points, `plan` makes their runs and checks each, `outlast.points`
runs them, and `result` is what came of it: a row for each run, means with confidence intervals, a Pareto front.
"""

from __future__ import annotations

from outlast.sweeps.result import Sweep, load_sweep
from outlast.sweeps.run import sweep

__all__ = ["Sweep", "load_sweep", "sweep"]
