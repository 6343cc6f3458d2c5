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
from outlast.products.reproduce import PAPERS, command, paper, write
from outlast.products.reproduce.check import every, near, tolerance
from outlast.products.reproduce.data.checks import check_of
from outlast.products.reproduce.model import (
    CALIBRATED,
    CLOSED,
    KINDS,
    NUMBER,
    ORDER,
    OURS,
    PAPER,
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
"""Number of figures and tables in each paper."""


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
        make = runpy.run_path(str(ROOT / "docs" / "make_verdicts.py"))
        name = f"[{make['PAGES'][part['paper']]}]({part['paper']}.md)"
        name = f"apart: {name}" if part["apart"] else name
        assert make["row"](name, len(part["figures"]), part["counts"]) in page
    assert make["table"](kept) in page


def test_no_tolerance_of_a_run_is_wider_than_the_rule() -> None:
    kept = json.loads((ROOT / "docs" / "papers" / "verdicts.json").read_text())
    judged = 0
    for part in kept["papers"]:
        for verdict in (own for figure in part["figures"] for own in figure["statements"]):
            rooms = re.findall(r"\(expected \S+ ?\S* within ([\d.e+-]+)\)", verdict["found"])
            if verdict["kind"] not in (RUN, CALIBRATED) or len(rooms) != len(verdict["numbers"]):
                continue
            for number, room in zip(verdict["numbers"], rooms, strict=True):
                judged += 1
                assert float(room) <= 1.01 * tolerance(number["paper"], number["unit"]), verdict
    assert judged > 60
    assert [tolerance(*asked) for asked in ((3.1, "×"), (57.0, ""), (1.1, "%"), (155.1, "%"))] == pytest.approx(
        [0.248, 4.56, 0.55, 2]
    )


def test_a_number_without_a_tolerance_has_that_of_the_rule() -> None:
    """Two points of a percentage, but no more than half of it; 8 % of anything else."""
    for value, unit, holds in ((4.5, "%", True), (4.6, "%", False), (3.2, "×", True), (3.3, "×", False)):
        judged = check_of({"value": str(value), "expected": 3, "unit": unit}, "here")(Table([]))
        assert judged.holds is holds, (value, unit)


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

    def statement(kind: str, whose: str = PAPER, claims: str = ORDER) -> Statement:
        found = Found(not fails[kind], "1")
        return Statement(kind, "1", lambda _: found, "a reason", kind=kind, whose=whose, claims=claims)

    statements = [statement(kind) for kind in KINDS] + [statement(kind, whose=OURS) for kind in KINDS]
    figure = Figure("fig1", "Figure 1", "", lambda _: [], {}, lambda _: [], statements)
    found = write.counts(figure.verdicts(Table([])))
    assert {name: found[name] for name in ("statements", "agrees", "differs")} == {
        "statements": 2,
        "agrees": 1,
        "differs": 1,
    }
    kinds = found["order"] | found["aside"]
    assert {kind: own["agrees"] for kind, own in kinds.items()} == {kind: not fails[kind] for kind in KINDS}
    assert all(own["statements"] == 1 for own in kinds.values())
    assert found["ours"]["statements"] == len(KINDS)
    assert all(own["statements"] == 0 for own in found["number"].values())
    # A number of the paper is apart from an order; without a word, one that stands beside ours is a claim.
    number = Figure("fig1", "", "", lambda _: [], {}, lambda _: [], [statement(RUN, claims=NUMBER)])
    assert write.counts(number.verdicts(Table([])))["number"][RUN]["statements"] == 1
    beside = Statement("A number.", "1", lambda _: near("x", 1, 2, 1))
    assert (beside.judge(Table([]))["claims"], statements[0].judge(Table([]))["claims"]) == (NUMBER, ORDER)
    # A statement without a kind has that of its figure.
    plain = [Statement("as the figure", "1", lambda _: Found(True, "1"))]
    (verdict,) = Figure("fig1", "Figure 1", "", lambda _: [], {}, lambda _: [], plain, kind=TEXT).verdicts(Table([]))
    assert verdict["kind"] == TEXT
