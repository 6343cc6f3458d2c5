"""Comparisons: their first sentence, the size of a report, and the chart library in it."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from outlast.report import bundle, differences, render, repair
from outlast.report.sweep import curve
from outlast.report.sweep_points import MEASURED, THEORY
from outlast.result import Result
from sample import sample_result
from test_report import own_html


def changed(path: tuple[str, ...], value: Any, name: str = "other") -> Result:
    """The sample with one figure changed."""
    result = sample_result()
    result.summary["name"] = name
    own = result.summary
    for key in path[:-1]:
        own = own[key]
    own[path[-1]] = value
    return result


def repaired(name: str, took: float, written: int, lost: int = 0) -> Result:
    result = changed(("seed",), 1, name)
    risk = {"second_failure": took * 1e-9, "read_failure": took * 1e-7, "mttdl_hours": 1e12}
    own = {"device": 0, "die": 3, "way": "die", "detected_s": 0.1, "finished_s": 0.1 + took, "total_s": took}
    own |= {"scaled": None, "risk": risk, "bytes_written": written, "lost_bytes": lost}
    result.summary["repair"] = [own]
    return result


def test_the_title_names_the_greatest_difference() -> None:
    first = sample_result()
    total = first.summary["write_amplification"]["total"]
    second = changed(("write_amplification", "total"), 2 * total)
    said = differences.title([first, second], ["a", "b"])
    assert said == f"a against b: write amplification {total:.3f} with a, {2 * total:.3f} with b"


def test_results_that_are_alike_are_said_to_be() -> None:
    said = differences.title([sample_result(), sample_result()], ["a", "b"])
    assert said == "a against b: no figure differs by more than 1 %"
    (sentence,) = differences.sentences([sample_result(), sample_result()], ["a", "b"])
    assert sentence.startswith("Within 5 % of each other: requests per second")


def test_repairs_come_first_and_what_was_lost_is_said() -> None:
    runs = [repaired("slow", 40.0, 2**31), repaired("quick", 1.5, 2**26, lost=8192)]
    names = ["slow", "quick"]
    assert differences.title(runs, names) == "quick repairs in 1.50 s what slow repairs in 40.0 s"
    said = differences.sentences(runs, names)
    assert 3 <= len(said) <= 5
    assert said[0] == "The repair of the failed die took <b>1.50 s</b> with quick, <b>40.0 s</b> with slow."
    assert "8 KiB were lost for good." in said


def test_a_repair_that_did_not_end_makes_no_title() -> None:
    runs = [repaired("slow", 40.0, 2**31), repaired("quick", 1.5, 2**26)]
    runs[0].summary["repair"][0]["finished_s"] = None
    assert "repairs in" not in differences.title(runs, ["slow", "quick"])


def test_names_are_escaped_in_what_was_found() -> None:
    runs = [sample_result(), changed(("throughput", "iops"), 1.0)]
    assert "<i>" not in differences.differences_list(runs, ["<i>", "b"])


def test_signs_are_minus_signs_and_no_change_is_said() -> None:
    first = sample_result()
    iops = first.summary["throughput"]["iops"]
    page = render([first, changed(("throughput", "iops"), 0.5 * iops)])
    assert "−50.0 %" in page
    assert "-50.0" not in own_html(page)
    assert "the same" in page
    assert "+0.0 %" not in page


def test_reports_are_small() -> None:
    if not bundle.PLACE.is_file():
        pytest.skip("the small chart library is absent: npm was not there when the package was set up")
    for results in ([sample_result()], [sample_result(), copy.deepcopy(sample_result())]):
        assert len(render(results).encode()) < 1.6e6


def test_the_chart_library_is_the_one_that_is_meant() -> None:
    assert not bundle.matches(b"something else")
    if bundle.PLACE.is_file():
        assert hashlib.sha256(bundle.PLACE.read_bytes()).hexdigest() == bundle.SHA256


def test_every_way_of_repair_that_has_a_name_is_explained() -> None:
    ways = [("die", *variant) for variant in repair.NAMES] + [("assist", "", ""), ("rebuild", "", "")]
    for way, scheme, identifier in ways:
        own = {"way": way, "scheme": scheme, "identifier": identifier, "fake_failures": 0}
        said = repair.meanings([own, own])
        assert said.count(f"<b>{repair.scheme(own)}</b>: ") == 1
        assert "Fake failures" not in said
        assert "Fake failures" in repair.meanings([own | {"fake_failures": 3}])


def swept(values: list[Any], measured: str = "throughput.iops") -> dict[str, Any]:
    """The summary of a sweep of one setting."""
    figures = {measured: 100.0, THEORY: 2.0}
    points = [
        {"point": index, "values": {"array.level": value}}
        | {"figures": {name: {"mean": mean + index, "half": None} for name, mean in figures.items()}}
        for index, value in enumerate(values)
    ]
    spec = {"vary": [{"setting": "array.level", "values": values}], "method": "grid", "figures": list(figures)}
    return {"sweep": spec | {"repeats": 1, "confidence": 0.95}, "points": points}


def test_choices_without_an_order_are_not_joined_by_lines() -> None:
    for values, mode in (["raid5", "raid6"], "markers"), ([4, 8], "lines+markers"):
        chart = curve(swept(values), "throughput.iops", 0)
        assert chart is not None
        assert [trace["mode"] for trace in chart.data] == [mode]
        chart = curve(swept(values, MEASURED), MEASURED, 0)
        assert chart is not None
        assert [trace["mode"] for trace in chart.data] == [mode, "markers" if mode == "markers" else "lines"]


def test_on_paper_charts_have_its_width_and_light_colours(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(render([sample_result(), changed(("throughput", "iops"), 1.0)]), encoding="utf-8")
    browser.get(page.as_uri())
    WebDriverWait(browser, 30).until(
        lambda opened: opened.execute_script("return document.documentElement.dataset.drawn") == "yes"
    )
    widest = "return Math.max(...[...document.querySelectorAll('.main-svg')].map(s => s.clientWidth))"
    screen = browser.execute_script(widest)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert 600 < browser.execute_script(widest) <= 718
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    WebDriverWait(browser, 30).until(lambda opened: opened.execute_script(widest) == screen)
