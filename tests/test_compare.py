"""Does `outlast.compare` say in Python what the command says, of runs and of measured drives?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import outlast as api
from conftest import Outlast
from outlast import OutputError
from sample import sample_result
from test_notebook import parsed

FIO = {
    "fio version": "fio-3.33",
    "jobs": [{"jobname": "disk", "read": {"total_ios": 10, "iops": 5000.0, "bw_bytes": 20480000, "runtime": 2}}],
}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """File of fio's measurement of a drive."""
    path = tmp_path / "drive.json"
    path.write_text(json.dumps(FIO))
    return path


def test_it_is_what_the_command_prints(outlast: Outlast, tiny_result: Path, weak_result: Path) -> None:
    said = json.loads(outlast("compare", str(tiny_result), str(weak_result), "--json").stdout)
    found = api.compare(str(tiny_result), api.load(weak_result))
    assert said == json.loads(json.dumps(found.differences))
    assert said["figures"] and said["settings"]
    assert found.table("settings").height == len(said["settings"])
    assert set(found.table()["figure"]) <= set(said["figures"])
    assert "write amplification" in parsed(found).words


def test_a_measured_drive_beside_a_run(outlast: Outlast, measured: Path, tiny_result: Path) -> None:
    said = json.loads(outlast("compare", str(measured), str(tiny_result), "--json").stdout)
    found = api.compare(measured, tiny_result)
    assert said == json.loads(json.dumps(found.differences))
    assert found.names == said["names"]
    iops = found.table().filter(found.table()["figure"].str.ends_with("read.iops"))
    assert iops[found.names[0]][0] == 5000.0 and iops[found.names[1]][0] > 0
    assert "read.iops" in parsed(found).words
    for refused in (lambda: found.plot, lambda: found.report(measured.parent / "page.html")):
        with pytest.raises(OutputError, match=r"of a comparison with a measured drive: there are none"):
            refused()
    assert not (measured.parent / "page.html").exists()


def test_two_measurements_of_one_name_are_told_apart(measured: Path) -> None:
    both = api.compare(measured, measured)
    assert len(set(both.names)) == 2 and both.table().columns == ["figure", *both.names]


def test_fewer_than_two_and_what_is_no_result_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"^a comparison of 1: it takes two results or more$"):
        api.compare(sample_result("alone"))
    with pytest.raises(OutputError, match="cannot read a result"):
        api.compare(tmp_path / "none", tmp_path / "neither")


def test_it_is_the_function_whatever_was_imported() -> None:
    import outlast.comparison
    import outlast.differences  # noqa: F401 - a module of the name `compare` would hide the function

    assert callable(api.compare) and "compare" in dir(api)
