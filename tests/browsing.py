"""A browser for tests of pages: one program for all of them, an empty page for each."""

from __future__ import annotations

from collections.abc import Iterator
from shutil import which
from typing import Any

import pytest


@pytest.fixture
def browser(chromium: Any) -> Any:
    """The browser on an empty page, with an empty console."""
    emptied(chromium)
    return chromium


def emptied(chromium: Any) -> None:
    """Leaves the page of the test before, which goes on to ask its server, by then gone, and complains to this test."""
    chromium.get("about:blank")
    chromium.get_log("browser")


def wait_for_pages(chromium: Any) -> None:
    """Has `get` return when the page is there: on a busy machine it may return while the page is still empty."""
    from selenium.webdriver.support.ui import WebDriverWait

    get = chromium.get

    def get_whole(url: str) -> None:
        get(url)
        seen = "return [document.readyState, location.href === 'about:blank']"
        WebDriverWait(chromium, 60).until(lambda it: it.execute_script(seen) == ["complete", url == "about:blank"])

    chromium.get = get_whole


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium that keeps its console's messages, stays off the network and scrolls at once, not by motion."""
    program, driver_path = which("chromium"), which("chromedriver")
    if program is None or driver_path is None:
        pytest.skip("chromium and chromedriver are not installed")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    quiet = "headless=new no-sandbox disable-gpu no-first-run disable-sync disable-quic force-prefers-reduced-motion"
    own = f"window-size=1400,1000 user-data-dir={tmp_path_factory.mktemp('profile')}"
    for name in f"{quiet} disable-background-networking disable-component-update {own}".split():
        options.add_argument(f"--{name}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path)) as driver:
        # Its window has the keyboard or not as the system pleases, and a page without it is told of no focus.
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        wait_for_pages(driver)
        yield driver
