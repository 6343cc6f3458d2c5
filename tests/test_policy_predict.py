"""Does code of the user's say which dies are expected to fail, and are its false alarms counted?"""

from __future__ import annotations

from typing import Any

import pytest

import outlast
from outlast.policies import DieHealth
from test_policies import measured

SIGNS = [
    {"at": f"{2 + i}s", "kind": "block", "die": die, "plane": 0, "block": 10 + i} for die in (1, 2) for i in range(3)
]
"""Dies 1 and 2 lose three blocks each."""
FAILURES = [{"at": "8s", "kind": "die", "die": die} for die in (1, 6)]
"""Die 1 fails after its signs, die 6 without any; die 2 goes on."""
SCENARIO: dict[str, Any] = {
    "extends": "die-repair",
    "name": "three dies",
    "array": None,
    "device": {"repair": {"predict": {"bad_blocks": 3}}},
    "faults": sorted(SIGNS + FAILURES, key=lambda fault: fault["at"]),
    "workload": {"synthetic": {"duration": "12s", "rate_iops": 3000}},
}


def predicted(policies: dict[str, Any] | None = None) -> dict[str, int]:
    found: dict[str, int] = outlast.run(SCENARIO, policies=policies).summary["reliability"]["predicted"]
    return found


def test_the_limits_of_the_settings_count_false_alarms_and_missed_dies() -> None:
    # Blocks of die 6 are bad once it has failed: it is expected to fail, too late.
    assert predicted() == {"dies": 3, "false_alarms": 1, "missed": 1}


def test_no_answer_gives_the_bytes_of_the_limits() -> None:
    own = outlast.run(SCENARIO, policies={"predict": lambda _: None})
    assert measured(own) == measured(outlast.run(SCENARIO))


def test_a_question_has_the_signs_of_its_die_and_the_answer_decides() -> None:
    seen: list[DieHealth] = []

    def patient(health: DieHealth) -> bool:
        seen.append(health)
        return health.die == 1 and health.bad_blocks >= 2

    assert predicted({"predict": patient}) == {"dies": 1, "false_alarms": 0, "missed": 1}
    assert {health.die for health in seen} == {1, 2, 6}
    assert [health.now_ns for health in seen] == sorted(health.now_ns for health in seen)
    of_two = [health.bad_blocks for health in seen if health.die == 2]
    assert of_two == sorted(of_two), "bad blocks of a die never become fewer"
    assert of_two[-1] == 3
    assert max(health.bad_blocks for health in seen if health.die == 1) == 2, (
        "asked no more once it is expected to fail"
    )
    assert {health.limit for health in seen} == {16}
    assert all(health.others >= 1 for health in seen if health.die == 2 and health.bad_blocks == 3)


def test_nobody_expects_anything_where_the_answer_is_no() -> None:
    assert predicted({"predict": lambda _: False}) == {"dies": 0, "false_alarms": 0, "missed": 2}


def test_an_answer_that_is_neither_yes_nor_no_ends_the_run() -> None:
    with pytest.raises(outlast.ScenarioError, match=r"policies\.predict.*returned 0\.5: must be True, False or None"):
        outlast.run(SCENARIO, policies={"predict": lambda _: 0.5})


def test_prediction_needs_dies_that_are_watched() -> None:
    with pytest.raises(outlast.ScenarioError, match=r"device\.repair\.predict watches; add that table"):
        outlast.run(SCENARIO, {"device.repair.predict": None}, policies={"predict": lambda _: True})
