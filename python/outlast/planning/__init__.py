"""Plans of arrays: what a set of drives holds, how long it lasts and what it costs, layout by layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import ScenarioError
from outlast.plain_values import place_of
from outlast.planning.fields import PlanError
from outlast.planning.figures import LayoutFigures, figures_of
from outlast.planning.spec import LayoutChoice, PlanLike, PlanSpec, read
from outlast.planning.trials import LayoutTrials, check_layout, scaled_down, try_layout

__all__ = ["LayoutChoice", "LayoutFigures", "LayoutPlan", "PlanError", "PlanSpec", "plan", "read"]


@contextmanager
def _named(source: str, place: str) -> Iterator[None]:
    """Errors of a simulation as those of the plan that it is of: its settings by the plan's names for them."""
    try:
        yield
    except (PlanError, ScenarioError) as error:
        text = str(error).removeprefix("overrides: ")
        for simulated, planned in (
            ("workload.synthetic.rate_iops", "workload.written_per_day, as requests a second"),
            ("workload.synthetic.", "workload."),
            ("array.", f"{place}."),
        ):
            if text.startswith(simulated):
                raise PlanError(f"{source}: {planned}{text.removeprefix(simulated)}") from error
        raise PlanError(f"{source}: {text if text.startswith('drives.') else f'{place}: {text}'}") from error


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

        path = place_of(file)
        check_file(path)
        write_file(path, self.html())


def plan(spec: PlanLike, *, told: Callable[[str], None] | None = None) -> LayoutPlan:
    """Simulates each layout of a plan, healthy and beside a rebuild, and computes its figures.

    `spec` is the path of a plan file, or what one says as a dictionary. `told` is called with the name of each layout
    before it is simulated. Raises `PlanError` for a plan that says something impossible.
    """
    wanted = read(spec)
    source = "plan" if isinstance(spec, Mapping) else str(spec)
    with _named(source, "drives.preset"):
        small = scaled_down(wanted)
    for index, layout in enumerate(wanted.layouts):
        with _named(source, f"layout[{index}]"):
            check_layout(wanted, layout, small)
    found, scale = [], 1.0
    for index, layout in enumerate(wanted.layouts):
        if told is not None:
            told(layout.name)
        with _named(source, f"layout[{index}]"):
            trials: LayoutTrials = try_layout(wanted, layout, small)
            scale = wanted.drives.capacity / trials.member_bytes
            found.append(figures_of(wanted, layout, trials))
    return LayoutPlan(wanted, scale, tuple(found))
