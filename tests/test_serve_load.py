"""Does `outlast serve --load` make a drive collect, beside other clients, and is it refused where it cannot write?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast
from outlast import ControlError, serve
from patience import eventually
from served import SMALL, Served, needs, serving

FULL = ["--set", "precondition.fill=sequential", "--set", "precondition.overwrite=random"]
"""Time in service until the drive collects."""
LOADED = ["--clock", "virtual", "--name", "loaded", "--load", "20000"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the scenario of a small drive."""
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


@pytest.fixture
def loaded(folder: Path) -> Iterator[Served]:
    """A full drive with the load."""
    with serving(folder, "small.toml", *FULL, *LOADED) as served:
        yield served


def units(outlast: Outlast) -> dict[str, int]:
    (drive,) = json.loads(outlast("ctl", "loaded", "state", "--json").stdout)["machine"]["drives"]
    found: dict[str, int] = drive["units"]
    return found


def ends(outlast: Outlast) -> dict[str, Any]:
    told = json.loads(outlast("ctl", "loaded", "metrics").stdout)
    return {each["op"]: each for each in told["operations"]}


def test_it_writes_and_the_drive_collects(loaded: Served, outlast: Outlast) -> None:
    before = units(outlast)
    assert eventually(lambda: units(outlast)["host"] > before["host"] + 1000)
    assert eventually(lambda: units(outlast)["gc"] > before["gc"])
    assert ends(outlast)["read"]["count"] > 0


@needs("nbdcopy")
def test_other_clients_are_served_meanwhile(loaded: Served, outlast: Outlast) -> None:
    before = units(outlast)["host"]
    loaded.run("nbdcopy", loaded.uri, "copy.img")
    assert (loaded.folder / "copy.img").stat().st_size == 96 << 20
    assert units(outlast)["host"] > before


def test_it_goes_on_after_a_loss_of_power(loaded: Served, outlast: Outlast) -> None:
    outlast("ctl", "loaded", "power", "cut")
    before = units(outlast)["host"]
    assert eventually(lambda: units(outlast)["host"] > before + 1000)


def test_a_drive_with_zones_is_refused(outlast: Outlast) -> None:
    few = ["--set", "device.zones.count=40", "--set", "device.geometry.pages_per_block=27"]
    done = outlast("serve", "wd-zn540", *few, "--clock", "virtual", "--load", check=False)
    assert done.returncode != 0
    assert "load: the drive has zones, which take no random writes" in done.stderr


def test_it_is_there_from_python(folder: Path) -> None:
    with serve(folder / "small.toml", load=5000.0) as served:

        def host_units() -> int:
            (drive,) = served.state()["machine"]["drives"]
            return int(drive["units"]["host"])

        assert eventually(lambda: host_units() > 100)


@pytest.mark.parametrize("rate", [0, -1.0, 1e9, float("nan"), "fast"])
def test_a_rate_that_no_client_can_send_is_refused(folder: Path, rate: Any) -> None:
    with pytest.raises(ControlError, match="must be a rate from 1 to 100000 requests a second"):
        serve(folder / "small.toml", load=rate)
