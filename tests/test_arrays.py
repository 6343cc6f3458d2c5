"""Do arrays of drives run from the command line, with everything about them in the result?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from conftest import Outlast, summary_of

FAULT = 'faults=[{at="10s", device=2, kind="device"}]'


def test_a_failed_member_is_rebuilt_and_told_of(array_result: Path, outlived_result: Path) -> None:
    array = summary_of(array_result)["array"]
    assert (array["state"], array["members"], array["spares_left"]) == ("clean", 5, 0)
    rebuild = array["rebuild"]
    assert (rebuild["member"], rebuild["started_s"]) == (2, 10.0)
    # A member of 896 MiB, all but what the bitmap takes, from the four others.
    assert abs(rebuild["bytes_written"] / (896 * 2**20) - 1) < 1e-3
    assert abs(rebuild["bytes_read"] / rebuild["bytes_written"] - 4) < 0.01
    span = rebuild["finished_s"] - rebuild["started_s"]
    assert abs(array["degraded_s"] - span) < 1e-6
    # Beside the host: no less than the floor of 60 MB/s, and less than where nearly all of it has the drives for
    # itself. That is below the ceiling.
    alone = summary_of(outlived_result)["array"]["rebuild"]["rate_mib_s"]
    assert 60e6 <= rebuild["rate_mib_s"] * 2**20 < 0.9 * alone * 2**20 < 204.8e6
    assert (array["mismatches"], array["write_hole_repairs"], array["lost_bytes"]) == (0, 0, 0)
    assert [member["device"] for member in array["wear"]] == [0, 1, 2, 3, 4]
    assert array["wear"][2]["mean_pe"] < 20 < 300 < array["wear"][0]["mean_pe"]
    loss = array["data_loss_after_failures"]
    assert 0 < loss["oldest"] <= loss["any"] * 1.5 < 1e-10
    year = array["data_loss"]
    assert (year["repair_measured"], year["read_failure_measured"]) == (True, True)
    assert abs(year["repair_hours"] * 3600 / span - 1) < 1e-9
    # n (n - 1) MTTR / MTTF^2, flash adding next to nothing; MTTF is the default, 1.5 million hours.
    assert abs(year["mttdl_hours"] / (1.5e6**2 / (5 * 4 * year["repair_hours"])) - 1) < 1e-4
    by = array["latency_us_by_state"]
    assert by["healthy"]["read"]["mean"] < by["rebuilding"]["read"]["mean"]
    assert by["resyncing"] == by["failed"] == {"read": None, "write": None}


def test_events_and_states_are_tables(array_result: Path) -> None:
    events = pl.read_parquet(array_result / "array_events.parquet")
    assert events["event"].to_list() == ["member failed", "rebuild started", "rebuilt"]
    states = pl.read_parquet(array_result / "array_states.parquet")
    assert states["state"].to_list() == ["clean", "degraded", "clean"]
    assert states["start_s"].to_list()[1:] == states["end_s"].to_list()[:-1]
    wear = pl.read_parquet(array_result / "wear.parquet")
    assert sorted(wear["device"].unique().to_list()) == [0, 1, 2, 3, 4]


def test_the_report_and_the_terminal_show_the_array(array_result: Path, outlast: Outlast) -> None:
    page = (array_result / "report.html").read_text()
    assert '<section id="array">' in page
    assert "Rebuilding took" in page
    done = outlast("run", "array-raid5-5", "--set", FAULT, "--set", "workload.synthetic.duration=12s")
    said = " ".join(done.stdout.split())
    assert "array clean raid5 [5/5] [UUUUU]" in said
    assert "of member 2 from" in said
    assert "data loss " in said and "reads while healthy" in said
    assert "the array continued rebuilding until" in said


def test_a_second_failure_loses_what_was_not_rebuilt(tmp_path: Path, outlast: Outlast) -> None:
    faults = 'faults=[{at="2s", device=2, kind="device"}, {at="4s", device=0, kind="device"}]'
    short = "workload.synthetic.duration=6s"
    outlast("run", "array-raid5-5", "--set", faults, "--set", short, "--out", "out", "--quiet")
    summary = summary_of(tmp_path / "out")
    array = summary["array"]
    assert array["state"] == "failed"
    assert array["time_s"]["failed"] > 0
    assert summary["host"]["errors"] > 0
    assert array["data_loss_after_failures"] is None


def test_patrol_scrubs_find_nothing_on_a_healthy_array(tmp_path: Path, outlast: Outlast) -> None:
    settings = ["array.background.scrub_interval=500ms", "array.chunk=512KiB", "workload.synthetic.duration=8s"]
    settings += ["array.background.min_rate=1GB/s", "array.background.max_rate=1GB/s"]
    changes = [part for setting in settings for part in ("--set", setting)]
    outlast("run", "array-raid5-5", *changes, "--out", "out", "--quiet")
    array = summary_of(tmp_path / "out")["array"]
    assert array["scrubs"] >= 1
    assert array["mismatches"] == 0
