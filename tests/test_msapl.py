"""Do the figures of mSAPL compare what they say, at the load and the spare space that they say?"""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from conftest import ROOT
from outlast import api
from outlast.reproduce import cells, paper
from outlast.reproduce.model import Cell, Row, Setting, Table
from outlast.reproduce.msapl import common, fig06, fig07, spare
from outlast.reproduce.rows import figures

SETTING = Setting(paper("msapl").modes["quick"], ROOT / "scenarios" / "msapl")


def row_of(name: str, changes: dict[str, Any]) -> Row:
    """What a run of a workload gives on a sixteenth of the drive."""
    cell = Cell({}, [SETTING.scenarios / common.WORKLOADS[name].file], changes)
    return figures({"summary": dict(api.run(cells.prepare(cell, 16).scenario).summary)})


def test_savings_scatter_less_than_they_are_judged_by() -> None:
    saved = []
    for seed in (1, 2, 3):
        schemes = common.schemes(common.WORKLOADS["Exchange"].span)
        base, mine = (
            row_of("Exchange", schemes[scheme] | {"seed": seed})["write_amplification"]
            for scheme in (common.ESAP, common.MSAPL)
        )
        saved.append(100 * (1 - mine / base))
    assert 3 * statistics.stdev(saved) < common.POINTS


def made(responses: dict[str, float]) -> Table:
    """eSAP busy for 10, 30, 70 % of the time, with its response and mSAPL's."""
    rows: list[Row] = []
    for load, busy in zip(fig06.LOADS, (10.0, 30.0, 70.0), strict=False):
        for scheme, factor in responses.items():
            own = {"workload": "MSN", "scheme": scheme, "load": f"{load} MB/s", "busy_percent": busy}
            rows.append(own | {"response_mean_us": factor * busy})
    return Table(rows)


def test_the_load_at_which_responses_are_compared_is_half_of_the_time() -> None:
    table = made({common.ESAP: 2.0, common.MSAPL: 1.0})
    first, second, way = fig06.place(table, "MSN")
    assert (first, second) == ("2.8 MB/s", "4.0 MB/s")
    assert way == pytest.approx(0.5)
    # Half way between the logarithms of 60 and 140.
    assert fig06.response_us(table, "MSN", common.ESAP) == pytest.approx((60 * 140) ** 0.5)
    assert fig06.saves(table, "MSN", common.MSAPL) == pytest.approx(50)
    with pytest.raises(LookupError, match="50 %"):
        fig06.place(Table(table.where(load="2.0 MB/s")), "MSN")


def test_all_workloads_are_offered_the_same_bytes() -> None:
    for load in fig06.LOADS:
        for name, size in fig06.WRITTEN_KB.items():
            assert fig06.rate(name, load) * size / 1000 == pytest.approx(load, rel=0.01)


def test_spare_space_is_what_the_label_says() -> None:
    for percent in spare.SPARES:
        drive = spare.capacity_mib(percent)
        assert 100 * (spare.ROOM_MIB / drive - 1) == pytest.approx(percent, abs=0.05)
    for cell in spare.cells(SETTING):
        touched = float(cell.overrides["workload.synthetic.span"].rstrip("%")) / 100
        drive = int(cell.overrides["device.ftl.capacity"].removesuffix("MiB"))
        span = common.WORKLOADS[cell.labels["workload"]].span
        assert touched * drive == pytest.approx(span / 100 * common.CAPACITY_MIB, rel=0.05)


def test_the_life_at_the_error_rate_of_hard_disks_is_in_proportion_to_wear() -> None:
    end = fig07.crossing()
    assert fig07.log_uper(end, 1.0) == pytest.approx(fig07.log_uper(end / fig07.PAPER_WAF, fig07.PAPER_WAF), rel=1e-9)
    assert end == pytest.approx(16_397, abs=1)
