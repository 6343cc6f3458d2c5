"""Has every figure of every paper rows, and every statement a number and a reason where it differs?"""

from __future__ import annotations

import copy
import json
import re
import runpy
from typing import Any

import pytest

from conftest import ROOT
from outlast.errors import ScenarioError
from outlast.reproduce import PAPERS, command, paper, write
from outlast.reproduce.check import every, near
from outlast.reproduce.model import (
    CLOSED,
    KINDS,
    RUN,
    TEXT,
    UNKNOWN,
    Figure,
    Found,
    Number,
    Setting,
    Statement,
    Table,
    incomplete,
)

SCENARIOS = ROOT / "scenarios"
PRINTED = {
    "diff-raid": {"Figure": 13, "Table": 2},
    "flexible": {"Figure": 5, "Table": 1},
    "hrm": {"Figure": 11, "Table": 4},
    "lfs": {"Figure": 10, "Table": 4},
    "msapl": {"Figure": 7, "Table": 3},
    "reparo": {"Figure": 16, "Table": 3},
}
"""How many figures and tables each paper has."""


def named_in(title: str) -> set[str]:
    """`Figure 4` of "Figure 4, Equations 1 and 2: data loss", and all of "Tables 1 to 3"."""
    found = set()
    for kind, first, last in re.findall(r"\b(Figure|Table)s? (\d+)(?: to (\d+))?", title.partition(":")[0]):
        found |= {f"{kind} {number}" for number in range(int(first), int(last or first) + 1)}
    return found


@pytest.mark.parametrize("name", PRINTED)
def test_every_figure_and_table_of_a_paper_has_rows_or_a_reason(name: str) -> None:
    assert set(PRINTED) == set(PAPERS)
    known = paper(name)
    there = set().union(*(named_in(figure.title) for figure in known.figures))
    wanted = {f"{kind} {number}" for kind, count in PRINTED[name].items() for number in range(1, count + 1)}
    assert there | set(known.elsewhere) == wanted
    assert not there & set(known.elsewhere)
    assert all(known.elsewhere.values())


@pytest.mark.parametrize("name", [name for name in PAPERS if name not in ("diff-raid", "lfs")])
def test_closed_forms_have_numbers_and_reasons(name: str) -> None:
    known = paper(name)
    setting = Setting(known.modes["quick"], SCENARIOS / (known.folder or name))
    closed = [figure for figure in known.figures if not figure.cells(setting)]
    assert closed
    for figure in closed:
        table = Table(figure.rows(setting, [], []) if figure.rows else [])
        for verdict in figure.verdicts(table):
            assert verdict["kind"] in (CLOSED, TEXT), verdict
            assert verdict["verdict"] in ("agrees", "differs"), verdict
            assert incomplete(verdict) is None, verdict
        for chart in figure.charts(table):
            assert "NaN" not in chart.html()


def test_numbers_stand_where_they_come_from() -> None:
    both = (Number("a", 3.0, 4.0, " µs"), Number("b", 1.0, 0.0))
    statement = Statement("Both.", "1", lambda _: Found(True, "", both))
    first, second = (statement.judge(Table([]), kind)["numbers"][at] for at, kind in enumerate((RUN, CLOSED)))
    assert first == {
        "name": "a",
        "unit": "µs",
        "paper": 4.0,
        "closed_form": None,
        "simulation": 3.0,
        "ratio": 0.75,
    }
    assert (second["closed_form"], second["simulation"], second["ratio"]) == (1.0, None, None)
    # Those of predicates that are put together are all there.
    assert [number.name for number in every([near("x", 1, 2, 1), near("y", 1, 2, 1)]).numbers] == ["x", "y"]


def test_verdicts_of_the_documentation_are_of_these_statements() -> None:
    """`outlast reproduce` and then `python docs/make_verdicts.py` make them anew."""
    kept = json.loads((ROOT / "docs" / "papers" / "verdicts.json").read_text())
    assert [part["paper"] for part in kept["papers"]] == list(PAPERS)
    for part in kept["papers"]:
        declared = {
            (figure.name, statement.text): statement
            for figure in paper(part["paper"]).figures
            for statement in figure.statements
        }
        there = {
            (figure["name"], verdict["statement"]): verdict
            for figure in part["figures"]
            for verdict in figure["statements"]
        }
        for key, verdict in there.items():
            assert key in declared
            assert verdict["kind"] in KINDS
            assert incomplete(verdict) is None, (part["paper"], verdict)
        # Those that are not asked there need a trace.
        absent = [key for key in declared if key not in there]
        assert all(declared[key].when(Table([])) is False for key in absent), absent
        assert part["counts"] == write.counts(list(there.values()))
        page = (ROOT / "docs" / "papers" / "index.md").read_text()
        assert f"| {part['counts']['agrees']} of {part['counts']['statements']} |" in page


def test_another_verdict_kind_or_number_is_found_when_a_paper_is_judged_again() -> None:
    make = runpy.run_path(str(ROOT / "docs" / "make_verdicts.py"))
    kept = json.loads((ROOT / "docs" / "papers" / "verdicts.json").read_text())
    assert [make["turn"](number) for number in range(7)] == [*PAPERS, next(iter(PAPERS))]
    assert make["changes"](kept, kept) == []

    def changed(**own: Any) -> Any:
        part = copy.deepcopy(next(each for each in kept["papers"] if each["paper"] == "lfs"))
        verdict = next(each for each in part["figures"][0]["statements"] if each["numbers"])
        verdict["numbers"][0] |= own.pop("number", {})
        verdict |= own
        return make["changes"]({"papers": [part]}, kept)

    number = {"simulation": 1.0}
    assert changed() == []
    for own in ({"verdict": "not judged"}, {"kind": CLOSED}, {"statement": "Another."}, {"number": number}):
        assert changed(**own), own
    assert len(changed(statement="Another.")) == 2


def test_verdicts_of_what_is_no_paper_are_not_compared() -> None:
    """`outlast reproduce drives lfs` has drives among its papers: once a traceback."""
    make = runpy.run_path(str(ROOT / "docs" / "make_verdicts.py"))
    kept = json.loads((ROOT / "docs" / "papers" / "verdicts.json").read_text())
    lfs = next(copy.deepcopy(each) for each in kept["papers"] if each["paper"] == "lfs")
    lfs["figures"][0]["statements"][0]["verdict"] = "not judged"
    said = make["changes"]({"papers": [lfs | {"paper": "drives"}, lfs]}, kept)
    assert len(said) == 1 and said[0].startswith("lfs/"), said
    # One that has no verdicts yet has new ones only.
    assert all(line.endswith("is new") for line in make["changes"]({"papers": [lfs]}, {"papers": []}))


def test_a_reason_that_is_lost_is_told() -> None:
    """A column that a reason needs had no value in any row, and the verdict was the same: nothing said so."""
    make = runpy.run_path(str(ROOT / "docs" / "make_verdicts.py"))
    kept = json.loads((ROOT / "docs" / "papers" / "verdicts.json").read_text())
    reparo = next(copy.deepcopy(each) for each in kept["papers"] if each["paper"] == "reparo")
    differing = next(own for part in reparo["figures"] for own in part["statements"] if own["verdict"] == "differs")
    differing["because"] = f"{UNKNOWN}: a cell that would show it is absent"
    (said,) = make["changes"]({"papers": [reparo]}, kept)
    assert differing["statement"] in said and UNKNOWN in said


def test_papers_and_figures_are_selected_by_name() -> None:
    def names(*words: str) -> dict[str, list[str]]:
        return {known.name: [figure.name for figure in figures] for known, figures in command.select(words)}

    whole = {name: [figure.name for figure in paper(name).figures] for name in PAPERS}
    assert names() == whole
    assert names("msapl", "hrm") == {"msapl": whole["msapl"], "hrm": whole["hrm"]}
    assert names("hrm/fig08", "hrm/fig05") == names("hrm", "fig05", "fig08") == {"hrm": ["fig05", "fig08"]}
    assert names("hrm", "fig05", "msapl") == {"hrm": ["fig05"], "msapl": whole["msapl"]}
    for words, message in (
        (("fast19",), 'no paper "fast19"'),
        (("fig05",), 'no paper "fig05"'),
        (("hrm", "fast19"), 'no figure "fast19" of hrm'),
        (("hrm/",), 'no figure "" of hrm'),
    ):
        with pytest.raises(ScenarioError, match=message):
            names(*words)


def test_a_statement_that_needs_a_trace_is_left_out_without_it() -> None:
    statement = Statement("A trace.", "1", lambda _: Found(True, "1"), when=lambda table: table.has(trace="real"))
    figure = Figure("fig1", "Figure 1", "", lambda _: [], {}, lambda _: [], [statement])
    assert figure.verdicts(Table([{"trace": "made"}])) == []
    assert len(figure.verdicts(Table([{"trace": "real"}]))) == 1


def test_only_what_could_have_failed_is_counted() -> None:
    fails = {kind: kind in (RUN, TEXT) for kind in KINDS}

    def statement(kind: str) -> Statement:
        return Statement(kind, "1", lambda _: Found(not fails[kind], "1"), "a reason", kind=kind)

    statements = [statement(kind) for kind in KINDS]
    figure = Figure("fig1", "Figure 1", "", lambda _: [], {}, lambda _: [], statements)
    found = write.counts(figure.verdicts(Table([])))
    assert {name: found[name] for name in ("statements", "agrees", "differs")} == {
        "statements": 2,
        "agrees": 1,
        "differs": 1,
    }
    assert {kind: own["agrees"] for kind, own in found["by_kind"].items()} == {kind: not fails[kind] for kind in KINDS}
    assert all(own["statements"] == 1 for own in found["by_kind"].values())
    # A statement without a kind has that of its figure.
    plain = [Statement("as the figure", "1", lambda _: Found(True, "1"))]
    (verdict,) = Figure("fig1", "Figure 1", "", lambda _: [], {}, lambda _: [], plain, kind=TEXT).verdicts(Table([]))
    assert verdict["kind"] == TEXT
