"""Does the code of a block group follow its wear, as the figure says?"""

from __future__ import annotations

import pytest

from conftest import ROOT
from outlast import api
from outlast.reproduce.flexible import wear
from outlast.reproduce.rows import figures

FILE = ROOT / "scenarios" / "flexible" / "wear.toml"


@pytest.mark.parametrize(("cycles", "percent"), [(500, 0), (1500, 100)])
def test_the_share_by_code_is_counted_from_parity(cycles: int, percent: int) -> None:
    short = {"device.reliability.initial.pe_cycles": cycles, "workload.synthetic.requests": 20000}
    row = figures({"summary": dict(api.run(FILE, short).summary)})
    assert wear.share(row) == pytest.approx(percent, abs=0.5)
