"""Does the report show collection as it went, to eyes, keyboards and screen readers?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axe
import outlast
from outlast.report import collection
from test_report import opened

SETTINGS = {"run.utilisation": True, "workload.synthetic.duration": "1s"}


def moments(states: list[str], shares: list[list[float]], **more: Any) -> dict[str, Any]:
    """A table of the map with a moment for each text of states."""
    names = {letter: name for name, letter in collection.LETTERS.items()}
    letters = [letter for text in states for letter in text]
    table: dict[str, Any] = {
        "at_s": np.repeat(np.arange(len(states)) / 4, [len(text) for text in states]),
        "cell": np.concatenate([np.arange(len(text)) for text in states]),
        "superblocks": np.full(len(letters), more.pop("each", 1)),
        "state": [names[letter.lower()] for letter in letters],
        "valid": np.array([share for row in shares for share in row]),
        "slc": np.array([letter.isupper() for letter in letters], dtype=int),
    }
    return table | more


def test_without_the_table_there_is_no_section() -> None:
    assert collection.section({}).html() == ""


def test_the_last_moment_stands_in_the_page_without_a_script() -> None:
    page = collection.section(moments(["ssof", "svOf"], [[1, 0.5, 0.1, 0], [0.6, 0.2, 0.3, 0]])).html()
    assert "4 cells of 1 superblock: 1 full, on average 60 % valid, 1 open, 1 victims, 1 free, 1 in SLC mode" in page
    cells = re.findall(r'<i data-state="(\w)"( data-slc)? style="--valid:(\d+)%">', page.split('class="sblegend"')[0])
    assert cells == [("s", "", "60"), ("v", "", "20"), ("o", " data-slc", "30"), ("f", "", "0")]
    data = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', page)[0])
    assert data == [{"at": [0.0, 0.25], "each": 1, "states": ["ssof", "svOf"], "valid": ["64320a00", "3c141e00"]}]


def test_members_of_an_array_have_maps_of_their_own_even_when_one_left() -> None:
    one = moments(["sf", "so", "ss"], [[1, 0], [1, 0.5], [1, 1]], device=np.zeros(6, dtype=int))
    two = moments(["ff"], [[0, 0]], device=np.ones(2, dtype=int))
    table = {name: np.concatenate([one[name], two[name]]) for name in one}
    page = collection.section(table).html()
    assert page.count('class="sbmap"') == 2
    assert "Drive 1: " in page
    assert 'max="2"' in page


def test_a_page_of_the_most_members_stays_small() -> None:
    many = [moments(["s" * 8] * 64, [[0.5] * 8] * 64, device=np.full(512, number)) for number in range(64)]
    table = {name: np.concatenate([each[name] for each in many]) for name in many[0]}
    assert len(collection.section(table).html()) < 300_000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run that collects."""
    file = tmp_path_factory.mktemp("collection") / "report.html"
    result = outlast.run("demo", SETTINGS)
    result.report(file)
    return file


def test_it_plays_and_every_moment_is_read_aloud(browser: Any, page: Path) -> None:
    assert opened(browser, page) == []
    look = """
      const card = document.querySelector(".card.collection");
      const looks = (cell) => cell.dataset.state + cell.style.getPropertyValue("--valid");
      const map = card.querySelector(".sbmap");
      return [[...map.children].map(looks).join(), map.getAttribute("aria-label"),
        card.querySelector("output").textContent];
    """
    last = browser.execute_script(look)
    slide = """
      const slider = document.querySelector(".card.collection input");
      slider.value = arguments[0];
      slider.dispatchEvent(new Event("input"));
      return slider.getAttribute("aria-valuetext");
    """
    told = browser.execute_script(slide, 0)
    first = browser.execute_script(look)
    assert told == first[2]
    assert all(before != after for before, after in zip(first, last, strict=True))
    # Both scripts, of Python and of the page, say the same of the same moment.
    browser.execute_script(slide, 10_000)
    assert browser.execute_script(look) == last
    press = """
      const button = document.querySelector(".card.collection button");
      button.click();
      return button.textContent;
    """
    assert browser.execute_script(press) == "Pause"
    assert browser.execute_script(look)[2] == first[2]
    assert browser.execute_script(press) == "Play"


def test_it_has_no_fault_of_accessibility(browser: Any, page: Path) -> None:
    opened(browser, page)
    assert axe.faults(browser) == []
