"""Do reports draw what is in an SLC cache, how warm a drive is, what it draws, and when it is throttled?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import outlast
from outlast.report import conditions, render

ENERGY = {"active_watts": 3.0, "idle_watts": 1.0}
WARM = {
    "controller_to_case": 10.0,
    "case_to_air": 10.0,
    "controller_capacity": 1e-4,
    "case_capacity": 1e-4,
    "every": "100us",
    "throttle": [{"from": 60.0, "until": 55.0, "rate": "20MB/s"}],
}
CACHE = {"dynamic_share": 0.5, "native_bits_per_cell": 3, "read": "25us", "program": "100us"}


def test_spans_of_throttling_that_follow_each_other_are_joined() -> None:
    table = {"at_s": [1.0, 2.0, 3.0, 4.0, 5.0], "throttled_share": [0.0, 1.0, 0.6, 0.2, 0.9]}
    assert [(start, end) for start, end, _ in conditions.throttled(table)] == [(1.0, 3.0), (4.0, 5.0)]
    assert conditions.throttled({"at_s": [1.0]}) == []


def test_an_slc_cache_is_drawn_in_bytes() -> None:
    table = {"at_s": [1.0, 2.0], "used_bytes": [2**30, 3 * 2**30], "valid_bytes": [2**30, 2**29]}
    figure = conditions.slc_cache(table | {"capacity_bytes": [4 * 2**30] * 2})
    assert figure is not None
    assert {own["name"]: own["y"] for own in figure.data} == {
        "used": [1.0, 3.0],
        "valid": [1.0, 0.5],
        "may hold": [4.0, 4.0],
    }
    assert conditions.slc_cache({}) is None and conditions.power({"at_s": [1.0], "watts": [2.0]}) is None


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> outlast.Result:
    """A drive with a cache that gets warm."""
    changes = {
        "device.geometry": {
            **{"channels": 2, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 1},
            **{"blocks_per_plane": 40, "pages_per_block": 48, "page_size": "4KiB"},
        },
        "device.ftl": {"capacity": "10MiB"},
        "device.slc_cache": CACHE,
        "device.energy": ENERGY,
        "device.heat": WARM,
        "workload.synthetic": {"pattern": "sequential", "read_percent": 0, "size": "4KiB", "requests": 8000},
        "precondition": {"fill": "none", "overwrite": "none"},
        "run": {"warm_up": "0s", "window": "10ms", "utilisation": True},
    }
    return outlast.run("demo", changes)


def test_the_report_of_a_drive_with_a_cache_that_gets_warm_shows_both(result: outlast.Result) -> None:
    page = render([result])
    for name in ("slc-cache", "temperature", "power"):
        assert f'id="{name}"' in page, name
    energy = dict(result.tables["energy_over_time"])
    share = np.asarray(energy["throttled_share"])
    at = np.asarray(energy["at_s"])
    spans = np.diff(np.append(0.0, at))
    whole = result.summary["energy"]["heat"]["throttled_share"]
    assert float((share * spans).sum() / at[-1]) == pytest.approx(whole, abs=0.02) and 0 < whole < 1
    figure = conditions.temperature(energy, [60.0])
    assert figure is not None and [own["name"] for own in figure.data] == ["controller", "case", "throttles from"]
    assert figure.layout["shapes"]


def test_other_reports_have_none_of_these(tmp_path: Path) -> None:
    plain = outlast.run("demo", {"workload.synthetic.duration": "20ms", "run.utilisation": True})
    page = render([plain])
    assert all(f'id="{name}"' not in page for name in ("slc-cache", "temperature", "power"))
