"""Is the rebuild behind a risk said wherever the risk is?"""

from __future__ import annotations

from typing import Any

from outlast.report import risk

LOSS: dict[str, Any] = {"repair_hours": 10.41, "repair_measured": False, "repair_limit": "array.background.max_rate"}


def test_an_assumed_rebuild_is_said_with_its_limit_and_a_measured_one_as_such() -> None:
    assert risk.rebuild(LOSS) == "assuming a rebuild of 10.4 h (array.background.max_rate)"
    measured = LOSS | {"repair_measured": True, "repair_limit": None}
    assert risk.rebuild(measured) == "a rebuild taking 10.4 h as measured"
    assert risk.rebuild(measured, unloaded=True).endswith("as measured, partly without load")
    assert risk.rebuild(LOSS | {"repair_hours": None}) == ""
    # Results of older versions assumed the lower limit.
    old = {name: value for name, value in LOSS.items() if name != "repair_limit"}
    assert risk.rebuild(old).endswith("(array.background.min_rate)")


def _row(hours: float, limit: str | None) -> dict[str, Any]:
    loss = {"repair_hours": hours, "repair_measured": limit is None, "repair_limit": limit}
    return {f"array.data_loss.{name}": value for name, value in loss.items()}


def test_a_sweep_says_the_rebuilds_that_its_risk_assumes() -> None:
    limits = ("array.background.max_rate", "bandwidth of a member")
    rows = [_row(10.0, limits[0]), _row(20.0, limits[1]), _row(1.0, None), {}]
    found = risk.assumed(rows)
    assert found == {"runs": 2, "hours": [10.0, 20.0], "limits": list(limits)}
    summary = {"assumed_rebuild": found, "runs": 4, "sweep": {"figures": ["array.data_loss.per_year"]}}
    said = f"data loss: assuming a rebuild of 10.0 h to 20.0 h ({', '.join(limits)})"
    assert risk.note(summary) == f"{said} in the 2 runs of 4 without one"
    assert risk.note(summary | {"runs": 2}) == said
    assert risk.note(summary | {"sweep": {"figures": ["throughput.iops"]}}) == ""
    assert risk.assumed([_row(1.0, None), {}]) is None
    assert risk.note(summary | {"assumed_rebuild": None}) == ""
