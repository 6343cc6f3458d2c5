"""Plans of arrays: what a set of drives holds, how long it lasts and what it costs, layout by layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.planning.figures import LayoutFigures, figures_of
from outlast.planning.spec import LayoutChoice, PlanError, PlanLike, PlanSpec, read
from outlast.planning.trials import LayoutTrials, scaled_down, try_layout

__all__ = ["LayoutChoice", "LayoutFigures", "LayoutPlan", "PlanError", "PlanSpec", "plan", "read"]


@dataclass(frozen=True)
class LayoutPlan:
    """A plan and the figures of each of its layouts."""

    spec: PlanSpec
    scale: float
    """Capacity of a drive of the plan over that of the simulated one."""
    layouts: tuple[LayoutFigures, ...]

    def to_dict(self) -> dict[str, Any]:
        """The plan as `--json` prints it."""
        return {
            "plan": self.spec.to_dict(),
            "capacity_scale": self.scale,
            "layouts": [each.to_dict() for each in self.layouts],
        }

    def html(self) -> str:
        """The plan as a page that can be printed."""
        from outlast.planning.page import page

        return page(self)

    def report(self, file: str | Path) -> None:
        """Writes the page."""
        from outlast.output import check_file, write_file

        check_file(Path(file))
        write_file(Path(file), self.html())


def plan(spec: PlanLike, *, told: Callable[[str], None] | None = None) -> LayoutPlan:
    """Simulates each layout of a plan, healthy and beside a rebuild, and computes its figures.

    `spec` is the path of a plan file, or what one says as a dictionary. `told` is called with the name of each layout
    before it is simulated. Raises `PlanError` for a plan that says something impossible.
    """
    wanted = read(spec)
    small = scaled_down(wanted)
    found, scale = [], 1.0
    for layout in wanted.layouts:
        if told is not None:
            told(layout.name)
        trials: LayoutTrials = try_layout(wanted, layout, small)
        scale = wanted.drives.capacity / trials.member_bytes
        found.append(figures_of(wanted, layout, trials))
    return LayoutPlan(wanted, scale, tuple(found))
