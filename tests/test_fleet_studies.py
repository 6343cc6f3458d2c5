"""Do fleets begin where field studies, real clusters and measured drives end?"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from outlast import fleet
from outlast.fleet import calculators, drives
from outlast.fleet.drives import cycles_per_year, hazard_of
from outlast.fleet.lives import wilson
from outlast.fleet.together import shares_together, weekly_pair

ROOT = Path(__file__).parent.parent
YEAR = 8760.0


def test_the_weekly_pair_of_netapp() -> None:
    """FAST 2020: a group loses a drive with 0.0504 % in a week, with 9.39 % in the week after a loss. Calibrated."""
    said = {
        "preset": "netapp",
        "years": 10,
        "cluster": {"racks": 10, "nodes": 100, "drives": 18},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 10},
    }
    week, after = weekly_pair(fleet.planned(fleet.read(said)), 40)
    assert week == pytest.approx(0.000504, rel=0.1)
    assert after == pytest.approx(0.0939, rel=0.1)
    # Without the preset's neighbours weeks are independent.
    alone = {**said, "preset": "", "drive": {"afr": 0.001393}}
    week, after = weekly_pair(fleet.planned(fleet.read(alone)), 40)
    assert after < 3 * week


def test_the_shares_of_alibaba() -> None:
    """FAST 2021: 12.9 % of failures have another one in their node within half an hour, 18.2 % in their rack."""
    said = {
        "preset": "alibaba",
        "years": 4,
        "cluster": {"racks": 60, "nodes": 16, "drives": 12},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 1},
    }
    plan = fleet.planned(fleet.read(said))
    shares = shares_together(plan, lives=16)
    assert shares["node"] == pytest.approx(0.129, abs=0.02)
    assert shares["rack"] == pytest.approx(0.182, abs=0.02)
    chance = shares_together(plan, lives=16, shuffled=True)
    assert chance["node"] < 0.005 and chance["rack"] < 0.02


def test_rates_of_failure_by_age() -> None:
    """A Weibull distribution of shape 1 has one rate; steps of shape 2 add up to its cumulative hazard."""
    ages, rates = hazard_of(fleet.read({"drive": {"weibull_shape": 1.0, "weibull_scale": 100.0}}))
    assert rates == pytest.approx([1.0 / (100.0 * YEAR)] * len(ages))
    ages, rates = hazard_of(fleet.read({"drive": {"weibull_shape": 2.0, "weibull_scale": 10.0}}))
    # Until the end of the five years looked at, which no drive outlives.
    width = np.diff([*ages, 5.0 * YEAR])
    assert float(np.dot(width, rates)) == pytest.approx((5.0 / 10.0) ** 2, rel=1e-9)
    # A drive that reaches an age beyond e^−50 does not exist: 1e15 failures a year there would be candidates only.
    ages, rates = hazard_of(fleet.read({"drive": {"weibull_shape": 20.0, "weibull_scale": 1.0}, "years": 100}))
    assert ages[-1] < 1.22 * YEAR and max(rates) < 1.0
    ages, rates = hazard_of(fleet.read({"drive": {"ages": [0, 1, 5], "afr_by_age": [0.02, 0.005, 0.1]}}))
    assert ages == [0.0, YEAR, 5 * YEAR] and rates[1] < rates[0] < rates[2]


def test_wear_comes_from_a_result_of_a_run(tmp_path: Path) -> None:
    """Write amplification of a run → cycles a year → the age at which cells are worn."""
    result = outlast.run("demo", {"workload.synthetic.requests": 200000})
    result.write(tmp_path / "run")
    per_year = cycles_per_year(result.summary, dwpd=1.0)
    assert per_year is not None
    device, amplification = result.summary["device"], result.summary["write_amplification"]["total"]
    assert per_year == pytest.approx(365 * amplification * device["capacity_bytes"] / device["raw_bytes"])
    drive = {"afr": 0.005, "result": str(tmp_path / "run"), "endurance": 3000, "dwpd": 1.0, "wear_afr": 0.5}
    plan = fleet.planned(fleet.read({"drive": drive, "cluster": {"nodes": 2}}))
    assert plan.hazard[0][1] == pytest.approx(3000 / per_year * YEAR)
    assert plan.hazard[1][1] > 100 * plan.hazard[1][0]
    with pytest.raises(outlast.ScenarioError, match=r"repair\.result"):
        fleet.planned(fleet.read({"repair": {"result": str(tmp_path / "run")}}))


def test_results_say_how_fast_a_rebuild_is_and_what_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {"array": {"rebuild": {"rate_mib_s": 100.0}}, "reliability": {"uber_exact": 1e-15}}
    monkeypatch.setattr(drives, "_summary", lambda *_: found)
    both = drives.with_results(fleet.read({"repair": {"result": "run"}, "drive": {"result": "run"}}))
    # 100 MiB are 104.8576 MB.
    assert (both["repair"]["drive_mb_s"], both["drive"]["uber"]) == (pytest.approx(104.8576), 1e-15)
    for repair in ({"hours": 3.0}, {"drive_mb_s": 50.0}):
        with pytest.raises(outlast.ScenarioError, match=r"stands beside repair\.result"):
            drives.with_results(fleet.read({"repair": {"result": "run", **repair}}))
    found["reliability"]["uber_exact"] = 0.01
    with pytest.raises(outlast.ScenarioError, match=r"drive\.result = .*an UBER of 0\.01"):
        drives.with_results(fleet.read({"drive": {"result": "run"}}))


def test_rebuilds_take_as_long_as_bandwidths_allow() -> None:
    def hours(**tables: Any) -> float:
        whole = {
            "cluster": {"racks": 4, "nodes": 10, "drives": 10},
            "drive": {"capacity": "10TB", "used": 0.5},
        } | tables
        return fleet.planned(fleet.read(whole)).rebuild_hours

    # One drive is written: 5 TB at 100 MB/s.
    aligned = {"kind": "aligned", "apart": "node"}
    assert hours(placement=aligned, repair={"drive_mb_s": 100}) == pytest.approx(5e12 / 100e6 / 3600)
    # 399 others read six pieces and write one for each that is missing.
    spread = {"kind": "declustered", "pieces": 100, "apart": "node"}
    assert hours(placement=spread, repair={"drive_mb_s": 100}) == pytest.approx(7 * 5e12 / 399 / 100e6 / 3600, rel=1e-3)
    # Four racks move it all.
    limited = hours(placement=spread, repair={"drive_mb_s": 100, "rack_mb_s": 1000})
    assert limited == pytest.approx(7 * 5e12 / 4 / 1000e6 / 3600, rel=1e-3)


def test_rebuilds_at_one_time_share_what_limits_them() -> None:
    """Parts of the hours that each bandwidth would take; none of given hours, of serial repair, or without limits."""

    def shared(placement: str, **repair: Any) -> dict[str, Any] | None:
        cluster = {"racks": 4, "nodes": 10, "drives": 10}
        apart = {"kind": placement, "apart": "node"}
        return fleet.planned(fleet.read({"cluster": cluster, "placement": apart, "repair": repair})).sharing

    # 399 drives at 100 MB/s against four racks at 1 GB/s: the racks are a tenth as fast, nearly.
    found = shared("declustered", drive_mb_s=100, rack_mb_s=1000)
    assert found == {"parts": [pytest.approx(4000 / 39900), 0.0, 1.0], "is_spread": True}
    assert shared("aligned", drive_mb_s=100) is None
    # Seven parts through a node at 100 MB/s, one onto a drive at 50.
    assert shared("aligned", drive_mb_s=50, node_mb_s=100) == {"parts": [0.0, 1.0, 0.0], "is_spread": False}
    for repair in ({"hours": 3.0}, {"mode": "serial"}, {"contention": False}):
        assert shared("declustered", **repair) is None
    with pytest.raises(outlast.ScenarioError, match=r"repair\.rack_mb_s = 0\.001: makes a rebuild last .* at most 30"):
        shared("declustered", drive_mb_s=0.001, rack_mb_s=0.001)


@pytest.mark.parametrize(
    "repair",
    [
        {"drive_mb_s": 1.5, "order": "together"},
        {"drive_mb_s": 100, "rack_mb_s": 10, "order": "turn"},
        {"hours": 100, "mode": "serial", "distribution": "exponential", "order": "together"},
    ],
)
def test_busy_fleets_lose_groups_as_counting_says(repair: dict[str, Any]) -> None:
    """Rebuilds elsewhere slow those of a group: two rare-event methods and counting of whole fleets agree."""
    said = {
        "years": 3,
        "cluster": {"racks": 6, "nodes": 2, "drives": 4},
        "drive": {"afr": 0.3},
        "code": {"data": 2, "parity": 1},
        "placement": {"kind": "declustered", "pieces": 20, "apart": "node"},
        "repair": {"detection_hours": 0, **repair},
    }
    found = {}
    for engine in ("splitting", "biasing", "crude"):
        study = {"engine": engine, "lives": 600, "elasticities": False}
        found[engine] = fleet.study({**said, "study": study})["loss_by_year"][-1]["group"]
    counted = found.pop("crude")
    for rare in found.values():
        half = sum(each["high"] - each["mean"] for each in (rare, counted))
        assert abs(rare["mean"] - counted["mean"]) < half < 0.3 * counted["mean"]


def test_public_calculators_on_their_own_inputs() -> None:
    period, year = calculators.backblaze(0.00405, 6.5)
    assert (f"{period:.4e}", f"{year:.4e}") == ("1.3098e-13", "7.3549e-12")
    # Without overlap of periods a chain with the same mean repair finds more: 17+3 in a year.
    chain = outlast.models.loss_by(YEAR, 20, 3, 1 / outlast.models.failure_rate(0.00405), 156, parallel_repair=True)
    assert chain > year
    # `RADOS(EnterpriseDisk(), copies=3).p_failure()`: 1 − e^−(826e-9·8766), times (1 − e^−(826e-9·200·R))².
    recovery = 1 / 6 + 2e12 * 0.75 / (50e6 * 200) / 3600
    expected = -np.expm1(-826e-9 * 8766) * np.expm1(-826e-9 * 200 * recovery) ** 2
    assert calculators.ceph_rados(826.0) == pytest.approx(float(expected), rel=1e-9)


def test_the_third_copy_has_to_be_in_the_same_group() -> None:
    """A factor near eighty with the defaults of Ceph's model, as the guide says."""
    drive = {"capacity": 2e12, "used": 0.75, "afr": float(-np.expm1(-826e-9 * YEAR))}
    said = {
        "years": 1,
        "cluster": {"racks": 25, "nodes": 20, "drives": 1},
        "drive": drive,
        "code": {"kind": "copies", "copies": 3},
        "placement": {"kind": "declustered", "pieces": 200},
        "repair": {"detection_hours": 1 / 6, "hours": 1 / 24, "order": "turn"},
        "study": {"elasticities": False, "lives": 3},
    }
    lost = fleet.study(said)["loss_by_year"][0]["groups_lost"]["mean"]
    assert lost * 3 / 500 == pytest.approx(1.04e-13, rel=0.1)
    assert f"{calculators.ceph_rados(826.0):.3g}" == "8.55e-12"


def test_wilson_holds_what_was_counted() -> None:
    low, high = wilson(0, 100)
    assert low == 0.0 and 0.03 < high < 0.04
    low, high = wilson(50, 100)
    assert low < 0.5 < high and high - low == pytest.approx(0.192, abs=0.005)


@pytest.mark.parametrize("trials", [1, 3, 7, 100, 101, 997, 10**6, 10**9])
def test_wilson_holds_the_share_itself_where_all_or_none_are_lost(trials: int) -> None:
    assert wilson(trials, trials)[1] == 1.0 and wilson(0, trials)[0] == 0.0
    for lost in (0, 1, trials // 2, trials - 1, trials):
        low, high = wilson(lost, trials)
        assert 0.0 <= low <= lost / trials <= high <= 1.0


def test_the_table_of_die_repair_is_what_the_studies_give() -> None:
    """The guide's rows are those of `docs/make_fleet.py`, to the last digit."""
    made = runpy.run_path(str(ROOT / "docs" / "make_fleet.py"), run_name="made")
    rows = made["table"](made["studied"]())
    assert rows in (ROOT / "docs" / "guide" / "fleet.md").read_text(encoding="utf-8"), rows
