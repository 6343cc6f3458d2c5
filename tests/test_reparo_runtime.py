"""Do Reparo's drives that fail while they run differ from repaired ones as they should, and count as they should?"""

from __future__ import annotations

import copy

from outlast.products.reproduce import cells
from test_reparo import GONE, demo, planned, rows


def test_a_drive_that_fails_in_the_run_is_another_than_one_that_was_repaired_before() -> None:
    names = ("case", "stream", "scheme")
    before, running = (
        {tuple(own.labels.get(name) for name in names): own for own in planned("runtime", repaired=way)}
        for way in ("before it was filled", "while it ran")
    )
    assert before.keys() - running.keys() == {(None, stream, "new") for stream in ("random read", "sequential read")}
    assert len(running) == 9
    for key, own in running.items():
        changes = before[key].overrides
        assert "faults" not in changes
        assert GONE not in own.overrides
        assert [fault["die"] for fault in own.overrides["faults"]] == changes[GONE]
        assert own.overrides["run.warm_up"] == own.labels["settled"].replace(" ", "")
        same = ("device.repair.scheme", "workload.synthetic.pattern", "device.controller.link")
        assert [changes.get(name) for name in same] == [own.overrides.get(name) for name in same]
    lists = ("CDR*, random, lists", None, None)
    for own in (before[lists], running[lists]):
        device = cells.prepare(own, 1).scenario["device"]
        assert (device["repair"]["identifier"], device["geometry"]["pages_per_block"]) == ("p2l-block", 768)


def test_a_repair_counts_only_if_it_was_done_when_measuring_began() -> None:
    own, record = planned("runtime", case="CDR, random"), copy.deepcopy(demo())

    def ratio(finished: float | None) -> float | None:
        one = {"way": "die", "lost_bytes": 0, "total_s": 1.0, "identify_s": 1.0, "finished_s": finished}
        one |= {"failed_units": 1, "fake_failures": 0, "bytes_read_from_peers": 0, "bytes_read_from_member": 0}
        running = record | {"summary": record["summary"] | {"repair": [one | {"bytes_written": 0}]}}
        found: float | None = rows("runtime", own, record, running)[1]["speed_ratio"]
        return found

    assert [each.labels["repaired"] for each in own] == ["before it was filled", "while it ran"]
    assert (ratio(29.9), ratio(30.0), ratio(None)) == (1, None, None)


def test_a_die_that_is_predicted_to_fail_shows_what_the_rule_asks_for_before_it_does() -> None:
    for own in planned("future"):
        if own.labels["failure"] == "at once":
            assert "faults" not in own.overrides
            continue
        *signs, failure = own.overrides["faults"]
        assert {(sign["kind"], sign["die"]) for sign in signs} == {("block", failure["die"])}
        limit = own.overrides.get("device.repair.predict.bad_blocks")
        assert (limit is None) == (own.labels["failure"] == "not predicted")
        assert limit in (None, len({sign["block"] for sign in signs}))
        lead = float(failure["at"].removesuffix("s")) - float(signs[0]["at"].removesuffix("ns").removesuffix("s"))
        scale = cells.prepare(own, 1).scenario["run"]["capacity_scale"]
        if limit is not None:
            assert own.labels["failure"] == f"predicted, signs {lead * scale:.0f} s before"
