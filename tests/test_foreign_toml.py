"""Do measured.toml, data of papers and notes on recoveries end in what they say or in one line, whatever they hold?"""

from __future__ import annotations

import copy
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import ROOT
from disturbed import MANY, disturb
from outlast import foreign
from outlast.products.fit import measured
from outlast.products.reproduce.data import load
from outlast.products.torture import twice

PAPER = ROOT / "python" / "outlast" / "products" / "reproduce" / "flexible"


@pytest.fixture(scope="module", autouse=True)
def _toml_as_json() -> Iterator[None]:
    """JSON has all the values of TOML and more, and there is something that writes it: files of these tests have it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "toml_of", foreign.json_of)
        yield


MEASURED = json.loads("""{
    "name": "a drive", "capacity": "16GiB",
    "row": [
        {"workload": "randread", "block": "4KiB", "depth": 8, "iops": 90000, "p50": "80us", "steady": "true"},
        {"workload": "write", "block": "128KiB", "depth": 4, "iops": 3000, "user_bytes": "8GiB"}
    ],
    "sheet": {"read": 500, "random_write": 20000, "margin": 0.1},
    "known": {"device.geometry.channels": 4, "device": {"ftl": {"over_provisioning": 0.1}}},
    "noise": {"iops": 0.02}
}""")


def refused(error: Exception) -> None:
    """One line, without what a terminal would take for a command."""
    assert len(str(error).splitlines()) == 1 and "\x1b" not in str(error), str(error)


def test_the_measurement_that_is_disturbed_is_one(tmp_path: Path) -> None:
    whole = copy.deepcopy(MEASURED)
    del whole["noise"]
    assert len(measured.of_text("measured.toml", json.dumps(whole), tmp_path).rows) == 4


@MANY
@given(data=st.data())
def test_any_measurement_of_a_drive_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = copy.deepcopy(MEASURED)
    disturb(data, said)
    try:
        found = measured.of_text("measured.toml", json.dumps(said), tmp_path_factory.getbasetemp())
    except outlast.OutlastError as error:
        refused(error)
    else:
        assert found.rows and found.capacity > 0


def test_any_data_of_a_paper_is_read_or_refused(tmp_path: Path) -> None:
    whole = {file.name: tomllib.loads(file.read_text(encoding="utf-8")) for file in PAPER.glob("*.toml")}
    for name, said in whole.items():
        (tmp_path / name).write_text(json.dumps(said))
    assert load(tmp_path).figures

    @MANY
    @given(st.data())
    def reads(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(whole)))
        said: dict[str, Any] = copy.deepcopy(whole[name])
        disturb(data, said)
        (tmp_path / name).write_text(json.dumps(said))
        try:
            load(tmp_path)
        except outlast.OutlastError as error:
            refused(error)
            assert f"{tmp_path}/" in str(error), str(error)
        (tmp_path / name).write_text(json.dumps(whole[name]))

    reads()


@MANY
@given(data=st.data())
def test_any_note_on_a_recovery_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "recoveries"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    about = {"of": "contract@7", "mark": None, "marks": ["a", "b"]}
    disturb(data, about)
    (folder / "1.json").write_text(json.dumps(about))
    unused: Any = None
    with pytest.raises(outlast.OutlastError) as error:
        twice.subject("twice/1@3", unused, folder)
    refused(error.value)
