"""Is the report complete, self-contained and free of errors in a browser?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from outlast.report import render
from outlast.result import Result
from sample import sample_result, sample_summary, with_array, with_errors

SECTIONS = ("latency", "time", "amplification", "wear", "queueing", "scenario")
CHARTS = (
    *("distribution", "throughput", "bandwidth", "latency-time", "amplification", "preconditioning"),
    *("wear-map", "wear-histogram", "in-flight", "utilisation", "writes", "dies-wear", "dies-map"),
)


ERROR_CHARTS = ("error-rates", "wrong-bits", "read-again", "tails", "decisions", "decisions-errors", "twin")


def own_html(page: str) -> str:
    """The page without plotly's own script."""
    return re.sub(r"<script( type=\"application/gzip\" id=\"library\")?>.*?</script>", "", page, flags=re.S)


def test_every_section_and_chart_is_there() -> None:
    page = own_html(render([sample_result()]))
    for name in SECTIONS:
        assert f'<section id="{name}">' in page
    for name in CHARTS:
        assert f'id="{name}"' in page, name


def test_errors_have_a_part_where_there_are_any() -> None:
    without, with_them = (own_html(render([each])) for each in (sample_result(), with_errors(sample_result())))
    assert "errors" not in without.split("<main>")[1]
    assert '<section id="errors">' in with_them
    for name in ERROR_CHARTS:
        assert f'id="{name}"' in with_them, name
    # A rate that no float can hold is told from its logarithm.
    assert "1.58 · 10⁻³⁵³" in with_them
    assert "8 KiB were lost for good" in with_them
    assert "41 superblocks (too old: 41); 2 of them written by scrubbing itself" in with_them


def test_a_drive_that_only_breaks_has_a_part_without_error_rates() -> None:
    result = sample_result()
    result.summary["scenario"]["faults"] = [{"at": "1s", "kind": "die", "die": 1}]
    result.summary["reliability"]["faults"] = 1
    page = own_html(render([result]))
    assert "1 sudden failure happened." in page
    for name in ("error-rates", "wrong-bits", "tails", "twin"):
        assert f'id="{name}"' not in page


def test_an_array_has_a_part_of_its_own() -> None:
    without, with_it = (own_html(render([each])) for each in (sample_result(), with_array(sample_result())))
    assert 'id="array"' not in without
    assert '<section id="array">' in with_it
    for name in ("array-states", "array-wear"):
        assert f'id="{name}"' in with_it, name
    assert "Rebuilding took 4.00 s from 3.00 s on" in with_it
    assert "20.0 % of its stripe writes covered full stripes" in with_it
    assert "<td>rebuild started</td><td>1</td>" in with_it


def test_results_of_earlier_versions_still_have_reports() -> None:
    old = sample_result("old")
    del old.summary["reliability"]
    for cause in ("scrub", "rewritten", "host_parity", "gc_parity", "wear_leveling_parity", "scrub_parity"):
        del old.summary["write_amplification"][cause]
    later = ("scrub_", "rewritten_", "parity_", "rereads", "stripe_reads", "uncorrectable_reads", "rber_")
    series = {name: column for name, column in old.tables["timeseries"].items() if not name.startswith(later)}
    old = Result(old.summary, {**old.tables, "timeseries": series}, "")
    assert "1.300" in own_html(render([old]))
    both = own_html(render([old, with_errors(sample_result("new"))]))
    assert 'id="tails"' in both
    assert "UBER, exact" in both


def test_the_page_loads_nothing() -> None:
    page = own_html(render([with_errors(sample_result())]))
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


SAVED = """
const saved = [];
URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "#"; };
HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
const figure = document.querySelector("figure.chart#distribution");
figure.querySelector('[data-title="Download the points as CSV"]').click();
const done = arguments[arguments.length - 1];
setTimeout(() => done([saved, JSON.parse(figure.querySelector("script").textContent).data]), 200);
"""
"""Presses the button of a chart, and returns what would be downloaded, with the chart's traces."""


def test_a_chart_can_be_saved_as_a_table_and_linked_to(browser: Any, demo_result: Path) -> None:
    assert opened(browser, demo_result / "report.html") == []
    saved, traces = browser.execute_async_script(SAVED)
    assert saved[0] == "distribution.csv"
    header, *rows = saved[1].splitlines()
    assert header == "series,x,y,z"
    assert len(rows) == sum(len(trace["x"]) for trace in traces)
    name, x, y, _ = rows[0].split(",")
    assert (name, float(x), float(y)) == (traces[0]["name"], traces[0]["x"][0], traces[0]["y"][0])
    links = (
        "return [...document.querySelectorAll('figure.chart a.here')].map(a => a.hash === '#' + a.closest('figure').id)"
    )
    found = browser.execute_script(links)
    assert len(found) == len(CHARTS) and all(found)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_demos_report_opens_without_errors(browser: Any, demo_result: Path, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    assert opened(browser, demo_result / "report.html") == []
    charts = browser.execute_script("return document.querySelectorAll('figure.chart').length")
    assert charts == drawn(browser) == len(CHARTS)
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0


def test_the_report_of_a_drive_that_errs_opens_without_errors(browser: Any, weak_result: Path) -> None:
    assert opened(browser, weak_result / "report.html") == []
    charts = browser.execute_script("return [...document.querySelectorAll('figure.chart')].map(f => f.id)")
    assert set(ERROR_CHARTS) <= set(charts)
    assert drawn(browser) == len(charts)


def test_the_page_fits_a_telephone(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(render([with_errors(sample_result())]))
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
    page.write_text(render([with_errors(sample_result("a")), sample_result("b", seed=2, partial=True)]))
    assert opened(browser, page) == []
    assert drawn(browser) == browser.execute_script("return document.querySelectorAll('figure.chart').length") >= 5


def test_the_browser_test_sees_errors(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    page = tmp_path / "page.html"
    page.write_text(render([sample_result()]).replace("Plotly.react(", "Plotly.draw_nothing("))
    browser.get_log("browser")
    browser.get(page.as_uri())
    # The library is unpacked after the page has loaded, and charts are drawn then.
    WebDriverWait(browser, 60).until(
        lambda page: any("draw_nothing" in entry["message"] for entry in page.get_log("browser"))
    )
