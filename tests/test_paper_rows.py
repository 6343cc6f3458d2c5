"""Are rows of a TOML file that need no run made from what it says, or from the function that it names?"""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast import models
from outlast.errors import ScenarioError
from outlast.products.reproduce.data import load
from outlast.products.reproduce.model import Row, Setting, Table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A paper without its figure."""
    paper = 'name = "small"\ntitle = "Small"\nfigures = ["fig1"]\nmodes.quick = { scale = 1, about = "tiny" }\n'
    (tmp_path / "paper.toml").write_text(paper)
    return tmp_path


def test_rows_of_closed_forms_need_no_run(folder: Path) -> None:
    rows = '[[rows]]\nlabels = { way = "formula" }\nover = { spare = [0.1, 0.25], pages = [64, 128] }\n'
    columns = '[[columns]]\nname = "waf"\nvalue = "models.waf(spare, pages=pages)"\n'
    statement = '[[statements]]\ntext = "t"\nwhere = "1"\nvalue = "waf(spare=0.1, pages=64)"\nabove = 1\n'
    (folder / "fig1.toml").write_text(f'title = "F"\nabout = "A"\nkind = "closed form"\n{rows}{columns}{statement}')
    small = load(folder)
    setting = Setting(small.modes["quick"], folder)
    (figure,) = small.figures
    assert figure.cells(setting) == []
    assert figure.rows is not None
    table = Table(figure.rows(setting, [], []))
    wanted = [(spare, pages) for spare in (0.1, 0.25) for pages in (64, 128)]
    assert [(row["spare"], row["pages"]) for row in table.rows] == wanted
    assert [row["waf"] for row in table.rows] == [models.waf(spare, pages=pages) for spare, pages in wanted]
    assert figure.verdicts(table)[0]["verdict"] == "agrees"


def squares(setting: Setting, unit: str, side: int) -> list[Row]:
    """Rows that are real code: one for each sign."""
    return [{"area": sign * side**2, "words": f"{setting.mode.name}, {unit}"} for sign in (1, -1)]


def test_rows_may_come_from_a_function(folder: Path) -> None:
    rows = '[[rows]]\nfunction = "test_paper_rows:squares"\narguments = { unit = "m" }\n'
    rows += "list = [{ side = 2 }, { side = 3 }]\n"
    columns = '[[columns]]\nname = "area"\ngiven = true\n[[columns]]\nname = "twice"\nvalue = "2 * area"\n'
    statement = (
        '[[statements]]\ntext = "t"\nwhere = "1"\nvalue = "sum(each(twice, area > 0))"\nabove = 25\nbelow = 27\n'
    )
    text = f'title = "F"\nabout = "A"\nkind = "closed form"\n{rows}{columns}{statement}'
    (folder / "fig1.toml").write_text(text)
    (figure,) = load(folder).figures
    assert figure.rows is not None
    table = Table(figure.rows(Setting(load(folder).modes["quick"], folder), [], []))
    wanted = [(2, 4), (2, -4), (3, 9), (3, -9)]
    assert [(row["side"], row["area"], row["twice"]) for row in table.rows] == [(*pair, 2 * pair[1]) for pair in wanted]
    assert {row["words"] for row in table.rows} == {"quick, m"}
    assert figure.verdicts(table)[0]["verdict"] == "agrees"
    (folder / "fig1.toml").write_text(text.replace(":squares", ":circles"))
    with pytest.raises(ScenarioError, match=r"rows\[0\].function = test_paper_rows:circles: no such function"):
        load(folder)
