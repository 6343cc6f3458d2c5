"""Is the page of results made of the kept data, and is each error that of its two numbers?"""

from __future__ import annotations

import re
import runpy
import sys
from statistics import median
from typing import Any

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def make() -> dict[str, Any]:
    # Its neighbours are found by programs that run there.
    sys.path.insert(0, str(DOCS))
    return runpy.run_path(str(DOCS / "make_results.py"))


def test_the_page_is_made_of_the_kept_data(make: dict[str, Any]) -> None:
    assert make["page"](make["all_points"]()) == (DOCS / "results.md").read_text()


def test_the_page_has_every_table_of_real_drives(make: dict[str, Any]) -> None:
    """The tables of drives.md, which another program makes, have the same numbers."""
    points = {(own["subject"], own["point"]): own for own in make["all_points"]() if own["group"] == "drives"}
    text = (DOCS / "drives.md").read_text()
    rows = re.findall(
        r"^\| (.+?) \| ([\d.]+ GiB) \| (.+?) \| ([\d.]+) \| ([\d.]+) \| ([+-][\d.]+) % \| (\w+) \|$", text, re.M
    )
    assert len(rows) == 18
    for drive, fill, workload, measured, simulated, off, kind in rows:
        own = points[drive, f"write amplification, {workload}, {fill}"]
        assert (f"{own['published']:.3f}", f"{own['ours']:.3f}") == (measured, simulated)
        assert f"{100 * make['error'](own):+.1f}" == off
        assert own["kind"] == kind
    cells = text.partition("<!-- latency")[2].partition("<!-- end of latency")[0].count(" / ")
    assert sum(own["unit"] == "µs" for own in points.values()) == cells


def test_fits_are_apart_from_predictions(make: dict[str, Any]) -> None:
    points = make["all_points"]()
    assert {own["kind"] for own in points} == {"predicted", "fitted", "closed form"}
    line = next(row for row in make["summary"](points) if row.startswith("| Real drives | predicted |"))
    own = [point for point in points if (point["group"], point["kind"]) == ("drives", "predicted")]
    errors = [abs(point["ours"] / point["published"] - 1) for point in own]
    within = sum(point["within"] for point in own)
    assert f"| {len(own)} | {100 * median(errors):.1f} % |" in line
    assert line.endswith(f"| {within} of {len(own)} |")


def test_a_tolerance_is_that_of_its_point(make: dict[str, Any]) -> None:
    point = make["_point"]
    for ours, room, within in ((1.02, 0.025, True), (1.03, 0.025, False), (1.9, 1.0, True), (0.4, 1.0, False)):
        assert point("drives", "d", "p", "", 1.0, ours, "predicted", room)["within"] is within


def test_a_part_of_a_group_is_refused_and_other_groups_stay(make: dict[str, Any]) -> None:
    kept = make["kept_points"]
    chapter: dict[str, Any] = {"figures": []}
    with pytest.raises(SystemExit, match="reproduction of placement: it lacks cachelib-fdp"):
        kept({"papers": [{"paper": "warp"} | chapter]}, [])
    before = [{"group": "zones", "point": 1}, {"group": "heat", "point": 2}, {"group": "fleets", "point": 3}]
    found = kept({"papers": [{"paper": "heat"} | chapter]}, before)
    assert [point["point"] for point in found if point["group"] in ("zones", "heat")] == [1]


def test_fleets_are_computed_again_and_say_what_was_fitted(make: dict[str, Any]) -> None:
    again = {(own["subject"], own["point"]): own for own in make["results_fleet"].points()}
    on_page = [own for own in make["all_points"]() if own["group"] == "fleets"]
    assert {(own["subject"], own["point"]) for own in on_page} == set(again)
    for own in on_page:
        new = again[own["subject"], own["point"]]
        assert new["ours"] == pytest.approx(own["ours"], rel=1e-5)
        assert (new["kind"], new["within"]) == (own["kind"], own["within"])
    assert {own["kind"] for own in on_page} == {"fitted", "predicted", "closed form"}
