"""Do `outlast ctl state` and the live page show zones, namespaces and reclaim unit handles, as they are?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import outlast
from outlast.serving.summary import lines
from test_live_page import complaints, opened

SHARED = Path(__file__).parent.parent / "scenarios" / "examples" / "namespaces.toml"
EMPTY = {"precondition.fill": "none", "precondition.overwrite": "none"}
ZONED: dict[str, Any] = {
    "extends": "demo",
    "name": "zoned",
    "device": {
        "geometry": {
            "channels": 1,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 192,
            "pages_per_block": 16,
        },
        "zones": {"count": 130, "max_active": 6},
        "ftl": {"capacity": None},
    },
    "workload": {"zoned": {"size": "16KiB", "requests": 1}},
    "precondition": {"fill": "sequential", "fill_fraction": 0.5, "overwrite": "none"},
}


def told(served: outlast.Served) -> list[str]:
    return list(lines(served.state(), served.metrics()))


def test_a_map_shows_the_state_of_every_zone() -> None:
    with outlast.serve(ZONED) as served:
        maps = [line.removeprefix("zones from ") for line in told(served) if line.startswith("zones from ")]
        zones = served.state()["machine"]["drives"][0]["zones"]
    assert maps == [f"0: {'#' * 64}", f"64: #{'.' * 63}", "128: .."]
    assert (zones["by_state"], zones["map"]["per_cell"]) == ({"empty": 65, "full": 65}, 1)
    assert zones["map"]["written"] == [100] * 65 + [0] * 65


def test_namespaces_and_handles_have_a_line_each() -> None:
    with outlast.serve(SHARED, EMPTY) as served:
        shown = told(served)
    assert [line.split(";")[0] for line in shown if line.startswith("namespace ")] == [
        "namespace 1: 128 MiB",
        "namespace 2: 96 MiB",
        "namespace 3 (read-only): 16 MiB",
    ]
    assert [line for line in shown if line.startswith("handle ")] == [
        f"handle {number}: 0.0 MiB written, 0.0 MiB moved" for number in range(3)
    ]


def count(browser: Any, selector: str) -> int:
    return len(browser.find_elements("css selector", selector))


def test_the_live_page_has_a_map_of_zones(browser: Any) -> None:
    with outlast.serve(ZONED, http=True) as served:
        opened(browser, served)
        assert complaints(browser) == []
        found = [count(browser, f'#zone-map .cell[data-state="{state}"]') for state in ("full", "empty")]
        assert found == [65, 65] and browser.find_element("id", "zones").is_displayed()
        assert not browser.find_element("id", "namespaces").is_displayed()


def test_the_live_page_has_tables_of_namespaces_and_handles(browser: Any) -> None:
    with outlast.serve(SHARED, EMPTY, http=True) as served:
        opened(browser, served)
        assert complaints(browser) == []
        assert [count(browser, f"#{rows} tr") for rows in ("namespace-rows", "handle-rows")] == [3, 3]
        assert not browser.find_element("id", "zones").is_displayed()
