"""Is the report complete, self-contained and free of errors in a browser?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from outlast.report import render
from outlast.result import Result
from sample import sample_result, sample_summary

SECTIONS = ("latency", "time", "amplification", "wear", "queueing", "scenario")
CHARTS = (
    *("distribution", "throughput", "bandwidth", "latency-time", "amplification", "preconditioning"),
    *("wear-map", "wear-histogram", "in-flight", "utilisation"),
)


def own_html(page: str) -> str:
    """The page without plotly's own script."""
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def test_every_section_and_chart_is_there() -> None:
    page = own_html(render([sample_result()]))
    for name in SECTIONS:
        assert f'<section id="{name}">' in page
    for name in CHARTS:
        assert f'id="{name}"' in page, name


def test_the_page_loads_nothing() -> None:
    page = own_html(render([sample_result()]))
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "connect-src" not in page
    assert "default-src 'none'" in page


def test_honest_badges() -> None:
    assert "steady state</span>" in render([sample_result()])
    partial = render([sample_result(partial=True)])
    assert "partial: the run was stopped early" in partial
    assert "not in steady state" in partial


def test_names_cannot_break_the_page() -> None:
    nasty = "</script><img src=x onerror=alert(1)>"
    page = own_html(render([sample_result(nasty)]))
    assert "<img" not in page
    both = own_html(render([sample_result(nasty), sample_result("b")]))
    assert "<img" not in both


def test_a_result_without_tables_or_requests_still_has_a_report() -> None:
    summary = sample_summary()
    summary["latency_us"] |= {"read": None, "write": None, "by_stream": []}
    summary["write_amplification"] = dict.fromkeys(summary["write_amplification"])
    summary["throughput"] = dict.fromkeys(summary["throughput"])
    summary["closed_form"]["greedy_waf"] = None
    page = render([Result(summary, {}, "")])
    assert "No request was timed" in page
    assert "Nothing was written" in page


def test_long_series_are_joined() -> None:
    assert len(own_html(render([sample_result(windows=20_000)]))) < 2_000_000


def opened(browser: Any, file: Path) -> list[str]:
    """Opens the page and returns what went wrong on its console."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get_log("browser")
    browser.get(file.as_uri())
    WebDriverWait(browser, 60).until(
        lambda page: page.execute_script("return document.documentElement.dataset.drawn") == "yes"
    )
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def drawn(browser: Any) -> int:
    """Charts that have an axis or a cell drawn."""
    script = (
        "return [...document.querySelectorAll('figure.chart')].filter(f => f.querySelector('.main-svg .xy')).length"
    )
    return int(browser.execute_script(script))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_demos_report_opens_without_errors(browser: Any, demo_result: Path, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    assert opened(browser, demo_result / "report.html") == []
    charts = browser.execute_script("return document.querySelectorAll('figure.chart').length")
    assert charts == drawn(browser) == len(CHARTS)
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0


def test_the_page_fits_a_telephone(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(render([sample_result()]))
    metrics = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert opened(browser, page) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
        wide = "return [...document.querySelectorAll('.main-svg')].filter(s => s.clientWidth > 380).length"
        assert browser.execute_script(wide) == 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_comparison_opens_without_errors(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(render([sample_result("a"), sample_result("b", seed=2, partial=True)]))
    assert opened(browser, page) == []
    assert drawn(browser) == browser.execute_script("return document.querySelectorAll('figure.chart').length") >= 5


def test_the_browser_test_sees_errors(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(render([sample_result()]).replace("Plotly.react(", "Plotly.draw_nothing("))
    browser.get_log("browser")
    browser.get(page.as_uri())
    assert any("draw_nothing" in entry["message"] for entry in browser.get_log("browser"))
