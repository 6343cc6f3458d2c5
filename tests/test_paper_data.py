"""Is a paper that is a folder of TOML files read, run and judged as it says, and is what cannot be refused by place?"""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from outlast import api, models
from outlast.errors import ScenarioError
from outlast.products.reproduce import paper, write
from outlast.products.reproduce.data import load
from outlast.products.reproduce.data.checks import check_of
from outlast.products.reproduce.data.expression import Words, parse
from outlast.products.reproduce.model import CALIBRATED, RUN, Found, Number, Setting, Table

ROWS = Table(
    [
        {"way": "a", "spare": "10 %", "waf": 4.0, "none": None},
        {"way": "a", "spare": "20 %", "waf": 3.0, "none": None},
        {"way": "b", "spare": "10 %", "waf": 2.0, "none": 1.0},
        {"way": "b", "spare": "20 %", "waf": 1.5, "none": None},
    ]
)


def whole(depth: int) -> st.SearchStrategy[str]:
    """Arithmetic that cannot fail."""
    numbers = st.integers(1, 99).map(str)
    if depth == 0:
        return numbers
    below = whole(depth - 1)
    joined = st.tuples(below, st.sampled_from(["+", "-", "*", "<", ">=", "=="]), below)
    return numbers | joined.map(lambda parts: f"({' '.join(parts)})") | below.map(lambda part: f"(-{part})")


@given(text=whole(4))
def test_arithmetic_is_python_s(text: str) -> None:
    assert parse(text, "here").of(Table([])) == eval(compile(ast.parse(text, mode="eval"), "", "eval"))


def test_columns_labels_and_functions() -> None:
    def of(text: str, **names: Any) -> Any:
        return parse(text, "here").of(ROWS, names)

    assert of('waf(way="a", spare="10 %") / waf(way="b", spare="10 %")') == 2
    assert of("waf(way=w, spare=s) * number(s)", w="b", s="20 %") == 30
    assert of("sum(each(waf))") == 10.5
    assert of('mean(each(waf, way="a")) - min(each(waf, way="a"))') == 0.5
    assert of("max(1, 5, 3) + abs(-2)") == 7
    assert of('each(none, way="b")') == [1.0]
    assert of("each(waf, waf < 4 and way == w)", w="a") == [3.0]
    assert of('each(2 * number(spare), none > 0, way="b")') == [20.0]
    assert of('min(each(number(spare), waf <= 2, way="b"))') == 10
    assert of("models.waf(spare)", spare=0.25) == models.waf(0.25)
    assert of("1 < x < 3 and not x == 2.5", x=2) is True
    for absent in (
        "min(each(waf, waf > 9))",
        "sum(each(waf, wafs > 1))",
        "each(waf, 1, 2)",
        'waf(way="c")',
        "waf()",
        "other",
        'none(way="a", spare="10 %")',
        'other(way="a", spare="10 %")',
    ):
        with pytest.raises(LookupError):
            of(absent)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "no expression"),
        ("{1, 2}", "Set is not taken"),
        ("(lambda: 1)()", "Lambda is not taken"),
        ("waf[0]", "Subscript is not taken"),
        ("'a'.join", "a dot only follows models"),
        ("models.__class__", "no function __class__"),
        ("models.nothing(1)", "no function nothing"),
        ("models.waf.x", "a dot only follows models"),
        ("f(**labels)", "labels are given by name"),
        ("1 @ 2", "BinOp is not taken"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=f"fig.toml: value = .*{message}"):
        parse(text, "fig.toml: value")


def test_words_have_numbers_in_braces() -> None:
    words = Words('{waf(way="a", spare="10 %"):.2f} and {sum(each(waf))}, but', "here")
    assert Words("none", "here").of(ROWS) == "none"
    assert words.of(ROWS).startswith("4.00 and 10.5, but")
    with pytest.raises(LookupError):
        Words('{waf(way="c")}', "here").of(ROWS)
    with pytest.raises(ScenarioError, match="here = 1 \\+: no expression"):
        Words("{1 +}", "here")


def judged(**said: Any) -> Found:
    return check_of(said, "here")(ROWS)


def test_checks_hold_up_to_their_limits_and_no_further() -> None:
    value = {"value": 'waf(way="a", spare="20 %")', "reason": "a test"}
    for expected, within, holds in ((3, 0, True), (3.5, 0.5, True), (3.5, 0.49, False), (2.5, 0.49, False)):
        found = judged(**value, expected=expected, within=within)
        assert found.holds is holds
        assert (found.numbers[0].ours, found.numbers[0].paper) == (3, expected)
    for bound, holds in (
        ({"least": 3}, True),
        ({"most": 3}, True),
        ({"below": 3}, False),
        ({"above": 3}, False),
        ({"above": 2.9, "below": "1 + 2.1"}, True),
        ({"above": 2.9, "below": 2.95}, False),
    ):
        assert judged(**value, **bound).holds is holds, bound
    falling = ['waf(way=w, spare="20 %")', 'waf(way=w, spare="10 %")']
    assert judged(rising=falling, ties=0, **{"for": {"w": ["a", "b"]}}).holds
    assert not judged(rising=falling[::-1], ties=0.2, **{"for": {"w": ["a"]}}).holds
    assert judged(rising=falling[::-1], ties=0.26, **{"for": {"w": ["a", "b"]}}).holds
    assert judged(rising='each(waf, way="a")').holds is False
    assert [judged(rising="each(waf - waf + 1)", ties=ties).holds for ties in (0, -1e-9)] == [True, False]
    assert judged(rising='each(number(spare), way="a")').holds
    with pytest.raises(LookupError, match="fewer than two"):
        judged(rising="each(waf, waf == 4)")
    assert judged(**value, below=4, paper=5, name="it").numbers == (Number("it", 3, 5),)
    parts = [{"name": "a", "expected": 3, "within": 0}, {"name": "b", "below": 3}]
    assert [judged(**value, parts=parts[:many]).holds for many in (1, 2)] == [True, False]
    assert judged(**value, parts=parts).words == "a 3 (expected 3 within 0); b 3 (below 3)"
    with pytest.raises(ScenarioError, match=r"here.parts\[0\]: hare: unknown key"):
        judged(**value, parts=[{"hare": 1}])
    # One that does not hold decides; a row that is absent is for the statement to tell.
    both = {"value": 'waf(way=w, spare="10 %")', "least": 3, "for": {"w": ["a", "b"]}}
    assert judged(**both).holds is False
    with pytest.raises(LookupError):
        judged(**both | {"for": {"w": ["c"]}})
    with pytest.raises(LookupError):
        judged(**both | {"for": {"w": []}})
    assert judged(check="test_paper_data:own").words == "four rows"


def own(table: Table) -> Found:
    """A check that is real code."""
    return Found(len(table.rows) == 4, "four rows")


FIGURE = """
title = "Figure 1: spare"
about = "More of it helps."
kind = "calibrated"

[[points]]
scenario = "small.toml"
labels = { way = "greedy" }
modes.quick = { "workload.synthetic.duration" = "150ms" }

[[points.vary]]
name = "spare"
setting = "device.ftl.capacity"
values = ["22MiB", "24MiB"]
labels = ["more", "less"]

[[points]]
scenario = "small.toml"
labels = { way = "fifo", spare = "less" }
set = { device = { ftl = { gc = { policy = "fifo" } } } }

[[columns]]
name = "waf"
figure = "write_amplification.total"

[[columns]]
name = "beside"
value = 'waf / waf(way="greedy", spare="less")'

[[charts]]
title = "Write amplification"
x = "spare"
y = "waf"
by = "way"

[[statements]]
text = "More spare space writes less."
where = "1"
kind = "simulation"
rising = ['waf(way="greedy", spare="more")', 'waf(way="greedy", spare="less")']

[[statements]]
text = "It is itself."
where = "2"
value = 'beside(way="greedy", spare="less")'
expected = 1
within = 0
reason = "exact"
"""
PAPER = """
name = "small"
title = "Small"
figures = ["fig1"]
modes.quick = { scale = 1, about = "tiny" }
"""


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """A paper of one figure."""
    (tmp_path / "small.toml").write_text(tiny.read_text())
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "fig1.toml").write_text(FIGURE)
    return tmp_path


def test_a_folder_of_data_is_a_paper(folder: Path) -> None:
    small = load(folder)
    setting = Setting(small.modes["quick"], folder)
    done = write.reproduce([write.Chosen(small, small.figures, setting)], folder / "out")
    ((figure, table, verdicts),) = done.chapters[0].parts
    assert [(row["way"], row["spare"]) for row in table.rows] == [
        ("greedy", "more"),
        ("greedy", "less"),
        ("fifo", "less"),
    ]
    for row, changes in zip(
        table.rows,
        (
            {"device.ftl.capacity": "22MiB", "workload.synthetic.duration": "150ms"},
            {"device.ftl.capacity": "24MiB", "workload.synthetic.duration": "150ms"},
            {"device.ftl.gc.policy": "fifo"},
        ),
        strict=True,
    ):
        alone = api.run(folder / "small.toml", changes).summary["write_amplification"]["total"]
        assert row["waf"] == alone
        assert math.isclose(row["beside"], alone / table.rows[1]["waf"])
    assert [verdict["kind"] for verdict in verdicts] == [RUN, CALIBRATED]
    assert verdicts[1]["verdict"] == "agrees"
    assert done.to_dict()["counts"]["statements"] == 1
    assert dict(figure.columns) == {"waf": "waf", "beside": "beside"}
    (chart,) = figure.charts(table)
    assert [curve["name"] for curve in chart.data] == ["greedy", "fifo"]
    assert json.loads((folder / "out" / "reproduction.json").read_text())["papers"][0]["paper"] == "small"


def test_a_block_of_points_may_be_smaller_than_its_mode(folder: Path) -> None:
    file = folder / "fig1.toml"
    file.write_text(file.read_text().replace("[[points]]", "[[points]]\nleast_scale.quick = 4", 1))
    small = load(folder)
    (figure,) = small.figures
    scales = {cell.least_scale for cell in figure.cells(Setting(small.modes["quick"], folder))}
    assert scales == {1, 4}  # the other block has no such limit


def test_rows_over_text_are_labelled_by_it(folder: Path) -> None:
    rows = '[[rows]]\nover = { way = ["one", "two"], spare = [0.1] }\n'
    columns = '[[columns]]\nname = "waf"\nvalue = "models.waf(spare)"\n'
    (folder / "fig1.toml").write_text(f'title = "F"\nabout = "A"\n{rows}{columns}')
    (figure,) = load(folder).figures
    # A column is a number; `way` stands before all of them.
    assert dict(figure.columns) == {"spare": "spare", "waf": "waf"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('where = "2"', 'whare = "2"', r"statements\[1\]: whare: unknown key"),
        ('reason = "exact"', "", r"statements\[1\]: within needs the reason for it"),
        ("within = 0", 'claims = "much"', r"statements\[1\]: claims = much: must be one of number, order"),
        ('kind = "simulation"', 'kind = "guess"', r"kind = guess: must be one of simulation, closed form"),
        ("write_amplification.total", "write_amplification.totl", r"no such figure; did you mean"),
        ('figure = "write_amplification.total"', "", r"columns\[0\]: needs figure, value, formula or function"),
        ('by = "way"', 'bye = "way"', r"charts\[0\]: bye: unknown key"),
        ("[[points]]", "[[points]]\nextra = 1", r"points\[0\]: extra: unknown key"),
        ("value = 'beside", "value = '1 + beside(", r"statements\[1\]\.value = .*: no expression"),
        ("title = ", "title ", r"fig1.toml: .*line 2"),
    ],
)
def test_what_cannot_be_is_refused_by_place(folder: Path, old: str, new: str, message: str) -> None:
    file = folder / "fig1.toml"
    file.write_text(FIGURE.replace(old, new, 1))
    with pytest.raises(ScenarioError, match=message):
        load(folder)


def test_the_paper_that_is_data_has_no_code() -> None:
    here = ROOT / "python" / "outlast" / "products" / "reproduce" / "lfs"
    assert {file.suffix for file in here.iterdir()} == {".toml"}
    assert [figure.name for figure in paper("lfs").figures] == ["fig03", "fig04", "fig05", "fig07"]
