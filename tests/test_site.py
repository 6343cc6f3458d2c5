"""Does the site say what the program says, and do its pages fit the windows in which they are read?"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import runpy
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from outlast.cli import cli
from outlast.setting import tree, vars_of

WIDTHS = {"phone": 390, "laptop": 1280, "wide": 1920}
PAGES = [
    "index.html",
    "guide/scenarios.html",
    "reference/settings.html",
    "papers/index.html",
    "drives.html",
]
DRAWN = int(os.environ.get("OUTLAST_SITE_PAGES", "15"))
"""Further pages that are opened; a browser takes a tenth of a second for each at each width, and there are hundreds."""
SEED = os.environ.get("PROPTEST_RNG_SEED", "1")
"""Seed by which they are drawn: that of the property tests in Rust, so that each commit opens others."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` makes it, without the notebooks, which take long and have tests of their own."""
    folder = tmp_path_factory.mktemp("site")
    settings = (ROOT / "mkdocs.yml").read_text()
    plain = "\n".join(line for line in settings.splitlines() if "notebooks/" not in line and "notebooks.py" not in line)
    assert plain.count("\n") == settings.count("\n") - 5  # its hook, three pages, the end of the last line
    plain = plain.replace("docs_dir: docs", f"docs_dir: {ROOT / 'docs'}").replace(
        "docs/pages.py", str(ROOT / "docs/pages.py")
    )
    (folder / "mkdocs.yml").write_text(plain)
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "-f",
        str(folder / "mkdocs.yml"),
        "-d",
        str(folder / "site"),
    ]
    done = subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_reference_has_every_setting_and_every_command(site: Path) -> None:
    settings = "".join(page.read_text() for page in sorted((site / "reference").glob("settings*.html")))
    waiting = list(tree().values())
    while waiting:
        each = waiting.pop()
        assert f">{each}<" in settings, each
        waiting += vars_of(each).values()
    commands = (site / "reference" / "commands.html").read_text()
    for name in cli.commands:
        assert f">outlast {name}<" in commands, name


def test_settings_are_split_by_section_and_the_first_page_leads_to_each(site: Path) -> None:
    first = (site / "reference" / "settings.html").read_text()
    for name in ("device", "device-ftl", "device-controller", "device-reliability", "workload-synthetic", "array"):
        page = site / "reference" / f"settings-{name}.html"
        assert page.stat().st_size < 300_000
        assert f'href="settings-{name}.html"' in first, name
    row = "<td><code>device.ftl.gc.policy</code></td>"
    assert row not in first
    assert row in (site / "reference" / "settings-device-ftl.html").read_text()
    assert ">run.capacity_scale<" in first


def test_the_reference_has_every_public_name_of_python(site: Path) -> None:
    page = (site / "reference" / "python.html").read_text()
    python_names = runpy.run_path(str(ROOT / "docs" / "python_reference.py"))["names"]
    found = set(re.findall(r'id="(outlast[\w]*)"', page))
    for name in python_names():
        assert name.replace(".", "").lower() in found, name
    plain = re.sub(r"<[^>]*>", "", page)
    assert "outlast.fleet.study(" in plain
    assert "load=None" in plain


def test_decisions_architecture_and_changelog_are_in_the_navigation(site: Path) -> None:
    page = (site / "decisions" / "0002-superblocks-are-collected-whole-and-found-by-a-scan.html").read_text()
    links = set(re.findall(r'href="([^"#]+)"', page))
    for file in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert f"{file.stem}.html" in links or file.stem.startswith("0002"), file.name
    assert {"../architecture.html", "../changelog.html"} <= links


def test_pages_ask_no_other_server(site: Path) -> None:
    for name in PAGES:
        page = (site / name).read_text()
        asked = re.findall(
            r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"|<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"',
            page,
        )
        assert not asked, (name, asked)


def test_no_page_is_wider_than_its_window(site: Path, browser: Any) -> None:
    written = sorted(site.rglob("*.html"))
    assert len(written) > 100, "the pages were not found"
    drawn = random.Random(SEED).sample(written, min(DRAWN, len(written)))
    pages = {*drawn, *(site / name for name in PAGES)}
    wide, windows = {}, list(WIDTHS.items())
    for page in sorted(pages):
        browser.get(page.as_uri())
        # There and back, since each change of width lays a page out anew.
        windows.reverse()
        for window, width in windows:
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            # Of the page, and of what it shows: a wide table or a long line of code scrolls by itself.
            found = browser.execute_script(
                """const page = document.scrollingElement.scrollWidth;
                const content = document.querySelector('.md-content');
                return Math.max(page, content ? content.getBoundingClientRect().width : 0);"""
            )
            if found > width:
                wide[str(page.relative_to(site)), window] = found
    assert not wide


@pytest.mark.parametrize("window", WIDTHS)
def test_screenshots_have_the_size_of_their_page(site: Path, browser: Any, window: str) -> None:
    """A screenshot is as wide as the window and as high as the text, and more than an empty sheet."""
    width = WIDTHS[window]
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    for name in PAGES[:2]:
        browser.get((site / name).as_uri())
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        # Asked first: to answer, the page has to be laid out.
        text = browser.execute_script("return document.querySelector('.md-content').getBoundingClientRect().height;")
        content = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        # The window without its scroll bar, which a phone lays over the page.
        inner = browser.execute_script("return document.documentElement.clientWidth;")
        assert width - 20 < inner <= width
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        image = base64.b64decode(shot["data"])
        assert struct.unpack(">II", image[16:24]) == (inner, content["height"]), name
        assert content["height"] >= text > 0, name
        # A sheet of one colour is packed to a few bits a row.
        assert len(image) > 20 * content["height"], (name, len(image))


CONTRAST = 4.5
"""Contrast that WCAG 2 requires of text, level AA."""

TEXT_AND_GROUND = """
const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgb(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0.99) return colour.slice(0, 3);
  }
  return [255, 255, 255];
};
const found = {};
for (const name of ['p', 'h1', 'a:not(.headerlink)', 'pre code', 'td']) {
  const element = document.querySelector(`.md-typeset ${name}`);
  if (!element) continue;
  const text = rgb(getComputedStyle(element).color), behind = ground(element), share = text.length > 3 ? text[3] : 1;
  found[name] = [text.slice(0, 3).map((value, at) => share * value + (1 - share) * behind[at]), behind];
}
return found;
"""


def luminance(colour: list[float]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (value / 255 for value in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_day_and_by_night(site: Path, browser: Any, scheme: str) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        browser.get((site / PAGES[0]).as_uri())
        browser.execute_script("localStorage.clear()")  # the scheme that an earlier test has seen
        for name in PAGES:
            browser.get((site / name).as_uri())
            found = browser.execute_script(TEXT_AND_GROUND)
            assert {"p", "h1"} <= set(found), name
            for what, (text, behind) in found.items():
                ratio = sorted((luminance(text) + 0.05, luminance(behind) + 0.05))
                assert ratio[1] / ratio[0] >= CONTRAST, (name, what, text, behind)
            dark = luminance(found["p"][1]) < 0.2
            assert dark == (scheme == "dark"), name
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_search_finds_pages_and_not_the_records_of_decisions(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    places = [entry["location"] for entry in index["docs"]]
    assert any(place.startswith("guide/") for place in places)
    assert not any(place.startswith("decisions/") for place in places)
    # Each part of a setting's name is a word of its own.
    parts = re.split(index["config"]["separator"], "run.capacity_scale")
    assert parts == ["run", "capacity", "scale"]
    assert any("capacity_scale" in entry["text"] for entry in index["docs"])
    # Guides rank above the reference, and that above nothing else.
    boosts = {entry["location"].partition("/")[0]: entry.get("boost", 1) for entry in index["docs"]}
    assert boosts["guide"] > boosts["reference"] == 1
