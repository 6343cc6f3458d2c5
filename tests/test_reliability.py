"""Does a drive whose flash errs or breaks go on, and does it say what happened?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import outlast
from conftest import TINY, WEAK, Outlast, summary_of
from outlast.differences import VARYING

SMALL: dict[str, Any] = {"device.ftl.capacity": "6MiB", "run.warm_up": "0s"}
"""The weak drive so small that what is left of it without a die still holds everything."""

DIE_FAILS: dict[str, Any] = SMALL | {
    "faults": [{"at": "300ms", "kind": "die", "die": 1}],
    "device.reliability": None,
    "device.scrub": None,
}


def run_weak(folder: Path, overrides: dict[str, Any] | None = None) -> outlast.Result:
    """A run of the weak drive with settings changed."""
    (folder / "tiny.toml").write_text(TINY)
    (folder / "weak.toml").write_text(WEAK)
    return outlast.run(folder / "weak.toml", overrides)


def test_figures_of_errors_are_in_the_json(outlast: Outlast, weak: Path) -> None:
    summary = json.loads(outlast("run", "weak.toml", "--json").stdout)
    figures = summary["reliability"]
    assert 0 < figures["uber_exact"] == figures["exact"]["after_stripe"]["uber"]
    steps = [figures["exact"][f"after_{step}"]["uber"] for step in ("ecc", "rereads", "stripe")]
    assert steps == sorted(steps, reverse=True)
    by_cause = summary["flash"]["by_cause"]
    assert by_cause["rereads"] > 0
    reads = sum(count for cause, count in by_cause.items() if cause.endswith("reads"))
    assert reads == summary["flash"]["reads"]
    first_reads = reads - by_cause["rereads"] - by_cause["stripe_reads"]
    assert figures["rereads_per_read"] == pytest.approx(by_cause["rereads"] / first_reads)
    factors = summary["write_amplification"]
    assert factors["host_parity"] > 0
    assert factors["scrub"] > 0
    # `parity` sums up four of the others.
    parts = sum(value for cause, value in factors.items() if cause not in ("total", "parity"))
    assert factors["total"] == pytest.approx(1 + parts)
    assert figures["twin"] is None


def test_errors_and_decisions_have_tables(weak_result: Path) -> None:
    summary = summary_of(weak_result)
    errors = pl.read_parquet(weak_result / "errors.parquet")
    assert errors["wrong_bits"].to_list() == list(range(errors.height))
    # The rate of a block is told at the age of its oldest data, and most data is younger.
    mean = np.average(errors["wrong_bits"].to_numpy(), weights=errors["codewords"].to_numpy())
    assert 0.85 < mean / (4096 * summary["reliability"]["rber"]["mean"]) < 1.0
    decisions = pl.read_parquet(weak_result / "decisions.parquet")
    scrubbed = decisions.filter(pl.col("reason") == "expected-errors")
    assert scrubbed.height == summary["reliability"]["scrubbed"]["superblocks"] > 0
    assert scrubbed["expected_errors"].min() >= 38 * (1 - 1e-6)  # type: ignore[operator]
    assert decisions["at_s"].is_sorted()
    series = pl.read_parquet(weak_result / "timeseries.parquet")
    assert series["rereads"].sum() == summary["flash"]["by_cause"]["rereads"]
    assert (series["rber_p50"] <= series["rber_p99"]).all()


def test_the_twin_is_the_same_drive_without_errors(tmp_path: Path) -> None:
    # All blocks equally worn: wear decides which one is opened next, and a drive without errors knows of none.
    even = run_weak(tmp_path, {"run.twin": True, "device.reliability.initial.pe_spread": 0}).summary
    twin = even["reliability"]["twin"]
    without = {"device.reliability": None, "device.protection": None, "device.scrub": None}
    alone = run_weak(tmp_path, without).summary
    assert twin["read_us"] == alone["latency_us"]["read"]
    assert twin["write_amplification"] == alone["write_amplification"]["total"]
    own = even["latency_us"]
    assert twin["read_mean_ratio"] == own["read"]["mean"] / alone["latency_us"]["read"]["mean"] > 1


def test_a_die_fails_without_parity_and_the_run_goes_on(tmp_path: Path) -> None:
    result = run_weak(tmp_path, DIE_FAILS | {"device.protection": None})
    series = result.table("timeseries")
    before, after = (series.filter(pl.col("end_s") <= 0.3), series.filter(pl.col("start_s") >= 0.32))
    assert before["errors"].sum() == 0
    assert before["uncorrectable_reads"].sum() == 0
    # A quarter of the data was on that die; writing it again heals it, slowly.
    # Reads that fail are no reads served; whole units are written, so that no write fails.
    ended = int(after["reads"].sum()) + int(after["errors"].sum())
    share = int(after["uncorrectable_reads"].sum()) / ended
    assert 0.15 < share < 0.3
    assert ended == pytest.approx(0.68 * 2700, rel=0.1)
    assert after["writes"].sum() == pytest.approx(0.68 * 300, rel=0.25)
    figures = result.reliability
    assert figures.faults == 1
    assert figures.medium_errors == result.host.errors == result.smart.media_errors == series["errors"].sum()
    # No unit errs by itself here, and so nothing is known of exact tails.
    assert figures.exact is None
    assert "errors" not in result.tables
    assert result.partial is False


def test_a_die_fails_with_parity_and_nobody_notices(tmp_path: Path) -> None:
    # Long enough for the drive to rebuild all of it: nothing that was to be rebuilt is under way at the end.
    result = run_weak(tmp_path, DIE_FAILS | {"device.protection.data": 2, "workload.synthetic.duration": "2s"})
    figures = result.reliability
    assert result.summary["protection"]["redundancy"]["degraded_superblocks"] == 0
    assert figures.medium_errors == result.host.errors == figures.lost_bytes == 0
    assert figures.corrected_by.stripe == figures.stripe_recovery.attempts > 100
    assert result.flash.by_cause.stripe_reads >= figures.corrected_by.stripe


def test_what_garbage_collection_cannot_read_is_lost_until_it_is_written(tmp_path: Path) -> None:
    writes = {"workload.synthetic.read_percent": 0, "workload.synthetic.duration": "4s"}
    lossy = run_weak(tmp_path, DIE_FAILS | {"device.protection": None, "device.ftl.capacity": "9MiB"} | writes)
    assert lossy.reliability.data_loss_bytes > 0
    assert 0 < lossy.reliability.lost_bytes < lossy.reliability.data_loss_bytes
    assert lossy.reliability.lost_bytes % 4096 == 0
    # Whole units are written: nothing old is needed, and so nothing fails.
    assert lossy.host.errors == 0


def test_a_part_of_a_lost_unit_cannot_be_written(tmp_path: Path) -> None:
    # Sectors of 512 bytes into units of 4 KiB: the rest of a unit on the dead die cannot be read.
    parts = {"workload.synthetic.read_percent": 0, "workload.synthetic.size": "512B"}
    result = run_weak(tmp_path, DIE_FAILS | {"device.protection": None} | parts)
    assert result.host.partial_writes > 0
    assert result.host.errors > 100
    assert result.host.errors == result.reliability.medium_errors


def test_hazards_come_by_themselves(tmp_path: Path) -> None:
    # 60 000 blocks a year of simulated seconds would be none: a rate that breaks a few blocks in one second.
    blocks = run_weak(tmp_path, SMALL | {"device.hazards.per_year": {"block": 2e8}})
    # Poisson: 6.3 are expected.
    assert 1 <= blocks.reliability.faults <= 20
    failing = run_weak(tmp_path, SMALL | {"device.hazards.per_operation": {"program": 0.01}})
    assert failing.reliability.program_failures > 0
    assert failing.write_amplification.rewritten > 0
    assert failing.host.errors == 0


def test_a_leap_of_age_raises_the_error_rate(tmp_path: Path) -> None:
    leap = {"run.ageing": [{"at": "500ms", "by": "300d"}], "device.scrub": None}
    series = run_weak(tmp_path, SMALL | leap).table("timeseries")
    before = series.filter(pl.col("end_s") < 0.5)["rber_p50"][-1]
    after = series.filter(pl.col("start_s") > 0.52)["rber_p50"][0]
    assert after > 1.3 * before


def test_the_oracle_sees_a_leap_of_age_at_once(tmp_path: Path) -> None:
    oracle = {"run.ageing": [{"at": "500ms", "by": "60d"}], "device.scrub.expected_errors": 40}
    decisions = run_weak(tmp_path, oracle).table("decisions").filter(pl.col("reason") == "expected-errors")
    assert decisions.height > 0
    assert decisions["at_s"].min() >= 0.5  # type: ignore[operator]


def test_re_reads_may_have_data_moved(tmp_path: Path) -> None:
    ratio = {"device.scrub.expected_errors": None, "device.scrub.rereads_per_unit": 0.2}
    figures = run_weak(tmp_path, ratio).reliability
    assert figures.scrubbed.by_rereads == figures.scrubbed.superblocks > 0


def test_patrol_reads_what_nobody_asks_for(tmp_path: Path) -> None:
    patrol = {"device.scrub.expected_errors": None, "device.scrub.patrol": "1s", "workload.synthetic.rate_iops": 500}
    result = run_weak(tmp_path, patrol)
    scrubbed, reads = result.reliability.scrubbed, result.flash.by_cause.patrol_reads
    assert scrubbed.by_patrol == scrubbed.superblocks > 0
    # A read finds each of them, and less than a period passes: no page has a second turn.
    assert scrubbed.by_patrol <= reads <= result.device.raw_bytes / 4096


@pytest.mark.parametrize("full", [1.0, 0.5, 0.125])
def test_patrol_reads_what_a_drive_holds_once_in_each_period(tmp_path: Path, full: float) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    sound = {"device.scrub.patrol": "1s", "device.ftl.capacity": "16MiB", "precondition.fill_fraction": full}
    reads = {"workload.synthetic.read_percent": 100, "workload.synthetic.rate_iops": 100, "run.warm_up": "0s"}
    time = {"workload.synthetic.duration": "4s", "precondition.overwrite": "none"}
    flash = {"model": {"form": "exponential", "a": 1e-6, "b": 0.0}, "ecc": {"strength": 40}}
    result = outlast.run(tmp_path / "tiny.toml", sound | reads | time | {"device.reliability": flash})
    pages = full * 4096
    # The clock runs a little more or less than four periods, and a superblock that is not full is not read.
    assert result.flash.by_cause.patrol_reads == pytest.approx(4 * pages, rel=0.02, abs=4 * 64)


def test_patrol_moves_by_the_number_of_wrong_bits(tmp_path: Path) -> None:
    patrol = {"device.scrub.expected_errors": None, "device.scrub.patrol": "1s", "device.reliability.ecc.strength": 80}
    moved = [
        run_weak(tmp_path, patrol | {"device.scrub.patrol_errors": errors}).reliability.scrubbed.by_patrol
        for errors in (30, 79)
    ]
    assert moved[0] > moved[1]


def test_levels_of_the_error_rate_do_not_depend_on_the_order_of_page_types(tmp_path: Path) -> None:
    rates = [
        run_weak(tmp_path, {"device.reliability.page_types": {"factors": factors}}).reliability.rber.mean
        for factors in ([0.5, 1.0, 2.0], [2.0, 1.0, 0.5])
    ]
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


def test_scrubbing_that_chases_itself_is_told(outlast: Outlast, weak: Path) -> None:
    done = outlast("run", "weak.toml", "--set", "device.scrub.expected_errors=20")
    said = " ".join(done.stdout.split())
    assert "note: Scrubbing never comes to rest" in said
    for part in ("3000 P/E cycles", "27.5 expected wrong bits", "device.scrub.expected_errors is 20"):
        assert part in said


def test_an_error_rate_beyond_the_model_is_told(outlast: Outlast, weak: Path) -> None:
    far = "device.reliability.initial.pe_cycles=2000000"
    summary = json.loads(outlast("run", "weak.toml", "--set", far, "--json").stdout)
    (note,) = (note for note in summary["notes"] if "beyond its validity" in note)
    for part in ("RBER limited to 0.5", "P/E cycles", "days after writing", "reads of the block"):
        assert part in note
    assert summary["reliability"]["rber"]["saturated_reads"] > 0
    assert summary["reliability"]["rber"]["max"] == 0.5
    assert summary["host"]["errors"] > 0


def test_errors_need_time_and_say_so(tmp_path: Path) -> None:
    result = run_weak(tmp_path, {"run.timing": "none"})
    assert any("Errors and faults need time" in note for note in result.notes)


def test_the_summary_for_people_tells_of_errors(outlast: Outlast, weak: Path, tiny: Path) -> None:
    text = " ".join(outlast("run", "weak.toml", "--set", "run.twin=true").stdout.split())
    for part in ("re-reads per read", "UBER, exact", "after ECC", "scrubbing", "parity", "of its error-free twin"):
        assert part in text, part
    assert "re-reads" not in outlast("run", "tiny.toml").stdout


def without_cost(folder: Path) -> str:
    """The text of result.json with the figures taken out that tell what the run cost."""
    summary = summary_of(folder)
    for name in VARYING:
        group, figure = name.split(".")
        summary[group].pop(figure)
    return json.dumps(summary)


def test_same_seed_same_errors(outlast: Outlast, weak: Path, tmp_path: Path) -> None:
    text = weak.read_text() + (
        "\n[device.hazards]\nper_operation = { program = 0.002, read = 0.001 }\nper_year = { block = 1e8 }\n"
        '\n[[faults]]\nat = "300ms"\nkind = "die"\ndie = 2\n'
    )
    weak.write_text(text.replace('capacity = "16MiB"', 'capacity = "6MiB"').replace("data = 3", "data = 2"))
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        outlast("run", "weak.toml", "--out", name, "--quiet", "--seed", seed, "--set", "run.twin=true")
    assert without_cost(tmp_path / "a") == without_cost(tmp_path / "b")
    for table in ("errors", "decisions", "timeseries", "wear", "latency"):
        frames = [pl.read_parquet(tmp_path / name / f"{table}.parquet") for name in ("a", "b")]
        assert str(frames[0].to_dict(as_series=False)) == str(frames[1].to_dict(as_series=False)), table
    one, other = (summary_of(tmp_path / name)["reliability"] for name in ("a", "c"))
    assert one["faults"] >= 1
    assert one["corrected_by"] != other["corrected_by"]
