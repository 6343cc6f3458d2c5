"""Does code of the user's decide for arrays as their settings do, and is what makes no sense told in one line?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from outlast.policies import Failure, LostRows, Pace
from test_policies import measured

SMALL: dict[str, Any] = {
    "device.geometry.blocks_per_plane": 24,
    "device.geometry.pages_per_block": 16,
    "device.ftl.capacity": "224MiB",
    "device.controller.write_buffer": "2MiB",
    # All is written, and once over at random: what is decided depends on how much is lost, not on steady state.
    "precondition.max_drive_writes": 1,
    "array.members": 4,
    "array.repair.share": None,
    "array.repair.range": "4MiB",
    "faults": [{"at": "200ms", "kind": "die", "device": 2, "die": 13}],
    "workload.synthetic.rate_iops": 4000,
    "workload.synthetic.duration": "1s",
    "run.window": "50ms",
}
"""Four small drives as RAID-5, one of which loses a die."""


def run(changes: dict[str, Any] | None = None, **policies: Any) -> outlast.Result:
    return outlast.run("die-repair", SMALL | (changes or {}), policies=policies)


def told(result: outlast.Result, event: str) -> list[float]:
    """Times of an event, in seconds."""
    events = result.tables["array_events"]
    return [at for at, what in zip(events["at_s"], events["event"], strict=True) if what == event]


@pytest.mark.parametrize("way", ["die", "assist", "rebuild"])
def test_a_way_that_is_answered_is_the_way_that_is_set(way: str) -> None:
    own = run(repair=lambda _: way)
    assert measured(own) == measured(run({"array.repair.way": way}))
    assert measured(run({"policies.repair": way})) == measured(own)


def test_saying_nothing_is_the_setting() -> None:
    nothing = run(repair=lambda _: None, rebuild=lambda _: None)
    assert measured(nothing) == measured(run())


def test_a_rate_that_is_answered_is_the_rate_that_is_set() -> None:
    for way in ("die", "rebuild"):
        rate = {"array.background.min_rate": "40MB/s", "array.background.max_rate": "40MB/s", "array.repair.way": way}
        own, theirs = run({"array.repair.way": way}, rebuild=lambda _: 40e6), run(rate)
        for result in (own, theirs):
            result.summary["array"].pop("data_loss")  # what is foreseen has the rate from the settings
        assert measured(own) == measured(theirs)


def test_an_order_that_is_answered_is_the_order_that_is_set() -> None:
    two = {"faults": [*SMALL["faults"], {"at": "201ms", "kind": "die", "device": 1, "die": 13}], "array.level": "raid6"}
    seen: list[LostRows] = []

    def most_exposed(rows: LostRows) -> Any:
        seen.append(rows)
        assert len(rows) == len(rows.sectors) == len(rows.exposure) == len(rows.readable)
        assert (rows.sectors > 0).all()
        return -rows.exposure.astype(float)

    own = run(two, repair_order=most_exposed)
    assert measured(own) == measured(run(two | {"array.repair.order": "exposure"}))
    assert {rows.member for rows in seen} == {1, 2}
    assert max(int(rows.exposure.max()) for rows in seen) > 0
    # Another order is another run, which brings back the same.
    last = run(two, repair_order=lambda rows: np.arange(len(rows))[::-1])
    assert measured(last) != measured(own)
    assert last.summary["array"]["lost_bytes"] == own.summary["array"]["lost_bytes"] == 0


def test_a_repair_waits_until_it_is_told_to_begin() -> None:
    seen: list[Failure] = []

    def at_half_past(failure: Failure) -> str | float:
        seen.append(failure)
        left = 500_000_000 - failure.now_ns
        return left / 1e9 if left > 0 else "die"

    own = run(repair=at_half_past)
    assert [one.asked for one in seen] == [0, 1]
    first, second = seen
    assert (first.member, first.die, first.dies, first.missing, first.repairing, first.spares) == (2, 13, 1, 0, 0, 1)
    assert first.told_ns == second.told_ns <= first.now_ns < 500_000_000 == second.now_ns
    assert told(own, "repair started") == [0.5]
    assert own.summary["array"]["lost_bytes"] == 0


def test_a_pace_follows_the_host() -> None:
    seen: list[Pace] = []

    def gently(pace: Pace) -> float:
        seen.append(pace)
        return 5e6 if pace.host_active else 500e6

    busy = run({"workload.synthetic.rate_iops": 20_000}, rebuild=gently)
    rest = run({"workload.synthetic.rate_iops": 4000}, rebuild=gently)
    assert {one.kind for one in seen} == {"repair"}
    times = [one.now_ns for one in seen]
    assert min(np.diff(times)[np.diff(times) > 0]) >= 10_000_000, "it is asked every 10 ms"
    slow, fast = (told(result, "repaired")[0] - told(result, "repair started")[0] for result in (busy, rest))
    assert slow > 2 * fast


WRONG: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "raises": ("repair", lambda _: 1 // 0, "ZeroDivisionError: "),
    "no way": ("repair", lambda _: "prayer", "returned 'prayer': must be die, assist, rebuild, a number of seconds"),
    "no time": ("repair", lambda _: 0, "returned 0: a delay of a repair must be above 0 and at most 3600000 seconds"),
    "no rate": ("rebuild", lambda _: "fast", "returned 'fast': must be a number or None; it saw now_ns = "),
    "no bytes": ("rebuild", lambda _: 0, "returned 0 bytes a second, which must be at least 1 and finite"),
    "no scores": ("repair_order", lambda _: [1.0], "returned 1 scores for "),
    "no numbers": ("repair_order", lambda rows: ["first"] * len(rows), "scores are numbers"),
    "NaN": ("repair_order", lambda rows: np.full(len(rows), np.nan), "returned NaN as the score of row 0"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_ends_the_run_with_one_line(wrong: str) -> None:
    decision, policy, says = WRONG[wrong]
    with pytest.raises(outlast.ScenarioError) as error:
        run({}, **{decision: policy})
    message = str(error.value)
    assert "\n" not in message
    assert re.search(rf"policies.{decision} = .*test_policy_arrays.py:<lambda>: .*{re.escape(says)}", message), message


def test_an_array_is_needed_and_names_are_known(tiny: Path) -> None:
    with pytest.raises(outlast.ScenarioError, match=r"policies\.repair = .*: decides for an array, and there is none"):
        outlast.run(tiny, policies={"repair": lambda _: None})
    with pytest.raises(outlast.ScenarioError, match=r'policies\.repair = assit: .* did you mean "assist"\?'):
        run({"policies.repair": "assit"})
    with pytest.raises(
        outlast.ScenarioError, match=r"array\.background\.own = 1ms: is how often policies\.rebuild is asked"
    ):
        run({"array.background.own": "1ms"})
    with pytest.raises(outlast.ScenarioError, match=r"policies\.rebuild = fast: .* must be FILE:NAME"):
        run({"policies.rebuild": "fast"})


def test_the_same_seed_gives_the_same_bytes() -> None:
    class Slower:
        def __init__(self) -> None:
            self.rate = 100e6

        def __call__(self, _: Pace) -> float:
            self.rate *= 0.9
            return max(self.rate, 1e6)

    assert measured(run(rebuild=Slower)) == measured(run(rebuild=Slower))
