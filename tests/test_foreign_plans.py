"""Do plans, fleet files, dumps of a cluster and repeats end in what they say or in one line, whatever they hold?"""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import ROOT
from disturbed import MANY, disturb
from outlast import foreign, tables
from outlast.fleet import ceph, reading
from outlast.planning import spec
from outlast.repeats_compared import load_repeats
from test_foreign_toml import refused

PLAN = """
[drives]
preset = "solidigm-p5336-7680g"
count = 8
price = 800

[workload]
written_per_day = "4TB"
"""
OSDS: dict[str, Any] = {
    "pools": [{"pool": 1, "pool_name": "data", "size": 3, "type": 3}],
    "osds": [{"osd": number, "in": 1, "up": 1} for number in range(6)],
}
GROUPS: dict[str, Any] = {
    "pg_map": {
        "pg_stats": [
            {"pgid": f"1.{number:x}", "up": [number, number + 1, number + 2], "stat_sum": {"num_bytes": 4096}}
            for number in range(4)
        ]
    }
}


@pytest.fixture(autouse=True)
def _toml_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON has all the values of TOML and more, and there is something that writes it: files of these tests have it."""
    monkeypatch.setattr(foreign, "toml_of", foreign.json_of)


@MANY
@given(data=st.data())
def test_any_plan_is_read_or_refused(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    said = copy.deepcopy(tomllib.loads(PLAN))
    disturb(data, said)
    file = tmp_path_factory.getbasetemp() / "plan.toml"
    file.write_text(json.dumps(said))
    try:
        found = spec.read(file)
    except outlast.OutlastError as error:
        refused(error)
    else:
        assert found.layouts and found.years > 0


@pytest.mark.parametrize("name", sorted(file.name for file in (ROOT / "scenarios" / "fleet").glob("*.toml")))
@MANY
@given(data=st.data())
def test_any_fleet_file_is_read_or_refused(
    data: st.DataObject, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = tomllib.loads((ROOT / "scenarios" / "fleet" / name).read_text(encoding="utf-8"))
    disturb(data, said)
    file = tmp_path_factory.getbasetemp() / "fleet.json"
    file.write_text(json.dumps(said))
    try:
        reading.read(file)
    except outlast.OutlastError as error:
        refused(error)


@MANY
@given(data=st.data())
def test_any_dump_of_a_cluster_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = [copy.deepcopy(OSDS), copy.deepcopy(GROUPS)]
    disturb(data, data.draw(st.sampled_from(whole)))
    files = [tmp_path_factory.getbasetemp() / name for name in ("osd.json", "pg.json")]
    for file, said in zip(files, whole, strict=True):
        file.write_text(json.dumps(said))
    try:
        found = ceph.read(files[0], files[1], None, "data", 3, 1)
    except outlast.OutlastError as error:
        refused(error)
    else:
        assert found.groups.size % 3 == 0 and (found.groups < len(found.osds)).all()


def test_any_summary_of_repeats_is_read_or_refused(tmp_path: Path) -> None:
    whole = {"name": "a run", "figures": ["x"]}
    (tmp_path / "repeats.parquet").write_bytes(tables.packed({"seed": [1, 2], "x": [1.0, 2.0]}))

    @MANY
    @given(st.data())
    def reads(data: st.DataObject) -> None:
        said = copy.deepcopy(whole)
        disturb(data, said)
        (tmp_path / "repeats.json").write_text(json.dumps(said))
        try:
            assert load_repeats(tmp_path).columns.keys() == {"seed", "x"}
        except outlast.OutlastError as error:
            refused(error)

    reads()
