"""Fits a preset to black-box measurements of a drive: what `outlast fit` does.

`measured`, `table` and `fio` turn files into rows: a load, its results, and the uncertainty of each figure. `observe`
lists which stage uses which figure, and `parameters` is the one list of fitted numbers. From numbers and a load,
`machine` makes a small scenario (decision 0070 says what it must keep of a real drive) and `closed` a closed form of
the same drive. `solve` corrects the closed form by runs of the scenario, and knows nothing of drives (decision 0064).
`choices` has what is chosen from a list: the policy of collection and the pacing of host writes. `plan` writes job
files and never accesses a device.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.products.fit.engine import Fit

__all__ = ["fit"]


def fit(
    file: str | Path,
    *,
    jobs: int = 1,
    points: str | Path = "out/fit",
    tell: Callable[[str, int, int], None] | None = None,
) -> Fit:
    """Fits a drive to the measurements that `file` names.

    Simulates in `jobs` processes and keeps every run in `points`; `tell` is told the stage, and how many of its runs
    are done.
    """
    from outlast.errors import ScenarioError
    from outlast.products.fit.engine import fit as fitted
    from outlast.products.fit.measured import read
    from outlast.products.fit.rows import MeasuredError
    from outlast.products.fit.runs import Runs

    measured = read(file)
    try:
        with Runs(Path(points), jobs, tell) as runs:
            return fitted(measured, runs)
    except MeasuredError:
        raise
    except ScenarioError as error:
        raise MeasuredError(f"{measured.source}: the drive that is fitted cannot be simulated: {error}") from error
