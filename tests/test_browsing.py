"""Does a page of one test leave the next one alone?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browsing import emptied


def test_a_page_that_goes_on_complaining_is_not_heard_by_the_next_test(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    complaining, silent = tmp_path / "complaining.html", tmp_path / "silent.html"
    complaining.write_text("<script>setInterval(() => { console.error('late'); document.title += 'x'; }, 1)</script>")
    silent.write_text("<title>silent</title>")
    browser.get(complaining.as_uri())
    WebDriverWait(browser, 60).until(lambda page: len(page.title) > 100)
    assert browser.get_log("browser") != []
    emptied(browser)
    browser.get(silent.as_uri())
    assert browser.get_log("browser") == []
