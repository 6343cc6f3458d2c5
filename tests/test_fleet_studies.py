"""Do fleets begin where field studies, real clusters and measured drives end?"""

from __future__ import annotations

import json
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


def cluster(folder: Path, **changes: Any) -> dict[str, Any]:
    """Files of a cluster of eight OSDs on four hosts, with a pool of two placement groups of three copies."""
    dump = {
        "pools": [{"pool": 1, "pool_name": "rbd", "size": 3}, {"pool": 2, "pool_name": "meta", "size": 2}],
        "osds": [{"osd": osd, "in": 1, "up": 1} for osd in range(8)],
        "erasure_code_profiles": {"two": {"k": "2", "m": "1", "plugin": "jerasure"}},
    }
    stats = [
        {"pgid": "1.0", "acting": [0, 2, 4], "stat_sum": {"num_bytes": 3000}},
        {"pgid": "1.1", "acting": [2, 4, 6], "stat_sum": {"num_bytes": 1000}},
        {"pgid": "1.2", "acting": [1, 2, 2147483647], "stat_sum": {"num_bytes": 1000}},
        {"pgid": "2.0", "acting": [1, 3], "stat_sum": {"num_bytes": 1}},
    ]
    tree = {
        "nodes": [
            {"id": -1, "type": "root", "children": [-20, -11]},
            {"id": -20, "type": "datacenter", "children": [-10]},
            {"id": -10, "type": "rack", "children": [-2, -3]},
            {"id": -11, "type": "rack", "children": [-4, -5]},
            *({"id": -2 - host, "type": "host", "children": [2 * host, 2 * host + 1]} for host in range(4)),
            *({"id": osd, "type": "osd"} for osd in range(8)),
        ]
    }
    files = {"osd.json": dump, "pg.json": {"pg_map": {"pg_stats": stats}}, "tree.json": tree} | changes
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return {
        "code": {"kind": "copies", "copies": 3},
        "placement": {
            "kind": "ceph",
            "osd_dump": str(folder / "osd.json"),
            "pg_dump": str(folder / "pg.json"),
            "osd_tree": str(folder / "tree.json"),
            "pool": "rbd",
        },
    }


def test_the_map_of_a_ceph_cluster_is_played(tmp_path: Path) -> None:
    plan = fleet.planned(fleet.read(cluster(tmp_path)))
    # OSDs 0, 2, 4, 6 hold data, each on a host of its own, two hosts in a rack.
    assert plan.layout.groups.tolist() == [0, 1, 2, 1, 2, 3]
    assert plan.layout.node == [0, 1, 2, 3] and plan.layout.rack == [0, 0, 1, 1]
    assert plan.layout.site == [0, 1] and plan.layout.piece_bytes == 2000.0
    said = cluster(tmp_path) | {"study": {"elasticities": False, "lives": 3}}
    result = fleet.study(said)
    assert result["fleet"]["groups"] == 2 and result["fleet"]["user_bytes"] == 4000.0


def test_a_piece_of_an_erasure_coded_pool_is_a_part_of_its_objects(tmp_path: Path) -> None:
    """Ceph counts the bytes of objects; with two pieces of data each has a half of them."""
    pool = {"pool": 1, "pool_name": "rbd", "size": 3, "type": 3, "erasure_code_profile": "two"}
    dump = {
        "pools": [pool],
        "osds": [{"osd": osd, "in": 1} for osd in range(8)],
        "erasure_code_profiles": {"two": {"k": "2", "m": "1"}},
    }
    said = cluster(tmp_path, **{"osd.json": dump}) | {"code": {"data": 2, "parity": 1}}
    plan = fleet.planned(fleet.read(said))
    assert plan.piece_bytes == 1000.0 and plan.data_pieces * plan.piece_bytes == 2000.0
    dump["erasure_code_profiles"] = {"two": {"k": "4", "m": "2"}}
    with pytest.raises(
        outlast.ScenarioError, match=r"osd\.json: erasure_code_profiles\.two\.k = \"4\": \[code\] has 2"
    ):
        fleet.planned(fleet.read(cluster(tmp_path, **{"osd.json": dump}) | {"code": {"data": 2, "parity": 1}}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"osd.json": "{"}, "osd.json: not JSON"),
        ({"osd.json": {"pools": 3}}, "osd.json: pools = 3: must be a list"),
        (
            {"osd.json": {"pools": [{"pool_name": "rbd", "size": 4, "pool": 1}]}},
            "pools[0].size = 4: the code has 3 pieces",
        ),
        (
            {"osd.json": {"pools": [{"pool_name": "x", "size": 3, "pool": 1}]}},
            'pools = "rbd": no such pool; there are x',
        ),
        ({"pg.json": {"pg_stats": [{"pgid": "one"}]}}, 'pg_stats[0].pgid = "one": must be a placement group'),
        ({"pg.json": {"pg_stats": [{"pgid": "1.0", "acting": [0, 1, 99]}]}}, "acting = [0, 1, 99]: has an OSD that"),
        (
            {"pg.json": {"pg_stats": [{"pgid": "1.0", "acting": [0, 1, True]}]}},
            "acting = [0, 1, true]: has an OSD that",
        ),
        ({"pg.json": {"pg_stats": []}}, "pg_stats = 0: no placement group of pool 1 has 3 pieces"),
        ({"tree.json": {"nodes": []}}, "nodes = 0: an OSD with data is in no host"),
        ({"tree.json": {"nodes": [{"type": 1}]}}, "nodes[0].type = 1: must be the type of a bucket"),
        (
            {"tree.json": {"nodes": [{"id": -1, "type": "host"}, {"id": -1, "type": "host"}]}},
            "nodes[1].id = -1: is the number of another bucket, too",
        ),
        (
            {"tree.json": {"nodes": [{"id": -1 - host, "type": "host", "children": [2]} for host in range(2)]}},
            "nodes[1].children = 2: is a child of -1, too",
        ),
        (
            {"tree.json": {"nodes": [{"id": -1, "type": "rack", "children": [-1, 0, 2, 4, 6]}]}},
            "nodes = 0: an OSD is beneath more than 32 buckets",
        ),
        (
            {"osd.json": {"pools": [{"pool_name": "rbd", "size": 3, "pool": 1, "type": 2}]}},
            "pools[0].type = 2: must be 1 (replicated) or 3 (erasure)",
        ),
        (
            {"osd.json": {"pools": [{"pool_name": "rbd", "size": 3, "pool": 1, "type": 3}]}},
            "pools[0].type = 3: [code] has 1 pieces with data",
        ),
        (
            {"osd.json": {"pools": [{"pool_name": "rbd"}, {"pool_name": "rbd"}]}},
            'pools[1].pool_name = "rbd": is the name of another pool, too',
        ),
        (
            {"pg.json": {"pg_stats": [{"pgid": "1.0", "acting": [0, 2, 4]}] * 2}},
            'pg_stats[1].pgid = "1.0": is listed twice',
        ),
        (
            {"pg.json": {"pg_stats": [{"pgid": "1.0", "acting": [0, 2, 4], "stat_sum": {"num_bytes": 1e150}}]}},
            "pg_stats[0].stat_sum.num_bytes = 1e+150: must be a number from 0 to 1e+18",
        ),
        ({"tree.json": "[" * 3000}, "tree.json: "),
        ({"osd.json": "NaN"}, "osd.json: NaN is no number"),
    ],
)
def test_maps_that_are_wrong_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(outlast.ScenarioError) as error:
        fleet.planned(fleet.read(cluster(tmp_path, **changes)))
    assert message in str(error.value) and "\n" not in str(error.value)


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
    """Parts of the hours that each bandwidth would take; none of given hours, of serial repair, of drives without limits."""

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


@pytest.mark.parametrize(
    "repair",
    [
        {"drive_mb_s": 1.5, "order": "together"},
        {"drive_mb_s": 100, "rack_mb_s": 10, "order": "turn"},
        {"hours": 100, "mode": "serial", "distribution": "exponential", "order": "together"},
    ],
)
def test_busy_fleets_lose_groups_as_counting_says(repair: dict[str, Any]) -> None:
    """Rebuilds elsewhere slow those of a group, which two rare-event methods and counting of whole fleets agree about."""
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
