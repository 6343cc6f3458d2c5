"""Has axe no serious finding in any kind of page, by day and by night?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axe
import outlast
from drives import ARRAY
from outlast.report import render
from outlast.result import load
from test_fit_page import SHEET, fitted


@pytest.fixture(scope="module", autouse=True)
def library() -> None:
    """axe-core, without which nothing here can be told."""
    if not axe.is_there():
        pytest.skip("no axe-core, which `python tests/axe.py` fetches with npm")


def of_report(demo: Path, _: Path) -> str:
    return render([load(demo)])


def of_errors(_: Path, weak: Path) -> str:
    return render([load(weak)])


def of_comparison(demo: Path, weak: Path) -> str:
    return render([load(demo), load(weak)])


def of_fit(_: Path, __: Path) -> str:
    from outlast.products.fit.page import page

    fit = fitted(SHEET, 0.01)
    assert np.isfinite(fit.simulated).all()
    return page(fit)


def of_sweep(_: Path, __: Path) -> str:
    from outlast.report.page import document
    from outlast.report.sweep import sections
    from test_sweep_choices import LEVELS, swept

    summary = swept(LEVELS, {"throughput.iops": [9000.0, 4000.0, 12000.0], "array.degraded_s": [0.0, 0.0, 0.0]})
    return document("Levels · Outlast", "<h1>Levels</h1>", sections(summary, summary["points"]), "Outlast")


PAGES: dict[str, Callable[[Path, Path], str]] = {
    "report": of_report,
    "report with errors": of_errors,
    "comparison": of_comparison,
    "fit": of_fit,
    "sweep": of_sweep,
}


def in_scheme(browser: Any, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_has_no_serious_fault(
    browser: Any, demo_result: Path, weak_result: Path, tmp_path: Path, kind: str, scheme: str
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    page = tmp_path / "page.html"
    page.write_text(PAGES[kind](demo_result, weak_result), encoding="utf-8")
    in_scheme(browser, scheme)
    browser.get(page.as_uri())
    drawn = "return document.documentElement.dataset.drawn"
    WebDriverWait(browser, 30).until(lambda opened: opened.execute_script(drawn) == "yes")
    assert axe.faults(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_live_page_has_no_serious_fault(browser: Any, scheme: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    in_scheme(browser, scheme)
    with outlast.serve(ARRAY, {"array.spares": 1}, http=True) as served:
        browser.get("about:blank")
        browser.get(served.url)
        shown = "return Number(document.documentElement.dataset.shown ?? 0)"
        WebDriverWait(browser, 30).until(lambda opened: opened.execute_script(shown) >= 5)
        # The page has a policy that refuses scripts from elsewhere, and so its elements are looked at from without.
        assert axe.faults(browser) == []
