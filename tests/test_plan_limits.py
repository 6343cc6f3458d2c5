"""Are numbers of a plan that no figure can be made of refused, and figures at the limits finite?"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast
from outlast import planning
from outlast.planning.fields import LIMITS
from outlast.planning.figures import figures_of, mean_time
from outlast.planning.trials import LayoutTrials, scaled_down, try_layout
from test_bad_input import refused
from test_plan import DRIVE, PLAN

NINES = int("9" * 400)
"""A whole number too large for a float."""
WRONG = (1e-320, 1e308, -1, NINES, -NINES, True, "1", 16**5000)


def table_with(place: str, value: Any) -> dict[str, Any]:
    """A plan in which one setting has this value."""
    table: dict[str, Any] = {
        "energy_price": 0.2,
        "drives": {"preset": "demo", "count": 6, "capacity": "960GB", "price": 100, "dwpd": 1, "watts": 10},
        "workload": {"written_per_day": "1TB", "size": "16KiB"},
    }
    name, _, setting = place.rpartition(".")
    (table[name] if name else table)[setting] = value
    if place == "drives.tbw":
        del table["drives"]["dwpd"]
    return table


@pytest.mark.parametrize("place", LIMITS)
def test_each_number_of_a_plan_is_refused_beyond_its_limits(place: str) -> None:
    least, most = LIMITS[place]
    for value in (*WRONG, math.nextafter(least, -math.inf), math.nextafter(most, math.inf)):
        if isinstance(value, float) and least <= value <= most:
            continue
        with pytest.raises(planning.PlanError) as refusal:
            planning.read(table_with(place, value))
        says = str(refusal.value)
        assert says.startswith(f"plan: {place} = ") and len(says) < 200, says
        assert says.endswith(f": must be a number within {least:g} to {most:g}")


@pytest.mark.parametrize("place", ["drives.capacity", "drives.tbw", "workload.written_per_day", "workload.size"])
def test_each_size_of_a_plan_is_refused_beyond_its_limits(place: str) -> None:
    for value in (NINES, f"{NINES}TB", 1e-320, 1e308, -1, 16**5000, "9" * 5000):
        with pytest.raises(planning.PlanError, match=f"^plan: {place} = .*: must be (at least|a )") as refusal:
            planning.read(table_with(place, value))
        assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("place", ["drives.count", "simulated"])
def test_each_count_and_time_of_a_plan_is_refused_beyond_its_limits(place: str) -> None:
    for value in (NINES, 16**5000, 1e-320, 1e308):
        with pytest.raises(planning.PlanError, match=f"^plan: {place} = .*: must be "):
            planning.read(table_with(place, value))


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[planning.PlanSpec, LayoutTrials]:
    """The plan, and what its first layout did."""
    folder = tmp_path_factory.mktemp("plan")
    (folder / "six.toml").write_text(PLAN)
    (folder / "drive.toml").write_text(DRIVE)
    spec = planning.read(folder / "six.toml")
    return spec, try_layout(spec, spec.layouts[0], scaled_down(spec))


@pytest.mark.parametrize("place", [place for place in LIMITS if not place.startswith("workload.")])
def test_figures_at_the_limits_are_finite(tried: tuple[planning.PlanSpec, LayoutTrials], place: str) -> None:
    spec, trials = tried
    for value in LIMITS[place]:
        found = figures_of(at(spec, {place: value}), spec.layouts[0], trials)
        json.dumps(found.to_dict(), allow_nan=False)
        assert found.drives_bought >= 6 and 0.0 <= found.loss_per_year <= 1.0


def test_figures_with_all_limits_at_once_are_finite(tried: tuple[planning.PlanSpec, LayoutTrials]) -> None:
    spec, trials = tried
    for end in (0, 1):
        for years in LIMITS["years"]:
            wanted = at(spec, {place: limits[end] for place, limits in LIMITS.items()} | {"years": years})
            json.dumps(figures_of(wanted, spec.layouts[0], trials).to_dict(), allow_nan=False)


def at(spec: planning.PlanSpec, values: dict[str, float]) -> planning.PlanSpec:
    """The plan with other numbers, those of its load as they are."""
    own: dict[str, Any] = {name: value for name, value in values.items() if "." not in name}
    drives: dict[str, Any] = {name[7:]: value for name, value in values.items() if name.startswith("drives.")}
    return replace(spec, drives=replace(spec.drives, **drives), **own)


def test_a_risk_below_every_number_is_refused() -> None:
    """Sixty-four copies outlive the largest number of hours."""
    spec = planning.read(table_with("drives.count", 64) | {"layout": [{"level": "raid1"}]})
    with pytest.raises(planning.PlanError, match=r"^drives\.mttf_hours = 1\.5e\+06: RAID-1 of 64 members has no mean"):
        mean_time(spec, spec.layouts[0], 1.0)


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("dwpd = 1", "dwpd = 1e-320", "drives.dwpd = 1e-320: must be a number within 0.001 to 10000"),
        ("price = 100", f"price = {NINES}", "…: must be a number within 1e-06 to 1e+12"),
        ('"960GB"', f'"{NINES}TB"', "…: must be at least 1GB and at most 10PB"),
        ("price = 100", "price = inf", "drives.price = inf: must be a number within"),
        ("years = 5", "years = nan", "years = nan: must be a number within 0.01 to 100"),
        ('"960GB"', "inf", "drives.capacity = inf: must be at least 1GB and at most 10PB"),
        ('"960GB"', "nan", "drives.capacity = nan: must be at least 1GB and at most 10PB"),
        ("spares = 1", f"chunk = {NINES}", "…: must be a whole number of 64 bits at most"),
        (
            "spares = 1",
            f"background = {{ max_rate = 0x{'f' * 5000} }}",
            "layout[1].background.max_rate = a number too long to be shown: must be a whole number of 64 bits at most",
        ),
        ("years = 5", f"years = 0x{'f' * 5000}", "years = a number too long to be shown: must be a number within"),
    ],
)
def test_numbers_without_measure_are_bad_input(
    outlast: Outlast, tmp_path: Path, wrong: str, right: str, says: str
) -> None:
    (tmp_path / "wrong.toml").write_text(PLAN.replace(wrong, right, 1))
    refused(outlast, tmp_path, "plan", "wrong.toml", says=["wrong.toml: ", says])
