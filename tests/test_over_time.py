"""Do the tables of `run.utilisation` add up, of arrays too, and does the report draw them?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from conftest import Outlast, summary_of
from outlast.report import render
from outlast.report.states import busy_map, histogram_map, victims
from test_bad_input import refused
from test_report import drawn, opened, own_html

CHARTS = ("dies-busy", "channels-busy", "superblocks-over-time", "blocks-over-time", "victims")


def spans(table: Any) -> Any:
    """The time for which each row was busy, in seconds."""
    return np.asarray(table["busy"]) * (np.asarray(table["end_s"]) - np.asarray(table["start_s"]))


def test_what_is_read_back_adds_up_to_the_figures(causes_result: Path) -> None:
    tables, summary = outlast.load(causes_result).tables, summary_of(causes_result)
    span = summary["time"]["simulated_s"]
    dies = tables["dies_over_time"]
    shares = np.bincount(np.asarray(dies["die"], dtype=np.int64), weights=spans(dies)) / span
    assert shares.mean() == pytest.approx(summary["queue"]["die_utilisation"]["mean"], rel=1e-9)
    assert summary["queue"]["utilisation_by_die"] == pytest.approx(shares, rel=1e-9)
    parts = tables["controller_over_time"]
    for name in ("link_in", "link_out", "master"):
        rows = np.asarray(parts["part"]) == name
        assert spans(parts)[rows].sum() / span == pytest.approx(summary["queue"]["controller"][name], rel=1e-9)
    levels = np.asarray(parts["busy"])[np.asarray(parts["part"]) == "write_buffer"]
    assert len(levels)
    assert ((levels >= 0) & (levels <= 1)).all()
    assert len(tables["victims"]["at_s"]) == summary["gc"]["victims"]


def test_each_member_of_an_array_has_its_own_rows(outlast: Outlast, tmp_path: Path) -> None:
    asked = (
        "run.utilisation=true",
        "workload.synthetic.duration=300ms",
        "run.warm_up=0s",
        "precondition.overwrite=none",
    )
    outlast("run", "array-raid5-5", *(f"--set={each}" for each in asked), "--out", "out", "--quiet")
    from outlast import load as read_back

    result = read_back(tmp_path / "out")
    summary, channels = result.summary, result.tables["channels_over_time"]
    devices = np.asarray(channels["device"], dtype=np.int64)
    assert set(devices) == set(range(5))
    per_member = len(summary["queue"]["channel_utilisation"]) // 5
    place = devices * per_member + np.asarray(channels["channel"], dtype=np.int64)
    shares = np.bincount(place, weights=spans(channels)) / summary["time"]["simulated_s"]
    assert shares == pytest.approx(summary["queue"]["channel_utilisation"], rel=1e-9)
    assert "controller" not in summary["queue"]


def test_the_report_draws_them(browser: Any, causes_result: Path, tmp_path: Path) -> None:
    result = outlast.load(causes_result)
    page = own_html(render([result]))
    assert all(f'id="{chart}"' in page for chart in CHARTS)
    assert "Writes by cause" in page
    assert "Relocations by reason and class" in page
    # The report begins with what an explanation says.
    assert outlast.explain(result).sentences[2].text in page
    (tmp_path / "page.html").write_text(render([result]))
    assert opened(browser, tmp_path / "page.html") == []
    assert drawn(browser) == browser.execute_script("return document.querySelectorAll('figure.chart').length")


def test_a_map_shows_what_its_table_holds() -> None:
    table = {
        "start_s": [0.0, 0.0, 1.0, 1.0],
        "end_s": [1.0, 1.0, 3.0, 3.0],
        "die": [0, 1, 0, 1],
        "busy": [0.25, 0.5, 0.75, 1.0],
    }
    figure = busy_map(table, "die", "dies")
    assert figure is not None
    assert figure.data[0]["z"] == [[0.25, 0.75], [0.5, 1.0]]
    assert figure.data[0]["x"] == [0.5, 2.0]
    many = {"start_s": [0.0] * 200, "end_s": [1.0] * 200, "die": list(range(200)), "busy": [0.5] * 100 + [1.0] * 100}
    folded = busy_map(many, "die", "dies")
    assert folded is not None
    # 200 dies are 50 rows of four.
    assert [row[0] for row in folded.data[0]["z"]] == [0.5] * 25 + [1.0] * 25
    counts = {"at_s": [1.0, 1.0, 2.0, 2.0], "from": [3, 5, 3, 5], "to": [5, 7, 5, 7], "blocks": [9, 0, 4, 5]}
    cycles = histogram_map(counts, "blocks", "cycles", "", share=False)
    assert cycles is not None
    assert cycles.data[0]["z"] == [[9.0, 4.0], [0.0, 5.0]]
    assert busy_map({}, "die", "dies") is None
    assert victims({}) is None


def test_without_time_nothing_is_busy(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    untimed = ("--set", "run.timing=none", "--set", "run.utilisation=true")
    refused(outlast, tmp_path, "run", "tiny.toml", *untimed, says=["run.utilisation = true", "run.timing is none"])
