"""Are Reparo's runs the ones that its figures mean, and are its statements judged by their numbers?"""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from outlast import points
from outlast.reproduce import cells, paper
from outlast.reproduce.model import Cell, Figure, Setting, Table
from outlast.reproduce.reparo import example, fig10, fig11, fig12, fig13, fig14, fig15, future, mttdl, runtime
from outlast.reproduce.reparo.common import BASELINE, CDR, CDR_STAR, DIES, IDR, NEW, PAGES, THREE, TWO, repaired

QUICK, FULL = (Setting(paper("reparo").modes[mode], ROOT / "scenarios" / "reparo") for mode in ("quick", "full"))
SMALL = {"device.geometry.blocks_per_plane": 182, "device.geometry.pages_per_block": 16, "run.capacity_scale": 2.0}
UNIT = 64 * 1024
SIMULATED = [part.FIGURE for part in (fig10, fig11, fig12, fig13, fig14, future, mttdl, runtime)]


def run(scheme: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A cell of Figure 10 on small dies: its row, and the summary."""
    cell = fig10.cell(QUICK, "4 TB", scheme, more=SMALL | more)
    record = points.measure(cells.prepare(cell, 1))
    return fig10.rows(QUICK, [cell], [record])[0], record["summary"]


def test_a_repair_writes_what_the_die_held_and_reads_seven_of_it() -> None:
    row, summary = run(IDR)
    repair, device = summary["repair"][0], summary["device"]
    # Everything was written once, over all 64 dies alike.
    assert repair["failed_units"] == pytest.approx(device["capacity_bytes"] / 7 / UNIT / DIES["4 TB"], rel=0.02)
    # Some the host read before, and what it could not read was written back at once.
    healed = summary["array"]["sectors_repaired"] * 512
    most = 2 * repair["failed_units"] * UNIT / 1e9
    assert most - 2 * healed / 1e9 <= row["written_gb"] < most
    assert row["read_gb"] == pytest.approx(7 * row["written_gb"])
    # One core looks at every entry, and at what it found once more.
    entries = device["capacity_bytes"] / 7 / UNIT
    least = 2 * (entries * 4160e-9 + repair["failed_units"] * 52.8e-6) / 60
    assert row["identify_min"] == pytest.approx(least, rel=0.02)
    assert row["total_min"] == pytest.approx(row["identify_min"] + row["recover_min"])


def test_the_baseline_copies_a_whole_drive_at_the_rate_of_the_link() -> None:
    row, summary = run(BASELINE, **{"device.geometry.pages_per_block": 64})
    capacity = summary["device"]["capacity_bytes"] / 7
    assert row["written_gb"] * 1e9 == pytest.approx(2 * capacity, rel=0.01)
    assert row["total_min"] * 60 == pytest.approx(2 * capacity / 1010e6, rel=0.03)


def test_failed_dies_are_of_one_core_and_spread_over_its_channels() -> None:
    for dies in DIES.values():
        gone = repaired(dies, 6)
        assert len(set(gone)) == 6
        assert sorted({die // (dies // 16) for die in gone}) == [0, 1, 2, 3]
    for die in (*repaired(64, 6)[3:], 16):
        _, summary = run(IDR, faults=[{"at": 0, "kind": "die", "device": 0, "die": die}])
        assert (summary["repair"][0]["die"], summary["repair"][0]["core"]) == (die, die // 16)


def test_full_size_runs_only_where_there_is_memory_for_it() -> None:
    def in_full(setting: Setting) -> list[str]:
        return [own.labels["capacity"] for own in fig10.FIGURE.cells(setting) if fig10.FULL_SIZE in own.labels.values()]

    assert in_full(QUICK) == ["4 TB"]
    assert in_full(FULL) == ["4 TB", "32 TB"]


@pytest.mark.parametrize("figure", [*SIMULATED, fig15.FIG16])
def test_every_cell_is_a_scenario(figure: Figure) -> None:
    planned = figure.cells(QUICK)
    assert len({tuple(sorted(own.labels.items())) for own in planned}) == len(planned)
    for own in planned:
        assert cells.prepare(own, 1).key


def judged(figure: Figure, rows: list[dict[str, Any]]) -> dict[str, str]:
    """The verdicts of a figure on made-up rows, by the start of the statement."""
    return {each.text[:24]: each.judge(Table(rows))["verdict"] for each in figure.statements}


def repairs(speeds: dict[str, float]) -> list[dict[str, Any]]:
    """Repairs that take a part of the baseline's time, all of it search, at each capacity."""
    rows = []
    for index, capacity in enumerate(DIES):
        base = 66.0 * 2**index
        for scheme in (BASELINE, IDR, CDR, CDR_STAR, PAGES):
            minutes = base / speeds.get(scheme, 1.0)
            moved = 8e3 * 2**index if scheme == BASELINE else 500.0 + 300.0 * (scheme != IDR)
            row = {"capacity": capacity, "scheme": scheme, "bandwidth": fig10.ALL, "total_min": minutes}
            rows.append(row | {"identify_min": minutes, "recover_min": 1.0, "moved_gb": moved})
    return rows


def test_figure_10_is_judged_by_its_numbers() -> None:
    agreed = judged(fig10.FIGURE, repairs({IDR: 14.0, CDR: 43.0, CDR_STAR: 55.0}))
    assert agreed["A rebuild of a 32-TB SSD"] == "agrees"
    assert agreed["CDR is about 3.1 times a"] == agreed["CDR* is about 1.27 times"] == "agrees"
    assert agreed["CDR* is 57 times as fast"] == "agrees"
    assert agreed["IDR is 9.3 times as fast"] == "differs"
    assert agreed["With a tenth of the band"] == "not judged"
    slower = judged(fig10.FIGURE, repairs({IDR: 14.0, CDR: 35.0, CDR_STAR: 36.0}))
    assert slower["CDR is about 3.1 times a"] == slower["CDR* is about 1.27 times"] == "differs"
    assert slower["CDR* is 57 times as fast"] == "differs"
    assert slower["CDR takes less time than"] == "agrees"


def test_failures_within_ten_percent_are_counted() -> None:
    rows = []
    for utilisation in ("0.9", "0.87"):
        for scheme, drop in ((IDR, 0.08), (CDR, 0.022 if utilisation == "0.9" else 0.0197)):
            for failures in fig15.FAILURES:
                row: dict[str, Any] = {"utilisation": utilisation, "scheme": scheme, "failures": f"{failures}"}
                rows.append(row | {"speed": 1 - drop * failures, "waf_ratio": 1 + drop * failures})
    table = Table(rows)
    assert [fig15.borne(table, CDR), fig15.borne(table, IDR), fig15.borne(table, CDR, fig15.LOW)] == [4, 1, 5]
    assert set(judged(fig15.FIG15, rows).values()) == {"agrees"}
    for row in rows:
        row["speed"] = 1 - 0.03 * int(row["failures"])
    assert set(list(judged(fig15.FIG15, rows).values())[2:]) == {"differs"}


def test_speeds_after_a_repair_stand_beside_the_new_drive() -> None:
    planned = [fig12.cell(QUICK, "4 TB", scheme, fig12.RANDOM_WRITE) for scheme in (NEW, IDR)]
    small = {"device.geometry.blocks_per_plane": 128, "device.geometry.pages_per_block": 4}
    short = {"workload.synthetic.requests": 40_000, "device.controller.write_buffer": "8MiB"}
    tiny = [Cell(own.labels, own.layers, {**own.overrides, **small, **short}) for own in planned]
    records = [points.measure(cells.prepare(own, 1)) for own in tiny]
    new, repaired_drive = fig12.rows(QUICK, tiny, records)
    assert new["speed"] == new["waf_ratio"] == 1
    # One core of four has lost most of its spare space: it writes more, the others do not.
    assert repaired_drive["waf_core"] > 1.3 * new["waf_core"]
    assert 1.05 < repaired_drive["waf_ratio"] < repaired_drive["waf_core"] / new["waf_core"]
    assert repaired_drive["speed"] < 0.8


def test_a_drive_that_fails_in_the_run_is_another_than_one_that_was_repaired_before() -> None:
    planned = runtime.cells(QUICK)
    assert len({cells.prepare(own, 1).key for own in planned}) == len(planned)
    for before, running in zip(planned[::2], planned[1::2], strict=True):
        assert fig12.DIES_GONE in before.overrides and "faults" not in before.overrides
        assert fig12.DIES_GONE not in running.overrides
        assert [fault["die"] for fault in running.overrides["faults"]] == before.overrides[fig12.DIES_GONE]


def test_a_drive_loses_and_moves_the_addresses_of_figures_7_and_8() -> None:
    assert example.lost() == (15, 31, 47)
    assert example.redirected() == {3: 0, 7: 1, 11: 2}


def test_more_cores_search_faster() -> None:
    took = [run(scheme)[0]["identify_min"] for scheme in (IDR, TWO, THREE, CDR)]
    assert took == sorted(took, reverse=True)
    assert len(set(took)) == 4
