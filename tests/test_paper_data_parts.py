"""Computed choices, traces, statements in turn, values between rows and charts of a figure that is data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast.errors import ScenarioError
from outlast.products.reproduce.data import charts, figure
from outlast.products.reproduce.data.expression import parse
from outlast.products.reproduce.model import Mode, Setting, Table

HEAD = """
title = "F"
about = "A"

[[columns]]
name = "waf"
figure = "write_amplification.total"
"""
ROWS = Table(
    [
        {"way": "a", "spare": "10 %", "waf": 4.0, "none": None},
        {"way": "a", "spare": "20 %", "waf": 3.0, "none": None},
        {"way": "b", "spare": "10 %", "waf": 2.0, "none": 1.0},
        {"way": "b", "spare": "20 %", "waf": 1.5, "none": None},
    ]
)


def test_a_column_between_two_rows() -> None:
    rows = [{"way": "a", "busy": busy, "time": time} for busy, time in ((10, 1.0), (30, 2.0), (70, 6.0))]
    table = Table([*rows, {"way": "b", "busy": 50, "time": 99.0}, {"way": "a", "busy": 90, "time": None}])

    def of(place: float) -> Any:
        return parse(f'at(time, busy, {place}, way="a")', "here").of(table)

    assert (of(10), of(20), of(30), of(60)) == (1, 1.5, 2, 5)
    for outside in (9, 70, 80):
        with pytest.raises(LookupError, match="on either side"):
            of(outside)
    with pytest.raises(LookupError, match="at takes a column"):
        parse('at(time, way="a")', "here").of(table)


def ways(base: int, more: int = 0) -> dict[str, dict[str, Any]]:
    """Choices that are computed."""
    return {"some": {"device.ftl.capacity": f"{base}MiB"}, "less": {"device.ftl.capacity": f"{base - more}MiB"}}


def test_computed_choices_statements_in_turn_and_traces(tmp_path: Path) -> None:
    computed = """
[[points]]
scenario = "small.toml"
labels = { way = "computed" }
vary = [{ name = "spare", choices = { from = "test_paper_data_parts:ways", base = 24, more = 2 } }]

[[points]]
scenario = "small.toml"
labels = { way = "traced", spare = "less" }
trace = { file = "small.trace", format = "spc" }
"""
    turns = """
[[statements]]
each = [{ way = "greedy", paper = 2.5 }, { way = "fifo", paper = 4 }]
text = "With {way} it is {paper}."
where = "3"
name = "{way}"
value = 'waf(way=way, spare="less")'
expected = "paper"
within = 0.5
reason = "a test"
because = 'as {way} gives {waf(way=way, spare="less"):.1f}'

[[statements]]
text = "Under the trace."
where = "3"
when = [{ way = "nothing" }, { way = "traced" }]
value = 'waf(way="traced", spare="less")'
above = 1
"""
    file = tmp_path / "fig1.toml"
    (tmp_path / "small.toml").write_text('extends = "demo"')
    file.write_text(HEAD + computed + turns)
    own, mode = figure(file), Mode("quick", 1, "")
    found = [cell for cell in own.cells(Setting(mode, tmp_path)) if cell.labels["way"] == "computed"]
    assert [cell.labels["spare"] for cell in found] == ["some", "less"]
    assert [cell.overrides["device.ftl.capacity"] for cell in found] == ["24MiB", "22MiB"]
    # A trace that is absent leaves its points out, and what is said of them is not asked.
    for there, setting in ((False, Setting(mode, tmp_path)), (True, Setting(mode, tmp_path, tmp_path))):
        (tmp_path / "small.trace").touch()
        traced = [cell for cell in own.cells(setting) if cell.labels["way"] == "traced"]
        assert len(traced) == there
        if traced:
            wanted = {"trace": {"file": str(tmp_path / "small.trace"), "format": "spc"}}
            assert traced[0].layers[1] == {"workload": wanted}
    rows = [{"way": way, "spare": "less", "waf": 3.0} for way in ("greedy", "fifo")]
    first, second = own.verdicts(Table(rows))
    assert (first["statement"], first["verdict"]) == ("With greedy it is 2.5.", "agrees")
    assert (second["statement"], second["because"]) == ("With fifo it is 4.", "as fifo gives 3.0")
    assert [number["name"] for number in second["numbers"]] == ["fifo"]
    assert own.verdicts(Table([*rows, {"way": "traced", "spare": "less", "waf": 2.0}]))[2]["verdict"] == "agrees"
    file.write_text(HEAD + computed.replace(":ways", ":none") + turns)
    with pytest.raises(ScenarioError, match=r"vary\[0\]\.choices\.from = test_paper_data_parts:none: no such function"):
        figure(file).cells(Setting(mode, tmp_path))


def test_charts_of_some_rows_of_formulas_and_of_parts() -> None:
    some = charts.chart({"title": "t", "x": "spare", "y": "waf", "where": {"way": "b"}}, "c", ROWS)
    assert [curve["y"] for curve in some.data] == [[2.0, 1.5]]
    parts = {"title": "t", "x": "way", "y": "waf", "also": ["none"], "where": {"spare": "10 %"}, "stacked": True}
    assert charts.chart(parts, "c", ROWS).layout["barmode"] == "stack"
    curves = [{"name": "square", "value": "x ** 2"}, {"name": "absent", "value": 'x * waf(way="c")'}]
    drawn = charts.chart({"title": "t", "x": "x", "range": [1, 3, 3], "curves": curves}, "c", ROWS)
    assert [(curve["name"], curve["x"], curve["y"]) for curve in drawn.data] == [("square", [1, 2, 3], [1, 4, 9])]


def test_a_number_may_have_its_closed_form_beside_it(tmp_path: Path) -> None:
    judged = """
[[statements]]
text = "t"
where = "1"
value = 'waf(way="a", spare="20 %")'
expected = 3
within = 0
closed = "6 / 2"
reason = "exact"
"""
    file = tmp_path / "fig1.toml"
    file.write_text(HEAD + judged)
    (number,) = figure(file).statements[0].check(ROWS).numbers
    assert (number.ours, number.paper, number.closed) == (3, 3, 3)


SHARED = """
[[points]]
scenario = "small.toml"
only.quick = [{ way = "one", space = "22MiB" }]
vary = [
  { name = "way", choices = { from = "ways.toml", names = { one = "greedy", two = "fifo" } } },
  { name = "space", setting = "device.ftl.capacity", values = ["22MiB", "24MiB"] },
]

[[points]]
scenario = "small.toml"
labels = { space = "24MiB" }
vary = [{ name = "way", choices = { from = "ways.toml", names = ["fifo"] } }]
"""


def test_choices_of_a_file_beside_the_figure_and_points_of_a_mode(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text('extends = "demo"')
    (tmp_path / "ways.toml").write_text(
        '[greedy]\ndevice.ftl.gc.policy = "greedy"\n[fifo]\ndevice.ftl.gc.policy = "fifo"\n'
    )
    file = tmp_path / "fig1.toml"
    file.write_text(HEAD + SHARED)

    def cells(mode: str) -> list[tuple[str, str, str]]:
        found = figure(file).cells(Setting(Mode(mode, 1, ""), tmp_path))
        return [(own.labels["way"], own.labels["space"], own.overrides["device.ftl.gc.policy"]) for own in found]

    whole = [(way, space, rule) for way, rule in (("one", "greedy"), ("two", "fifo")) for space in ("22MiB", "24MiB")]
    assert cells("full") == [*whole, ("fifo", "24MiB", "fifo")]
    assert cells("quick") == [whole[0], ("fifo", "24MiB", "fifo")]
    file.write_text(HEAD + SHARED.replace('names = ["fifo"]', 'names = ["oldest"]'))
    with pytest.raises(ScenarioError, match=r"vary\[0\]\.choices\.names: oldest: not in .*there are greedy, fifo"):
        cells("full")


def test_a_formula_of_each_row_over_rows_that_are_not_kept(tmp_path: Path) -> None:
    numbers = """
keep = "number"

[[rows]]
list = [{ way = "a", waf_of = "1 + 3" }, { way = "b", waf_of = "2" }]

[[rows]]
list = [
  { number = "ratio", paper = 2.5, formula = 'waf(way="a") / waf(way="b")' },
  { number = "absent", paper = 1, formula = 'waf(way="c")' },
]

[[columns]]
name = "waf"
formula = "waf_of"

[[columns]]
name = "paper"
given = true

[[columns]]
name = "ours"
formula = "formula"
"""
    file = tmp_path / "fig1.toml"
    file.write_text('title = "F"\nabout = "A"\nkind = "closed form"\n' + numbers)
    own, setting = figure(file), Setting(Mode("quick", 1, ""), tmp_path)
    assert own.rows is not None
    rows = own.rows(setting, [], [])
    assert [(row["number"], row["paper"], row["ours"]) for row in rows] == [("ratio", 2.5, 2.0), ("absent", 1, None)]
    file.write_text(file.read_text().replace("1 + 3", "1 +"))
    with pytest.raises(ScenarioError, match=r"columns\[0\]: waf_of = 1 \+: no expression"):
        figure(file).rows(setting, [], [])  # type: ignore[misc]


def test_a_bound_may_have_a_closed_form_beside_it(tmp_path: Path) -> None:
    judged = """
[[statements]]
text = "t"
where = "1"
value = 'waf(way="a", spare="20 %")'
below = 3.5
paper = 4
closed = "floor(2.9)"
"""
    file = tmp_path / "fig1.toml"
    file.write_text(HEAD + judged)
    found = figure(file).statements[0].check(ROWS)
    assert found.holds
    (number,) = found.numbers
    assert (number.ours, number.paper, number.closed) == (3, 4, 2)
