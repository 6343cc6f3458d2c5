"""Does the live page show what happens, and does a button do what it says, when asked twice?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import outlast
from drives import ARRAY


@pytest.fixture
def served() -> Iterator[outlast.Served]:
    """A small array with its page."""
    with outlast.serve(ARRAY, http=True) as served:
        yield served


def until(browser: Any, what: Callable[[Any], Any]) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 30).until(what)


def shown(browser: Any) -> int:
    """Number of updates that the page has shown."""
    return int(browser.execute_script("return document.documentElement.dataset.shown") or 0)


def look_again(browser: Any) -> None:
    """Waits until the page has been told of what happened before."""
    before = shown(browser)
    until(browser, lambda page: shown(page) > before + 2)


def opened(browser: Any, served: outlast.Served, url: str | None = None) -> None:
    """Opens the page and waits until it has shown a second of the machine."""
    browser.get_log("browser")
    browser.get("about:blank")  # another fragment alone loads nothing
    browser.get(url or served.url)
    until(browser, lambda page: shown(page) >= 8)


def complaints(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def cell(browser: Any, device: int, die: int) -> Any:
    return browser.find_element("css selector", f'.die[data-device="{device}"][data-die="{die}"]')


def state_of(browser: Any, device: int, die: int) -> str:
    return str(cell(browser, device, die).get_attribute("data-state"))


def press(browser: Any, name: str) -> None:
    browser.find_element("id", name).click()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_opens_without_complaints(browser: Any, served: outlast.Served, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    opened(browser, served)
    assert complaints(browser) == []
    assert browser.find_element("id", "name").text == "small"
    assert len(browser.find_elements("css selector", "#drives .die")) == 4 * 4
    assert len(browser.find_elements("css selector", "#tiles .tile")) == 9
    assert "healthy" in browser.find_element("id", "badges").text
    assert "token" not in browser.current_url
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) <= 0
    background = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(background) == ("rgb(15, 17, 21)" if dark else "rgb(246, 246, 244)")


def test_the_button_kills_the_die_when_asked_twice_and_the_page_shows_it(browser: Any, served: outlast.Served) -> None:
    opened(browser, served)
    kill = browser.find_element("id", "kill")
    assert not kill.is_enabled()
    cell(browser, 1, 2).click()
    until(browser, lambda _: kill.is_enabled())
    # Whoever thinks better of it after either question has changed nothing.
    for answers in (["ask-no"], ["ask-yes", "ask-no"]):
        kill.click()
        assert "die 2 of drive 1" in browser.find_element("id", "ask-title").text
        for answer in answers:
            press(browser, answer)
        look_again(browser)
        assert state_of(browser, 1, 2) == "good"
    kill.click()
    press(browser, "ask-yes")
    press(browser, "ask-yes")
    until(browser, lambda page: state_of(page, 1, 2) != "good")
    drives = served.state()["machine"]["drives"]
    sick = [(drive["device"], at) for drive in drives for at, die in enumerate(drive["dies"]) if die["state"] != "good"]
    assert sick == [(1, 2)]
    until(browser, lambda page: "die" in page.find_element("id", "events").text)
    until(browser, lambda _: not kill.is_enabled())
    assert complaints(browser) == []


def test_the_power_is_cut_when_asked_twice(browser: Any, served: outlast.Served) -> None:
    opened(browser, served)
    press(browser, "cut")
    press(browser, "ask-yes")
    assert served.state()["events"] == []
    press(browser, "ask-yes")
    until(browser, lambda page: "power is back" in page.find_element("id", "events").text)
    assert [event["kind"] for event in served.state()["events"]][:1] == ["power-off"]


def test_keys_are_enough(browser: Any, served: outlast.Served) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, served)
    in_order = [
        each
        for each in browser.find_elements("css selector", ".die[data-die]")
        if each.get_attribute("tabindex") == "0"
    ]
    assert len(in_order) == 1
    browser.execute_script("arguments[0].focus()", in_order[0])

    def typed(*keys: str) -> None:
        ActionChains(browser).send_keys(*keys).perform()

    typed(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    until(browser, lambda page: cell(page, 0, 2).get_attribute("aria-pressed") == "true")
    until(browser, lambda page: page.find_element("id", "kill").is_enabled())
    typed(Keys.TAB, Keys.ENTER)
    # The dialog opens with the answer that changes nothing.
    assert browser.switch_to.active_element.get_attribute("id") == "ask-no"
    typed(Keys.TAB, Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "ask-no"
    typed(Keys.TAB, Keys.ENTER)
    until(browser, lambda page: state_of(page, 0, 2) != "good")


def test_without_the_token_nothing_can_be_changed(browser: Any, served: outlast.Served) -> None:
    assert served.url is not None
    opened(browser, served, served.url.split("#")[0])
    cell(browser, 0, 0).click()
    look_again(browser)
    assert not browser.find_element("id", "kill").is_enabled()
    assert not browser.find_element("id", "cut").is_enabled()
    assert "token" in browser.find_element("id", "footer").text


def test_spares_are_named_and_empty_charts_have_no_scale(browser: Any) -> None:
    with outlast.serve(ARRAY, {"array.spares": 1}, http=True) as served:
        opened(browser, served)
        names = [each.text for each in browser.find_elements("css selector", "#drives h3")]
        assert names == ["Drive 0", "Drive 1", "Drive 2", "Drive 3", "Spare 4"]
        empty = [each.get_attribute("data-empty") for each in browser.find_elements("css selector", "#charts canvas")]
        assert set(empty) == {"true"}
        served.fault("die", device=2, die=0)
        until(browser, lambda page: "Drive 2, 1 die failed or failing" in page.find_element("id", "drives").text)


def test_the_map_shows_the_states_of_the_superblocks(browser: Any) -> None:
    drive = {"precondition.fill": "sequential", "precondition.overwrite": "random"}
    with outlast.serve("demo", drive, http=True) as served:
        opened(browser, served)
        (told,) = served.state()["machine"]["drives"]
        cells = browser.find_elements("css selector", "#maps .cell")
        assert [cell.get_attribute("data-state") for cell in cells] == told["superblock_map"]["states"]
        assert len(cells) == told["superblocks"]["total"]
        assert {"free", "open", "sealed"} <= set(told["superblock_map"]["states"])
        filled = [f"{share}%" for share in told["superblock_map"]["valid"]]
        every = "[...document.querySelectorAll('#maps .cell')]"
        valid_shown = f"return {every}.map((cell) => cell.style.getPropertyValue('--valid'))"
        assert browser.execute_script(valid_shown) == filled
        text = browser.find_element("css selector", "#maps .map").get_attribute("aria-label")
        assert text.startswith(f"{told['superblocks']['total']} superblocks: {told['superblocks']['sealed']} full")
        assert complaints(browser) == []


def test_the_map_has_a_bounded_number_of_cells() -> None:
    many = {
        "device.geometry.blocks_per_plane": 1201,
        "device.geometry.pages_per_block": 8,
        "device.ftl.capacity": "64MiB",
    }
    new = {"precondition.fill": "none", "precondition.overwrite": "none"}
    with outlast.serve("demo", many | new) as served:
        (drive,) = served.state()["machine"]["drives"]
    assert drive["superblocks"]["total"] == 1201
    assert drive["superblock_map"] == {"per_cell": 2, "states": ["free"] * 601, "valid": [0] * 601, "slc": []}


def test_the_map_shows_the_mode_of_a_cache() -> None:
    new = {"precondition.fill": "sequential", "precondition.overwrite": "none", "device.ftl.capacity": "1GiB"}
    cache = {"dynamic_share": 1.0, "read": "30us", "program": "200us"}
    with outlast.serve("demo", new | {"device.slc_cache": cache}) as served:
        (drive,) = served.state()["machine"]["drives"]
    cells = drive["superblock_map"]
    assert cells["slc"], "what was written first is in the cache"
    assert all(cells["valid"][cell] <= 34 for cell in cells["slc"])
    assert all(cells["states"][cell] not in ("free", "retired") for cell in cells["slc"])


def test_it_fits_a_telephone(browser: Any, served: outlast.Served) -> None:
    metrics = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        opened(browser, served)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_names_cannot_break_the_page(browser: Any) -> None:
    nasty = "<img src=x onerror=document.title=1>"
    with outlast.serve(ARRAY, {"name": nasty, "device.model": nasty}, export="x", http=True) as served:
        served.mark(nasty)
        opened(browser, served)
        until(browser, lambda page: nasty in page.find_element("id", "events").text)
        assert browser.find_elements("css selector", "img") == []
        assert complaints(browser) == []


def test_it_says_when_the_server_is_gone(browser: Any) -> None:
    with outlast.serve(ARRAY, http=True) as served:
        opened(browser, served)
    until(browser, lambda page: "does not answer" in page.find_element("id", "trouble").text)
    browser.get("about:blank")
