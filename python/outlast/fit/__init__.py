"""From black-box measurements of a drive to a preset: what `outlast fit` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.fit.engine import Fit

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
    from outlast.fit.engine import fit as fitted
    from outlast.fit.measured import read
    from outlast.fit.runs import Runs

    measured = read(file)
    with Runs(Path(points), jobs, tell) as runs:
        return fitted(measured, runs)
