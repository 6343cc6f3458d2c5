"""Do reports fit the windows in which they are read, and the paper on which they are printed?"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast.report import render
from outlast.report.sweep import page
from sample import sample_result, with_array, with_classes, with_errors
from test_report import opened

WIDTHS = {"phone": 390, "laptop": 1280, "wide": 1920}
PAPER = 718

OUT_OF_SIGHT = """
const window_width = document.documentElement.clientWidth;
const found = [];
for (const element of document.querySelectorAll("h1, h2, h3, p, li, .tile, .card, .badge, nav a")) {
  if (element.closest(".scroll") !== null && !element.matches(".scroll")) continue;
  const box = element.getBoundingClientRect();
  const said = element.textContent.slice(0, 60);
  if (box.right > window_width + 1 || box.left < -1) found.push(`${element.tagName} beyond the window: ${said}`);
  const cut = element.scrollWidth > element.clientWidth + 1 && element.matches(".card:not(.scroll), .tile");
  if (cut) found.push(`cut: ${said}`);
}
for (const plot of document.querySelectorAll(".plot")) {
  const own = plot.getBoundingClientRect();
  for (const label of plot.querySelectorAll("svg text")) {
    const box = label.getBoundingClientRect();
    if (box.width > 0 && label.closest(".modebar") === null && (box.left < own.left - 2 || box.right > own.right + 2))
      found.push(`label cut in ${plot.parentElement.id}: ${label.textContent}`);
  }
}
return found;
"""
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
OVERFULL = (
    "return [...document.querySelectorAll('.card')].filter(c => c.scrollWidth > c.clientWidth + 1)"
    ".map(c => c.textContent.slice(0, 60))"
)


def swept() -> outlast.Sweep:
    """A sweep of load and policy with figures of every kind, as `sweep.json` has one."""
    vary: list[dict[str, Any]] = [
        {"setting": "workload.synthetic.rate_iops", "values": [10_000, 20_000, 40_000]},
        {"setting": "device.ftl.gc.policy", "values": ["greedy", "cost-benefit"]},
    ]
    names = [
        *("throughput.iops", "latency_us.read.p50", "latency_us.read.p99", "latency_us.write.p99"),
        *("write_amplification.total", "closed_form.greedy_waf", "reliability.uber_exact", "host.bytes_written"),
    ]
    points = []
    places = ((rate, policy) for rate in vary[0]["values"] for policy in vary[1]["values"])
    for number, (rate, policy) in enumerate(places):
        means = [rate * 0.999, 80.0, 300.0 + rate / 50, 90.0, 4.1 + number / 10, 4.0, 6.45e-15 * (1 + number), 2.0**33]
        own = {
            name: {"count": 3, "mean": mean, "sd": mean / 50, "half": mean / 25}
            for name, mean in zip(names, means, strict=True)
        }
        values = {vary[0]["setting"]: rate, vary[1]["setting"]: policy}
        points.append({"point": number, "values": values, "figures": own})
    pareto = [{"figure": "latency_us.read.p99", "best": "lowest"}, {"figure": "throughput.iops", "best": "highest"}]
    spec = {"vary": vary, "method": "grid", "figures": names, "repeats": 3, "confidence": 0.95, "pareto": pareto}
    summary = {"name": "load and policy", "version": "0", "sweep": spec, "runs": 18, "not_steady": 2, "failed": []}
    front = {"figures": pareto, "front": [0, 4], "left_out": []}
    return outlast.Sweep(summary | {"points": points, "pareto": front}, {})


def pages() -> dict[str, str]:
    """A report of each kind, with all that one may have."""
    whole = with_array(with_classes(with_errors(sample_result("a drive with a long name, in an array"))))
    whole.summary["scenario"]["device"]["defects"] = {"endurance": 3000}
    rest = [
        copy.deepcopy(sample_result(name, seed=seed)) for seed, name in ((2, "fifo"), (3, "cost-benefit"), (4, "d"))
    ]
    return {"single": render([whole]), "comparison": render([whole, *rest]), "sweep": page(swept())}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, files = tmp_path_factory.mktemp("reports"), {}
    for kind, text in pages().items():
        files[kind] = folder / f"{kind}.html"
        files[kind].write_text(text, encoding="utf-8")
    return files


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """Sets the width of the window; it is as before afterwards."""

    def sized(width: int) -> None:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    yield sized
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
@pytest.mark.parametrize("kind", ["single", "comparison", "sweep"])
def test_nothing_is_cut_off(browser: Any, window: Any, written: dict[str, Path], kind: str, width: int) -> None:
    window(width)
    assert opened(browser, written[kind]) == []
    assert browser.execute_script(WIDER) <= 0
    assert browser.execute_script(OUT_OF_SIGHT) == []


def test_a_real_report_is_not_cut_off(browser: Any, window: Any, demo_result: Path) -> None:
    for width in WIDTHS.values():
        window(width)
        assert opened(browser, demo_result / "report.html") == []
        assert browser.execute_script(WIDER) <= 0
        assert browser.execute_script(OUT_OF_SIGHT) == [], width


def test_the_whole_table_of_latencies_is_seen_on_a_phone(browser: Any, window: Any, tmp_path: Path) -> None:
    result = sample_result()
    for op in ("read", "write"):
        result.summary["latency_us"][op]["mean_interval"] = {
            "low": 1277.4,
            "high": 30912.0,
            "level": 0.95,
            "batches": 30,
        }
    (tmp_path / "page.html").write_text(render([result]), encoding="utf-8")
    window(WIDTHS["phone"])
    assert opened(browser, tmp_path / "page.html") == []
    beyond = "const own = document.querySelector('#latency .scroll'); return own.scrollWidth - own.clientWidth"
    assert browser.execute_script(beyond) <= 0
    assert "1.28 to 30.9 ms" in browser.find_element("id", "latency").text.replace("\n", " ")


@pytest.mark.parametrize("kind", ["single", "comparison", "sweep"])
def test_tables_fit_the_paper(browser: Any, written: dict[str, Path], kind: str) -> None:
    assert opened(browser, written[kind]) == []
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script("return document.body.clientWidth") == PAPER
    assert browser.execute_script(OVERFULL) == []


TOLD = "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText"


def test_a_figure_explains_itself_to_keyboard_and_touch(browser: Any, written: dict[str, Path]) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    from outlast.sweeps import figures

    assert opened(browser, written["single"]) == []
    meaning = figures.meaning("latency_us.read.p99_9")
    assert meaning == "99.9 % of the requests take no longer"
    row = browser.find_element(By.XPATH, "//section[@id='latency']//tr[th/span[.='99.9\u00a0%']]")
    label, cell = row.find_element(By.CSS_SELECTOR, "th .told"), row.find_elements(By.TAG_NAME, "td")[0]
    assert browser.execute_script(TOLD) == ""
    browser.execute_script("arguments[0].focus()", label)
    assert meaning in browser.execute_script(TOLD)
    assert label.get_attribute("aria-describedby") == "tip"
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert browser.execute_script(TOLD) == ""
    # Under the pointer the number itself tells, too.
    browser.execute_script(
        "arguments[0].blur(); arguments[1].scrollIntoView({block: 'center', behavior: 'instant'})", label, cell
    )

    def pointed_at(page: Any) -> bool:
        # The page learns of the pointer with its next frame, and may have been laid out anew since the pointer moved.
        ActionChains(page).move_to_element(cell).perform()
        return "latency_us.read.p99_9 (µs)" in page.execute_script(TOLD)

    WebDriverWait(browser, 30).until(pointed_at)
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    tap = "arguments[0].dispatchEvent(new PointerEvent('click', {bubbles: true, pointerType: 'touch'}))"
    browser.execute_script(tap, label)
    assert meaning in browser.execute_script(TOLD)
    browser.execute_script(tap, label)
    assert browser.execute_script(TOLD) == ""


def test_numbers_of_tables_explain_themselves(browser: Any, written: dict[str, Path]) -> None:
    # A row of a table of figures is silent only where its name says all: steady state, requests, a total of causes.
    silent = """return [...document.querySelectorAll('table.figures tbody tr')]
        .filter(row => row.querySelector('[data-tip]') === null)
        .map(row => row.cells[0].textContent)"""
    for kind in ("single", "comparison", "sweep"):
        assert opened(browser, written[kind]) == []
        rows = set(browser.execute_script(silent))
        assert len(rows) <= 12, rows
        shown = browser.execute_script("return document.querySelectorAll('[data-tip]').length")
        assert shown > 40, kind
