"""Does the code of a block group follow its wear, as the figure says?"""

from __future__ import annotations

import pytest

from conftest import ROOT
from outlast import api
from outlast.products.reproduce import paper
from outlast.products.reproduce.model import Cell, Setting

FILE = ROOT / "scenarios" / "flexible" / "wear.toml"


@pytest.mark.parametrize(("cycles", "percent"), [(500, 0), (1500, 100)])
def test_the_share_by_code_is_counted_from_parity(cycles: int, percent: int) -> None:
    short = {"device.reliability.initial.pe_cycles": cycles, "workload.synthetic.requests": 20000}
    summary = dict(api.run(FILE, short).summary)
    record = {"scenario": summary["scenario"], "summary": summary}
    (figure,) = [each for each in paper("flexible").figures if each.name == "wear"]
    setting = Setting(paper("flexible").modes["quick"], FILE.parent)
    assert figure.rows is not None
    (row,) = figure.rows(setting, [Cell({"cycles": str(cycles)}, [FILE], {})], [record])
    assert row["share"] == pytest.approx(percent, abs=0.5)
