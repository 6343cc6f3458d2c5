"""Blocks said once for several, rows beside each other, zeros, columns from functions, and kinds of charts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from outlast.errors import ScenarioError
from outlast.products.reproduce.data import charts, figure, load
from outlast.products.reproduce.data.blocks import spread
from outlast.products.reproduce.data.expression import parse
from outlast.products.reproduce.model import Mode, Setting, Table

MODE = Mode("quick", 1, "")
ROWS = Table(
    [
        {"way": "a", "state": "new", "time": 2.0, "points": [[1, 10.0], [2, 90.0]], "faster": 0.0},
        {"way": "a", "state": "worn", "time": 3.0, "points": [[1, 5.0], [2, 40.0]], "faster": 1.0},
        {"way": "b", "state": "new", "time": 4.0, "points": None, "faster": None},
        {"way": "b", "state": "worn", "time": 8.0, "faster": 1.0, "what": ["x", "y"]},
    ]
)


def of(text: str) -> Any:
    return parse(text, "here").of(ROWS)


def test_a_block_is_made_for_each_with_every_part() -> None:
    block = {
        "set": {"device": {"a": 1, "b": 2}},
        "labels": {"way": "x"},
        "each": [{"scenario": "1"}, {"scenario": "2", "set": {"device": {"b": 3}}}],
        "parts": [{"labels": {"part": "p"}}, {"labels": {"part": "q", "way": "y"}}],
    }
    found = spread([block], ("set", "labels", "scenario"), "here")
    assert [(own["scenario"], own["set"]["device"], own["labels"]) for own in found] == [
        ("1", {"a": 1, "b": 2}, {"way": "x", "part": "p"}),
        ("1", {"a": 1, "b": 2}, {"way": "y", "part": "q"}),
        ("2", {"a": 1, "b": 3}, {"way": "x", "part": "p"}),
        ("2", {"a": 1, "b": 3}, {"way": "y", "part": "q"}),
    ]
    assert spread([{"set": 1}], ("set",), "here") == [{"set": 1}]
    with pytest.raises(ScenarioError, match=r"here\[0\]: scen: unknown key; there are set"):
        spread([{"each": [{"scen": 1}]}], ("set",), "here")


def test_a_row_stands_beside_the_one_before() -> None:
    worse = "time > previous(time, way=way)"
    assert of(f"each(time / previous(time, way=way), {worse})") == [1.5, 2.0]
    assert of("each(time / previous(time, 1, way=way))") == [2.0, 1.5, 4.0, 2.0]
    # Of an expression, and across the rows of another label.
    assert of('each(previous(2 * time, state=state), way="b")') == [4.0, 6.0]
    assert parse("time - previous(time, way=way)", "here").of(ROWS, ROWS.rows[3]) == 4.0
    for without in ("previous(time)", 'each(previous(time, way="a"))', "each(previous(time, 1, 2, way=way))"):
        with pytest.raises(LookupError, match=r"before this one|previous takes"):
            of(without)


def test_zeros_remainders_and_lists() -> None:
    assert of("zero(x ** 2 - 2, x, 0, 2)") == pytest.approx(2**0.5, rel=1e-12)
    assert of('zero(time(way="b", state="new") - y, y, 0, 100)') == pytest.approx(4.0, rel=1e-12)
    with pytest.raises(LookupError, match="no change of sign from 0 to 1"):
        of("zero(x + 1, x, 0, 1)")
    with pytest.raises(LookupError, match="zero takes"):
        of("zero(2, 3, 0, 1)")
    assert of("7 * 4 % 8 + floor(7 / 2)") == 7
    assert of('sum(each(1, what == ["x", "y"]))') == 1


def double(_: Setting, figures: Mapping[str, Any]) -> float:
    """A column that is real code."""
    return 2.0 * float(figures["host.reads"])


def test_columns_of_functions_and_traces_that_are_absent(tmp_path: Path) -> None:
    (tmp_path / "paper.toml").write_text(
        'name = "p"\ntitle = "P"\nfigures = ["fig1"]\nmodes.quick = { scale = 1, about = "" }\n'
        '[[traces]]\nfile = "some.trace"\nwithout = "The row of {file}: it is not in {folder}."\n'
    )
    text = """
title = "F"
about = "A"
columns = [
  { name = "reads", function = "test_paper_data_blocks:double" },
  { name = "before", value = "previous(reads, 0, way=way)" },
]
[[rows]]
list = [{ way = "given", reads = 5 }, { way = "given", reads = 7 }]
"""
    (tmp_path / "fig1.toml").write_text(text)
    own = load(tmp_path)
    assert own.skipped(Setting(MODE, tmp_path)) == ["The row of some.trace: it is not in any folder of traces."]
    (tmp_path / "some.trace").touch()
    assert own.skipped(Setting(MODE, tmp_path, tmp_path)) == []
    (drawn,) = own.figures
    assert drawn.rows is not None
    found = drawn.rows(Setting(MODE, tmp_path), [], [])
    assert [(row["reads"], row["before"]) for row in found] == [(5, 0), (7, 5)]
    (tmp_path / "paper.toml").write_text('name = "p"\ntitle = "P"\nfigures = []\nmodes = {}\n[[traces]]\nfil = 1\n')
    with pytest.raises(ScenarioError, match=r"traces\[0\]: fil: unknown key"):
        load(tmp_path)
    (tmp_path / "fig1.toml").write_text(text.replace(":double", ":halved"))
    with pytest.raises(ScenarioError, match=r"columns\[0\]\.function = test_paper_data_blocks:halved: no such"):
        figure(tmp_path / "fig1.toml")
    (tmp_path / "fig1.toml").write_text(text.replace("blocks:double", 'blocks:double", figure = "host.reads'))
    with pytest.raises(ScenarioError, match="needs figure, value, formula or function"):
        figure(tmp_path / "fig1.toml")


def test_charts_of_pairs_of_what_holds_and_of_a_row() -> None:
    pairs = charts.chart(
        {"title": "t", "x": "bits", "pairs": "points", "by": "state", "x_most": 9, "mark": {"x": 4}}, "c", ROWS
    )
    assert [(own["name"], own["x"], own["y"]) for own in pairs.data] == [
        ("new", [1, 2], [10.0, 90.0]),
        ("worn", [1, 2], [5.0, 40.0]),
    ]
    assert pairs.layout["xaxis"]["range"] == [0, 9]
    (mark,) = pairs.layout["shapes"]
    assert (mark["x0"], mark["x1"], mark["y0"], mark["y1"], mark["yref"]) == (4, 4, 0, 1, "paper")
    wide = charts.chart({"title": "t", "x": "way", "y": "time", "mark": {"y": 1}, "x_log": True}, "c", ROWS)
    assert wide.layout["xaxis"]["type"] == "log"
    (level,) = wide.layout["shapes"]
    assert (level["y0"], level["y1"], level["x0"], level["x1"], level["xref"]) == (1, 1, 0, 1, "paper")
    shown = charts.chart({"title": "t", "x": ["way"], "y": ["state"], "holds": "faster", "shown": "time"}, "c", ROWS)
    (cell,) = shown.data
    assert (cell["x"], cell["y"]) == (["a", "b"], ["new", "worn"])
    assert cell["z"] == [[0.0, None], [1.0, 1.0]]
    assert cell["text"] == [["+2.0", ""], ["+3.0", "+8.0"]]
    curves = [{"name": "c", "value": "time * x", "range": [1, 2, 2]}, {"name": "d", "value": "x"}]
    one = {"title": "t", "x": "x", "where": {"way": "a", "state": "worn"}, "range": [0, 1, 2], "curves": curves}
    assert [(own["x"], own["y"]) for own in charts.chart(one, "c", ROWS).data] == [([1, 2], [3, 6]), ([0, 1], [0, 1])]
