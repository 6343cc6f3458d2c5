"""Do kept points and results of fleets and plans end in what they say or in one line, whatever they hold?"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import ROOT
from disturbed import MANY, disturb
from outlast import fleet
from outlast.fleet import points
from outlast.plots import charts_of, document_at
from outlast.plots.documents import FLEET_TABLES
from test_foreign_toml import refused
from test_plot_documents import PLAN

EXACT = ROOT / "scenarios" / "fleet" / "exact.toml"


def test_any_kept_point_of_a_fleet_is_taken_or_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vary = {"code.parity": [3]}
    first = fleet.sweep(EXACT, vary, tmp_path)
    # A study is the same each time, and takes longer than to read it.
    monkeypatch.setattr(points, "study", lambda *_, **__: dict(first[0]))
    [kept] = (tmp_path / "points").iterdir()
    written = kept.read_text()

    @MANY
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        if data.draw(st.booleans()):
            said = json.loads(written)
            disturb(data, said)
            kept.write_text(json.dumps(said))
        else:
            kept.write_text(written[: data.draw(st.integers(0, len(written) - 1))])
        assert fleet.sweep(EXACT, vary, tmp_path) == first
        assert kept.read_text() == written

    holds()


def test_any_result_of_a_fleet_or_a_plan_is_drawn_or_refused(tmp_path: Path) -> None:
    wholes: list[Any] = [json.loads(json.dumps(fleet.study(str(EXACT)))), PLAN]
    file = tmp_path / "result.json"

    @MANY
    @given(st.data())
    def reads(data: st.DataObject) -> None:
        said = copy.deepcopy(data.draw(st.sampled_from(wholes)))
        disturb(data, said)
        file.write_text(json.dumps(said))
        document = document_at(str(file))
        if document is None:
            return
        for table in FLEET_TABLES if document.kind == "fleet" else ("layouts",):
            for form in ("csv", "markdown", "latex"):
                look(lambda table=table, form=form: document.table(table).text(form))
        look(lambda: [charts_of(document).figure_of(name) for name in document.plots.names])

    def look(at: Any) -> None:
        try:
            at()
        except outlast.OutlastError as error:
            refused(error)

    reads()
