"""Do the example notebooks run, does their output hold what their text says, and does the site show it?"""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from test_notebook import Page


@cache
def maker() -> Any:
    """The hook that makes the pages."""
    spec = importlib.util.spec_from_file_location("notebook_pages", ROOT / "docs" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"\*\*([^*]*\d[^*]*)\*\*")
"""A number that the text says in bold."""


@cache
def executed(path: Path) -> Any:
    """A notebook that has been run, once for all tests."""
    return maker().executed(path)


def printed(cell: Any) -> str:
    """Text output of a cell."""
    return "".join(output.get("text", "") for output in cell.get("outputs", ()))


def unsaid(cells: list[Any]) -> list[str]:
    """Numbers in bold that no cell above gave."""
    lacking, above = [], ""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            lacking += [
                number
                for number in NUMBER.findall(cell["source"])
                if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", above)
            ]
        else:
            above += printed(cell)
    return lacking


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"design-a-drive", "plan-a-fleet", "study-a-policy"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_its_text_says(path: Path) -> None:
    cells = executed(path).cells
    said = [number for cell in cells if cell.cell_type == "markdown" for number in NUMBER.findall(cell.source)]
    assert len(said) >= 8
    assert unsaid(cells) == []


def test_a_number_that_no_cell_gives_is_found() -> None:
    code = {"cell_type": "code", "outputs": [{"text": "about 13.53 and -0.023 ± 0.004\n"}]}
    text = {"cell_type": "markdown", "source": "**3.53**, **13.5**, **13.53** and **-0.023 ± 0.004**, **bold**"}
    assert unsaid([code, text]) == ["3.53", "13.5"]
    assert unsaid([text, code]) == ["3.53", "13.5", "13.53", "-0.023 ± 0.004"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path: Path) -> None:
    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_shows_all_output_and_needs_no_network(path: Path) -> None:
    notebook = executed(path)
    page = maker().page(notebook, path.stem)
    charts = 0
    for cell in notebook.cells:
        assert cell.source.strip() in page and printed(cell).rstrip() in page
        charts += sum(maker().CHART in output.get("data", ()) for output in cell.get("outputs", ()))
    assert charts >= 4 and page.count("Plotly.newPlot(") == charts
    html = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    loaded = [attributes["src"] for tag, attributes in Page(html).tags if "src" in attributes]
    assert loaded == ["plotly.min.js"] and "cdn" not in html
    assert len(page) < 600_000


def test_a_policy_of_ones_own_beats_cost_benefit_where_the_text_says() -> None:
    (path,) = (path for path in NOTEBOOKS if path.stem == "study-a-policy")
    rows = re.findall(
        r"^skew (\S+): keen less cost-benefit (\S+) ± (\S+)", "".join(map(printed, executed(path).cells)), re.M
    )
    surely = [skew for skew, mean, half in rows if float(mean) + float(half) < 0]
    unsure = [skew for skew, mean, half in rows if abs(float(mean)) <= float(half)]
    assert (surely, unsure) == (["0.6", "0.9"], ["0.3", "1.2"])


def test_a_notebook_that_fails_makes_no_page(tmp_path: Path) -> None:
    bad = json.loads(NOTEBOOKS[0].read_text())
    bad["cells"] = [cell for cell in bad["cells"] if cell["cell_type"] == "code"][:1]
    bad["cells"][0]["source"] = "import outlast\noutlast.run('demo', {'seed': -1})"
    (tmp_path / "bad.ipynb").write_text(json.dumps(bad))
    with pytest.raises(Exception, match="ScenarioError"):
        maker().executed(tmp_path / "bad.ipynb")
