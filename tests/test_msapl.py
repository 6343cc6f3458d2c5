"""Do the figures of mSAPL compare what they say, at the load and the spare space that they say?"""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest

from conftest import ROOT
from outlast import api, models
from outlast.products.reproduce import cells, paper
from outlast.products.reproduce.data.expression import parse
from outlast.products.reproduce.model import Cell, Row, Setting, Table
from outlast.products.reproduce.msapl import common
from outlast.products.reproduce.rows import figures

SETTING = Setting(paper("msapl").modes["quick"], ROOT / "scenarios" / "msapl")


POINTS = 2.0
"""Percentage points within which a saving agrees with the paper's, in the files of the figures."""
SPANS = {"Financial": 10, "Exchange": 12, "MSN": 25}
"""Percent of the user space that a workload touches; as in its scenario file."""
WRITTEN_KB = {"Financial": 14 * 0.76, "Exchange": 17 * 0.67, "MSN": 27 * 0.96}
"""Kilobytes written for each request: Table 2."""


def cells_of(name: str) -> list[Cell]:
    figure = paper("msapl").figure(name)
    assert figure is not None
    return figure.cells(SETTING)


def row_of(file: str, changes: dict[str, Any]) -> Row:
    """Figures of a run of a workload on a sixteenth of the drive."""
    cell = Cell({}, [SETTING.scenarios / file], changes)
    return figures({"summary": dict(api.run(cells.prepare(cell, 16).scenario).summary)})


def test_savings_scatter_less_than_they_are_judged_by() -> None:
    saved = []
    for seed in (1, 2, 3):
        schemes = common.schemes(SPANS["Exchange"])
        base, mine = (
            row_of("exchange.toml", schemes[scheme] | {"seed": seed})["write_amplification"]
            for scheme in (common.ESAP, common.MSAPL)
        )
        saved.append(100 * (1 - mine / base))
    assert 3 * statistics.stdev(saved) < POINTS


LOADS = {"2.0 MB/s": 10.0, "2.8 MB/s": 30.0, "4.0 MB/s": 70.0, "5.6 MB/s": 90.0, "8.0 MB/s": 100.0}


def made(factor: float) -> Table:
    """Each workload under eSAP, busy for 10, 30, 70 % of the time, with a response in proportion; mSAPL's beside it."""
    rows: list[Row] = []
    for workload in SPANS:
        for load, busy in LOADS.items():
            for scheme in common.schemes(10):
                less = 1.0 if scheme == common.ESAP else factor
                own = {"workload": workload, "scheme": scheme, "load": load, "busy_percent": busy * less}
                response = 2 * less * busy
                rows.append(
                    own
                    | {
                        "response_mean_us": response,
                        "log_response": math.log(response),
                        "esap_busy": busy,
                        "saved": 100 * (1 - less),
                    }
                )
    return Table(rows)


def test_the_load_at_which_responses_are_compared_is_half_of_the_time() -> None:
    table = made(0.5)
    text = 'exp(at(log_response, esap_busy, 50, workload="MSN", scheme="eSAP"))'
    # Half way between the logarithms of 60 and 140.
    assert parse(text, "here").of(table) == pytest.approx((60 * 140) ** 0.5)
    figure = paper("msapl").figure("fig06")
    assert figure is not None
    for verdict in figure.verdicts(table):
        for number in verdict["numbers"]:
            assert number["simulation"] == pytest.approx(50)
    assert figure.verdicts(made(0.738))[3]["verdict"] == "agrees"
    assert figure.verdicts(made(0.77))[3]["verdict"] == "differs"
    assert figure.verdicts(made(1.01))[0]["verdict"] == "differs"
    with pytest.raises(LookupError, match="50"):
        parse(text, "here").of(Table(table.where(load="2.0 MB/s")))


def test_all_workloads_are_offered_the_same_bytes() -> None:
    for cell in cells_of("fig06"):
        written = cell.overrides["workload.synthetic.rate_iops"] * WRITTEN_KB[cell.labels["workload"]] / 1000
        assert written == pytest.approx(float(cell.labels["load"].split()[0]), rel=0.01)


def test_each_workload_touches_what_its_classes_are_made_for() -> None:
    for name in ("fig05", "fig06", "fig07"):
        for cell in cells_of(name):
            span = SPANS[cell.labels["workload"]]
            whole = cells.prepare(cell, 1).scenario
            assert whole["workload"]["synthetic"]["span"] == f"{span}%"
            for setting, value in common.schemes(span)[cell.labels["scheme"]].items():
                assert cell.overrides[setting] == value


def test_spare_space_is_what_the_label_says() -> None:
    room = 98_304  # what two parities in eight leave of 128 GiB
    found = cells_of("spare")
    assert len({tuple(cell.labels.values()) for cell in found}) == 3 * 4 * 2
    for cell in found:
        drive = int(cell.overrides["device.ftl.capacity"].removesuffix("MiB"))
        percent = float(cell.labels["spare"].split()[0])
        assert 100 * (room / drive - 1) == pytest.approx(percent, abs=0.05)
        touched = float(cell.overrides["workload.synthetic.span"].rstrip("%")) / 100
        span = SPANS[cell.labels["workload"]]
        assert touched * drive == pytest.approx(span / 100 * common.CAPACITY_MIB, rel=0.05)
        if cell.labels["scheme"] == common.MSAPL:
            parts = cell.overrides["device.protection.classes"]
            assert parts[:2] == common.classes(span)[:2]
            assert parts[2]["ranges"][0]["to"] == f"{drive}MiB"


def test_the_life_at_the_error_rate_of_hard_disks_is_in_proportion_to_wear() -> None:
    figure = paper("msapl").figure("fig07")
    assert figure is not None
    found = next(own for own in figure.verdicts(Table([])) if "1e-15" in own["statement"])
    (end,) = (number["closed_form"] for number in found["numbers"])
    rate = models.rber("msapl", end * (1 - 0.133))
    reached = models.uper(rate, n=65_536, k=8, stripe=8, parities=2, log=True)
    assert reached == pytest.approx(math.log(1e-15), rel=1e-9)
    assert end * (1 - 0.133) == pytest.approx(16_397, abs=1)
    assert "eSAP 1.64e+04 cycles" in found["found"]
