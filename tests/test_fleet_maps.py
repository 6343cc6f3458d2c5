"""Are maps of real clusters read as Ceph writes them, and refused where they are wrong?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast import fleet


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
