"""Does a result say nothing that a reader would take for something else?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast.report import found, served
from outlast.report.differences import change
from outlast.report.errors import can_fail
from outlast.sweeps import figures

SHORT = {"workload.synthetic.duration": "200ms", "run.warm_up": "0s"}
OTHERS = "The drive was prepared by uniform random writes and measured under others"
ARRAY = """
extends = "demo"
[device.geometry]
channels = 2
dies_per_chip = 1
blocks_per_plane = 64
pages_per_block = 32
[device.ftl]
over_provisioning = 0.3
[device.controller]
write_buffer = "1MiB"
[array]
level = "raid5"
members = 3
spares = 1
[workload.synthetic]
rate_iops = 2000
duration = "200ms"
[run]
warm_up = "0s"
"""


def summary_of(settings: dict[str, Any], scenario: Any = "demo") -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(outlast.run(scenario, settings).to_json())
    return summary


def said_of_others(settings: dict[str, Any]) -> bool:
    return any(note.startswith(OTHERS) for note in summary_of(SHORT | settings)["notes"])


def test_a_drive_prepared_by_other_writes_is_named() -> None:
    assert said_of_others({"workload.synthetic.pattern": "zipf"})
    assert not said_of_others({})
    assert not said_of_others({"workload.synthetic.pattern": "zipf", "precondition.overwrite": "none"})
    assert not said_of_others({"workload.synthetic.pattern": "zipf", "workload.synthetic.read_percent": 100})
    smaller = {"workload.synthetic.pattern": "hotcold", "precondition.overwrite": "workload"}
    assert not said_of_others(smaller | {"precondition.max_drive_writes": 1})


def test_a_run_stopped_in_preparation_has_measured_nothing() -> None:
    large = {"device.geometry.blocks_per_plane": 4096, "precondition.min_drive_writes": 20}
    result = outlast.run("demo", large, progress=lambda *_: False)
    summary = json.loads(result.to_json())
    assert summary["partial"] and not summary["host"]["reads"], "stopped too late"
    assert found.title(summary) == "demo: stopped before anything was measured"
    assert found.sentences(summary) == ["The run was stopped before anything was measured."]
    assert "no timing" not in outlast.explain(result).sentences[0].text


def test_a_job_beside_one_that_is_held_to_a_rate_makes_no_open_loop(tmp_path: Path) -> None:
    jobs = tmp_path / "mix.fio"
    held = "[slow]\nrw=write\nbs=128k\nrate=10m\noffset=50%\n"
    jobs.write_text(
        "[global]\ntime_based\nruntime=200ms\nsize=25%\n" + held + "[fast]\nrw=randread\nbs=4k\niodepth=8\n"
    )
    layers = [{"extends": "demo"}, {"workload": {"fio": {"file": str(jobs)}}}]
    assert summary_of({"run.warm_up": "0s"}, layers)["queue"]["host_queue_depth"] == 9
    jobs.write_text("[global]\ntime_based\nruntime=200ms\nsize=25%\n" + held)
    assert summary_of({"run.warm_up": "0s"}, layers)["queue"]["host_queue_depth"] is None


def test_a_member_that_fails_makes_no_errors_of_flash(tmp_path: Path) -> None:
    scenario = tmp_path / "array.toml"
    scenario.write_text(ARRAY)
    member = {"faults": [{"at": "50ms", "device": 1, "kind": "device"}], "run.finish_rebuild": False}
    assert not can_fail(summary_of(member, str(scenario)))
    assert can_fail(summary_of({"faults": [{"at": "50ms", "device": 1, "kind": "die", "die": 0}]}, str(scenario)))


def test_a_spare_without_data_does_not_lower_error_rates(tmp_path: Path) -> None:
    scenario = tmp_path / "array.toml"
    scenario.write_text(ARRAY)
    worn = {"device.reliability": {"chip": "tlc-72-layer", "initial": {"pe_cycles": 3000}}}
    result = outlast.run(str(scenario), worn)
    whole = json.loads(result.to_json())["reliability"]["rber"]["mean"]
    last = float(result.tables["timeseries"]["rber_mean"][-1])
    # Over 16 blocks or more of each drive, whose rates differ by little: three of four would be a quarter less.
    assert abs(last / whole - 1) < 0.1


def test_a_risk_with_a_measured_rebuild_has_no_change_against_one_with_an_assumed() -> None:
    def of(measured: bool, chance: float) -> tuple[float, dict[str, Any]]:
        return chance, {"array": {"data_loss": {"per_year": chance, "repair_measured": measured}}}

    name = "array.data_loss.per_year"
    assert change(name, of(True, 2e-7), of(False, 3e-7)).startswith("not comparable")
    assert change(name, of(True, 2e-7), of(True, 3e-7)) == "+50.0 %"


@pytest.mark.parametrize(
    ("victims", "moved", "says"),
    [(0, 0.0, "no superblock"), (1, 0.0, "only one superblock"), (9, 0.0, "only 9"), (9, 0.01, ""), (10, 0.0, "")],
)
def test_a_few_empty_victims_say_no_more_than_none(victims: int, moved: float, says: str) -> None:
    """A trace of 49 MiB on a drive of 14 GiB collected one superblock, which preparation had left empty."""
    of = {"gc": {"victims": victims}, "write_amplification": {"total": 1.1, "gc": moved}, "flash": {"programs": 5}}
    note = served.collected_note(of)
    assert bool(note) == bool(says) and says in note
    assert served.is_row_uncollected(figures.flat(of)) == bool(says)
