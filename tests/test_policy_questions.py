"""Does code of the user's choose the codes of superblocks, and the pace of the host, as it says?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast.policies import Collecting, Opening
from test_policies import measured

CODED: dict[str, Any] = {
    "device.geometry.channels": 4,
    "device.geometry.blocks_per_plane": 64,
    "device.ftl.capacity": "12MiB",
    "device.controller.write_buffer": "512KiB",
    "device.protection": {"data": 3, "parity": 1},
    "workload.synthetic.read_percent": 0,
    "workload.synthetic.rate_iops": 9000,
}
FILL: dict[str, Any] = {
    "precondition.fill": "none",
    "precondition.overwrite": "none",
    "workload.synthetic.pattern": "sequential",
    "workload.synthetic.size": "64KiB",
    "workload.synthetic.rate_iops": 100,
}
"""A new drive that is written once from its first to its last address, or less."""
PACINGS: dict[str, dict[str, Any]] = {
    "smooth": {},
    "burst": {"device.ftl.gc.pacing": "burst", "device.ftl.gc.start_free": 3, "device.ftl.gc.stop_free": 5},
    "token": {"device.ftl.gc.pacing": "token"},
    "overlap": {"device.ftl.gc.overlap": True},
}


@pytest.mark.parametrize("answer", [lambda _: None, lambda opening: (opening.data, opening.parity)])
def test_the_code_of_the_class_gives_the_bytes_of_no_policy(tiny: Path, answer: Callable[[Opening], Any]) -> None:
    theirs = outlast.run(tiny, CODED)
    assert theirs.gc.victims > 30
    assert measured(outlast.run(tiny, CODED, policies={"code": answer})) == measured(theirs)


@pytest.mark.parametrize("pacing", PACINGS)
def test_the_whole_pace_gives_the_bytes_of_no_policy(tiny: Path, pacing: str) -> None:
    theirs = outlast.run(tiny, PACINGS[pacing])
    assert theirs.gc.victims > 30
    for share in (None, 1, 1.0):
        own = outlast.run(tiny, PACINGS[pacing], policies={"pacing": lambda _, share=share: share})
        assert measured(own) == measured(theirs), share


@pytest.mark.parametrize("code", [(3, 1), (2, 1), (3, 0)])
def test_a_code_that_is_chosen_is_the_code_that_a_class_has(tiny: Path, code: tuple[int, int]) -> None:
    """A drive that collects nothing is the same, whether its class has the code or each superblock is given it."""
    data, parity = code
    mirrored = CODED | FILL | {"device.protection": {"data": 1, "parity": 1}, "device.ftl.capacity": "8MiB"}
    theirs = mirrored | {"device.protection": {"data": data, "parity": parity}}
    if not parity:
        theirs["device.protection"] = None
    own = outlast.run(tiny, mirrored, policies={"code": lambda _: code})
    expected = outlast.run(tiny, theirs)
    assert own.gc.victims == expected.gc.victims == 0
    assert own.flash.by_cause.parity_programs == expected.flash.by_cause.parity_programs
    assert (own.flash.by_cause.parity_programs == 0) == (parity == 0)
    assert own.latency_us.write.max == expected.latency_us.write.max


def test_a_question_about_a_code_is_what_it_says(tiny: Path) -> None:
    seen: list[Opening] = []

    def every_other(opening: Opening) -> tuple[int, int] | None:
        seen.append(opening)
        return (opening.data, 0) if opening.superblock % 2 else None

    own = outlast.run(tiny, CODED, policies={"code": every_other})
    plain = outlast.run(tiny, CODED)
    assert {(one.data, one.parity, one.class_, one.dead_lanes) for one in seen} == {(3, 1, 0, 0)}
    assert {one.cause for one in seen} == {"host", "gc"}
    assert {one.superblocks for one in seen} == {64}
    assert all(1 <= one.free <= 64 for one in seen)
    clocks = [one.clock for one in seen]
    assert clocks == sorted(clocks)
    assert max(one.erases for one in seen) >= 2
    # Of flash that never errs.
    assert {(one.expected_errors, one.rereads, one.uncorrectable) for one in seen} == {(0.0, 0, 0)}
    assert len({one.superblock for one in seen}) == 64
    assert 0 < own.flash.by_cause.parity_programs < 0.7 * plain.flash.by_cause.parity_programs
    assert own.write_amplification.total < plain.write_amplification.total


def test_a_dead_die_takes_along_what_got_no_parity(tiny: Path) -> None:
    dies = CODED | {"faults": [{"at": "200ms", "kind": "die", "die": 0}], "workload.synthetic.read_percent": 50}
    lost = []
    for without in (0, 64):
        own = outlast.run(tiny, dies, policies={"code": lambda one, of=without: (3, int(one.superblock >= of))})
        lost.append(own.reliability.data_loss_bytes)
        assert (own.reliability.stripe_recovery.attempts > 0) == (without == 0)
    assert lost[0] == 0 < lost[1]


def test_a_host_without_a_share_waits_for_whole_victims(tiny: Path) -> None:
    waits = []
    for share in (1.0, 0.5, 0.0):
        seen: list[Collecting] = []

        def keeps(collecting: Collecting, share: float = share, seen: list[Collecting] = seen) -> float:
            seen.append(collecting)
            return share

        own = outlast.run(tiny, {"workload.synthetic.read_percent": 0}, policies={"pacing": keeps})
        assert len(seen) > own.gc.victims > 30, "also in preconditioning, or in the ramp"
        assert all(one.valid <= one.units and one.free <= one.start_free for one in seen)
        times = [one.now_ns for one in seen]
        assert times == sorted(times)
        waits.append(own.latency_us.write.p99)
    assert waits[0] < waits[2], waits


WRONG: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "raises": ("code", lambda _: 1 // 0, r"ZeroDivisionError: .* \(test_policy_questions.py, line \d+\); it saw "),
    "no code": (
        "code",
        lambda _: 7,
        "returned 7: must be (data, parity), two whole numbers, or None; it saw superblock = ",
    ),
    "more room": (
        "code",
        lambda _: (1, 1),
        "returned (1, 1): leaves a superblock less data than the code of its class",
    ),
    "more parity": ("code", lambda _: (2, 2), "returned (2, 2): has more parity than the code of its class"),
    "too wide": ("code", lambda _: (4, 1), "returned (4, 1): "),
    "no data": ("code", lambda _: (0, 1), "returned (0, 1): data must be 1 to 255"),
    "no share": ("pacing", lambda _: "all", "returned 'all': must be a number or None; it saw victim = "),
    "too much": ("pacing", lambda _: 1.5, "returned 1.5: must be a share, between 0 and 1; it saw victim = "),
    "no number": ("pacing", lambda _: float("nan"), "returned NaN: must be a share, between 0 and 1"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_ends_the_run_with_one_line(tiny: Path, wrong: str) -> None:
    decision, policy, told = WRONG[wrong]
    with pytest.raises(outlast.ScenarioError) as error:
        outlast.run(tiny, CODED, policies={decision: policy})
    message = str(error.value)
    assert "\n" not in message
    pattern = told if wrong == "raises" else re.escape(told)
    assert re.search(rf"policies.{decision} = .*test_policy_questions.py:<lambda>: {pattern}", message), message


def test_a_code_needs_parity_and_names_are_known(tiny: Path) -> None:
    with pytest.raises(outlast.ScenarioError, match=r"policies\.code = .*: chooses among codes; give the drive parity"):
        outlast.run(tiny, policies={"code": lambda _: None})
    by_name = outlast.run(tiny, {"policies.pacing": "none"})
    assert measured(by_name) == measured(outlast.run(tiny, {"device.ftl.gc.pacing": "none"}))
    with pytest.raises(outlast.ScenarioError, match=r'policies\.pacing = smoth: .* did you mean "smooth"\?'):
        outlast.run(tiny, {"policies.pacing": "smoth"})
