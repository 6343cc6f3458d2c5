"""The drive with zones that is held against measurements: its preset, and what is claimed of it."""

from __future__ import annotations

from conftest import ROOT
from outlast import api
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.model import Setting

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
