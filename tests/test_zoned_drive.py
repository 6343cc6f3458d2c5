"""The drive with zones that is held against measurements: its preset, and what is claimed of it."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from outlast import api
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.model import Setting
from outlast.report import findings
from outlast.report.figure import amplification_by_cause

SCENARIOS = ROOT / "scenarios"
PAPER = paper("zn540")
SETTING = Setting(PAPER.modes["quick"], SCENARIOS / "zn540")


def test_the_preset_has_the_zones_that_the_drive_reports() -> None:
    whole = api.resolve("wd-zn540")
    geometry, zones = whole["device"]["geometry"], whole["device"]["zones"]
    planes = geometry["channels"] * geometry["dies_per_chip"] * geometry["planes_per_die"]
    assert planes * geometry["pages_per_block"] * 16 == 1077 * 1024
    assert (zones["count"], zones["max_active"], zones["size"]) == (904, 14, "2GiB")


def test_every_cell_is_a_part_of_the_preset_and_changes_no_time_of_it() -> None:
    whole = api.resolve("wd-zn540")
    for figure in PAPER.figures:
        for cell in figure.cells(SETTING):
            part = cells.prepare(cell, 1).scenario["device"]
            for section in ("timing", "controller", "ftl"):
                assert part[section] == whole["device"][section]
            assert part["zones"] == whole["device"]["zones"] | {"count": 40}


def test_a_finish_with_little_left_takes_a_program() -> None:
    (cell,) = [
        own
        for own in next(own for own in PAPER.figures if own.name == "finish").cells(SETTING)
        if own.labels["written"] == "1 block"
    ]
    scenario = cells.prepare(cell, 1).scenario
    changes = {
        "device.geometry.pages_per_block": 27,
        "workload.zoned.finish_at": 0.99985,
        "workload.zoned.requests": 6911,
    }
    zones = api.run(scenario, changes).summary["zones"]
    assert zones["finished"] == 1
    assert zones["finish_bytes"] == 4096
    assert abs(zones["latency_us"]["finish"]["mean"] / 2570 - 1) < 0.03


ZONED: dict[str, Any] = {
    "device": {
        "model": "zoned",
        "geometry": {"channels": 4, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 2}
        | {"blocks_per_plane": 24, "pages_per_block": 24, "page_size": "16KiB"},
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "667MB/s"},
        "ftl": {"mapping_unit": "4KiB"},
        "zones": {"count": 10, "max_active": 4},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
    "workload": {"zoned": {"size": "64KiB", "finish_at": 0.5, "read_percent": 20, "bytes": "60MiB"}},
}


def test_a_summary_of_a_zoned_drive_names_its_workload_and_what_finishes_write() -> None:
    summary = api.run(ZONED).summary
    assert findings.workload(summary) == "writes of 64KiB to zones, 20 % reads"
    parts = amplification_by_cause(summary["write_amplification"])
    assert parts["finish"] == summary["write_amplification"]["finish"] > 0.9
    assert sum(parts.values()) == pytest.approx(summary["write_amplification"]["total"])
    assert "rest of finished zones" in findings.amplification(summary)


def test_what_a_random_write_area_saves_is_no_negative_part() -> None:
    areas = {"size": "256KiB", "granularity": "64KiB", "zones": 4}
    zones = ZONED["device"]["zones"] | {"random_write": areas}
    loads = {"size": "16KiB", "rewrite_percent": 50, "bytes": "60MiB", "queue_depth": 4}
    scenario = ZONED | {"device": ZONED["device"] | {"zones": zones}, "workload": {"zoned": loads}}
    factors = api.run(scenario).summary["write_amplification"]
    parts = amplification_by_cause(factors)
    assert factors["random_write"] < -0.3
    assert parts["random_write"] == 0.0
    assert sum(parts.values()) == pytest.approx(factors["total"])
