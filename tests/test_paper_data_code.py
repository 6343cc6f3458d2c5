"""Code in a paper that is data: points from a function, and figures of a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.errors import ScenarioError
from outlast.products.reproduce.data import load
from outlast.products.reproduce.data.expression import Words, parse
from outlast.products.reproduce.model import Cell, Figure, Setting, Table

PAPER = """
name = "small"
title = "Small"
figures = ["fig1", "test_paper_data_code:CODED"]
against = "measurement"
modes.quick = { scale = 1, about = "tiny" }
"""
FIGURE = """
title = "F"
about = "A"

[[points]]
function = "test_paper_data_code:fills"
arguments = { file = "drive.toml", measured = { "10 GiB" = 1.5, "20 GiB" = 3.0 } }

[[columns]]
name = "measured"
given = true
"""
CODED = Figure("coded", "Coded", "", lambda _: [], {}, lambda _: [], [])


def fills(setting: Setting, file: str, measured: dict[str, float]) -> list[Cell]:
    """Points that are computed, each with what was measured."""
    layers = [setting.scenarios / file]
    return [
        Cell({"fill": fill, "mode": setting.mode.name, "measured": value}, layers, {"device.ftl.capacity": fill})
        for fill, value in measured.items()
    ]


def test_points_may_come_from_a_function_and_figures_from_a_module(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "fig1.toml").write_text(FIGURE)
    small = load(tmp_path)
    assert small.against == "measurement"
    assert small.figures[1] is CODED
    cells = small.figures[0].cells(Setting(small.modes["quick"], tmp_path))
    assert [cell.labels["fill"] for cell in cells] == ["10 GiB", "20 GiB"]
    assert [cell.labels["measured"] for cell in cells] == [1.5, 3.0]
    assert {cell.labels["mode"] for cell in cells} == {"quick"}
    assert cells[0].layers == [tmp_path / "drive.toml"]
    assert cells[1].overrides == {"device.ftl.capacity": "20 GiB"}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("paper.toml", ":CODED", ":NONE", r"paper.toml: figures = test_paper_data_code:NONE: no such function"),
        ("fig1.toml", ":fills", ":spills", r"points\[0\].function = test_paper_data_code:spills: no such function"),
    ],
)
def test_code_that_is_absent_is_named(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    for name, text in (("paper.toml", PAPER), ("fig1.toml", FIGURE)):
        (tmp_path / name).write_text(text.replace(old, new) if name == file else text)
    with pytest.raises(ScenarioError, match=message):
        load(tmp_path)


def test_one_value_or_the_other_by_a_condition() -> None:
    table = Table([{"way": "a", "steady": 1.0}, {"way": "b", "steady": 0.0}])
    assert parse('1 if steady(way="a") else 1 / 0', "here").of(table) == 1
    words = Words('{"" if steady(way=way) else "not steady: ":s}so it is', "here")
    assert [words.of(table, {"way": way}) for way in "ab"] == ["so it is", "not steady: so it is"]
