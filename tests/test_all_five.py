"""Do the mechanisms of all five papers work together in one array, and keep every byte?"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import outlast
from conftest import ROOT
from outlast.report.found import title

TRACE = ROOT.parent / "shared" / "traces" / "ms-prod-dtrs-127k.ascii.zst"
UNIT = 4096
SEED = int(os.environ.get("PROPTEST_RNG_SEED", "20261128"))
"""Seed of the commands: that of the property tests in Rust, if given."""


@pytest.fixture(scope="module")
def result() -> outlast.Result:
    return outlast.run("all-five")


def test_each_of_the_five_is_at_work_and_no_request_fails(result: outlast.Result) -> None:
    summary = result.summary
    assert summary["host"]["errors"] == summary["reliability"]["lost_bytes"] == summary["array"]["lost_bytes"] == 0
    # Reparo: the die is repaired in place, with intact data moved between cores.
    (repair,) = summary["repair"]
    assert (repair["device"], repair["die"], repair["way"]) == (2, 5, "die")
    assert repair["finished_s"] is not None and repair["fake_failures"] > 0 and repair["lost_bytes"] == 0
    # HRM: errors are corrected by re-reads and by stripes, and scrubbing moves blocks that cost too many re-reads.
    corrected, scrubbed = summary["reliability"]["corrected_by"], summary["reliability"]["scrubbed"]
    assert corrected["reread"] > 0 and corrected["stripe"] > 0 and scrubbed["by_rereads"] > 0
    # mSAPL: classes of 0, 1 and 2 parities, and blocks of partial parity. Flexible: class 1 has the code of class 2.
    protection = summary["protection"]
    assert [own["m"] for own in protection["by_class"]] == [0, 2, 2]
    assert summary["write_amplification"]["partial_parity"] > 0
    assert [change["refused"] for change in protection["changes"]] == [None]
    assert protection["outdated_superblocks"] < 0.1 * protection["superblocks"]
    # Diff-RAID: the worn member is replaced, and the parity is with the one that is the oldest then.
    array = summary["array"]
    assert array["ejected"] == array["rebuilds"] == 1 and array["state"] == "clean"
    shares = [own["parity_percent"] for own in array["wear"]]
    assert sorted(shares) == [10, 10, 10, 70]
    ages = [own["mean_pe"] for own in array["wear"]]
    assert shares[ages.index(max(ages))] == 70


def test_the_findings_name_every_event_and_not_only_the_repair(result: outlast.Result, tmp_path: Path) -> None:
    headline = title(result.summary)
    assert "CDR* repairs the failed die" in headline
    assert "member 0 is replaced" in headline and "class 1 gets (5, 2)" in headline
    report = result.report(tmp_path / "report.html").read_text()
    for words in (
        "1 member left it at a limit (array.replacement.limit_percent = 100 % of the rated cycles",
        "of the parity.",
        "Codes at the end: class 0 none across dies, class 1 (5, 2), class 2 (5, 2).",
        "At 60.0 s class 1 gets (5, 2).",
    ):
        assert words in report, words


@pytest.mark.skipif(not TRACE.exists(), reason="needs the traces of ../shared")
def test_a_real_trace_runs_through_the_five_without_an_error() -> None:
    spec = {"workload": {"trace": {"file": str(TRACE), "addresses": "fit", "align": "4KiB"}}}
    summary = outlast.run(["all-five", spec]).summary
    assert summary["host"]["errors"] == summary["array"]["lost_bytes"] == 0
    assert summary["host"]["reads"] + summary["host"]["writes"] > 100_000
    assert summary["repair"][0]["finished_s"] is not None and summary["array"]["state"] == "clean"


def until_whole(array: outlast.Drive) -> None:
    """Lets a rebuild end: with a member missing and parity in doubt an array does not start, as md's does not."""
    for _ in range(20):
        kinds = [event["text"].split()[0] for event in array.events() if event["kind"] == "array"]
        rebuilt = [kind for kind in kinds if kind in ("rebuild-started", "rebuilt")]
        if rebuilt[-1:] != ["rebuild-started"]:
            return
        array.advance("5s")


def test_every_byte_survives_power_cuts_a_dead_die_and_a_replacement() -> None:
    dice = random.Random(SEED)
    array = outlast.Drive("all-five", {"precondition.fill": "none", "faults": [], "seed": SEED})
    units = array.capacity // UNIT
    held: dict[int, bytes] = {}
    for step in range(400):
        if step == 130:
            array.fault("die", device=2, die=5)
        if step == 260:
            until_whole(array)
            array.replace(1, force=True)
        match dice.choices(("write", "read", "advance", "cut"), (60, 25, 12, 3))[0]:
            case "write":
                first, count = dice.randrange(units - 8), dice.randint(1, 8)
                data = dice.randbytes(count * UNIT)
                array.write(first * UNIT, data)
                for index in range(count):
                    held[first + index] = data[index * UNIT :][:UNIT]
            case "read" if held:
                unit = dice.choice(list(held))
                assert array.read(unit * UNIT, UNIT) == held[unit], (step, unit)
            case "advance":
                array.advance(f"{dice.randint(1, 2000)}ms")
            case "cut":
                until_whole(array)
                array.power_cut()
    array.advance("5s")
    assert all(array.read(unit * UNIT, UNIT) == data for unit, data in held.items())
