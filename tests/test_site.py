"""Does the site say what the program says, and do its pages fit the windows in which they are read?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from outlast.cli import cli
from outlast.setting import tree, vars_of

WIDTHS = {"phone": 390, "laptop": 1280, "wide": 1920}
PAGES = ["index.html", "guide/scenarios.html", "reference/settings.html", "papers/index.html", "drives.html"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` makes it, without the notebooks, which take long and have tests of their own."""
    folder = tmp_path_factory.mktemp("site")
    settings = (ROOT / "mkdocs.yml").read_text()
    plain = "\n".join(line for line in settings.splitlines() if "notebooks/" not in line and "notebooks.py" not in line)
    assert plain.count("\n") == settings.count("\n") - 4  # its hook, two pages, the end of the last line
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
    settings = (site / "reference" / "settings.html").read_text()
    waiting = list(tree().values())
    while waiting:
        each = waiting.pop()
        assert f">{each}<" in settings, each
        waiting += vars_of(each).values()
    commands = (site / "reference" / "commands.html").read_text()
    for name in cli.commands:
        assert f">outlast {name}<" in commands, name


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


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
def test_no_page_is_wider_than_its_window(site: Path, browser: Any, width: int) -> None:
    for name in PAGES:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.get((site / name).as_uri())
        wide = browser.execute_script("return document.scrollingElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} px wide"
        # The first picture or table is seen whole, or scrolls by itself.
        shown = browser.execute_script("return document.querySelector('.md-content').getBoundingClientRect().width")
        assert shown <= width
