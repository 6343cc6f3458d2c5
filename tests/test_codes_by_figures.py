"""Does the code of a superblock follow its own figures, as rules and as code of the user's?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast.policies import Opening
from test_policies import measured
from test_policy_questions import CODED

ERRS: dict[str, Any] = CODED | {
    "device.protection": {"data": 2, "parity": 2},
    "device.ftl.capacity": "9MiB",
    "device.reliability": {
        "chip": "tlc-72-layer",
        "initial": {"pe_cycles": 3000, "pe_spread": 200, "age": "30d"},
        "ecc": {"strength": 30},
        "rereads": {"max_retries": 1},
    },
    "workload.synthetic.read_percent": 30,
    "workload.synthetic.requests": 20000,
    "workload.synthetic.duration": "4s",
}
"""Worn flash under (2,2), by which room is counted."""
RULES: dict[str, tuple[dict[str, Any], Callable[[Opening], bool]]] = {
    "erasures": ({"pe_cycles": 3000}, lambda opening: opening.erases >= 3000),
    "expected errors": ({"expected_errors": 40.0}, lambda opening: opening.expected_errors >= 40.0),
    "re-reads": ({"rereads": 3}, lambda opening: opening.rereads >= 3),
    "uncorrectable units": ({"uncorrectable": 1}, lambda opening: opening.uncorrectable >= 1),
    "both": (
        {"pe_cycles": 3000, "rereads": 3},
        lambda opening: opening.erases >= 3000 and opening.rereads >= 3,
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_the_bytes_of_a_function_that_says_the_same(tiny: Path, name: str) -> None:
    figures, holds = RULES[name]
    seen: list[bool] = []

    def strong(opening: Opening) -> tuple[int, int]:
        seen.append(holds(opening))
        return (2, 2) if seen[-1] else (3, 1)

    own = outlast.run(tiny, ERRS, policies={"code": strong})
    assert {True, False} <= set(seen), "the rule never holds, or always"
    rule = {"device.protection": {"data": 3, "parity": 1, "codes": [{**figures, "data": 2, "parity": 2}]}}
    assert measured(outlast.run(tiny, ERRS | rule)) == measured(own)


def test_a_superblock_goes_back_to_the_weaker_code_when_its_figures_fall(tiny: Path) -> None:
    seen: dict[int, list[float]] = {}

    def note(opening: Opening) -> None:
        seen.setdefault(opening.superblock, []).append(opening.expected_errors)

    old = {"device.reliability.initial.age": "365d", "workload.synthetic.duration": "8s"}
    outlast.run(tiny, ERRS | old, policies={"code": note})
    fell = [errors for errors in seen.values() if any(after < before for before, after in pairwise(errors))]
    assert len(fell) > 20, seen


def test_figures_are_of_the_superblocks_own_last_use(tiny: Path) -> None:
    """Blocks that cannot be read give figures to the superblocks that they were in, for one use."""
    blocks = [{"at": "1ms", "kind": "block", "die": 0, "plane": 0, "block": block} for block in range(10)]
    bad = {"faults": blocks, "device.ftl.spare_blocks": 12, "workload.synthetic.read_percent": 50}
    seen: dict[int, list[int]] = {}

    def note(opening: Opening) -> None:
        seen.setdefault(opening.superblock, []).append(opening.uncorrectable)

    own = outlast.run(tiny, CODED | bad, policies={"code": note})
    assert own.reliability.stripe_recovery.attempts > 0 == own.reliability.uncorrectable_reads
    given = {superblock for superblock, units in seen.items() if any(units)}
    # Nothing was read of a superblock that was free when its block broke.
    fresh = outlast.open(tiny, CODED | bad).state.superblocks
    free = {superblock for superblock in range(10) if fresh["state"][superblock] == "free"}
    assert given == set(range(10)) - free
    assert len(free) < 3
    # Spare blocks take the place of the bad ones with the erasure.
    assert all(0 in (before, after) for units in seen.values() for before, after in pairwise(units))


WEAKER = "must protect as well as the code before it, (3, 1): no less parity, no greater share of data"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "weaker": (
        {"device.protection.codes": [{"pe_cycles": 9, "data": 3, "parity": 0}]},
        f"device.protection.codes[0] = (3, 0): {WEAKER}",
    ),
    "no figure": (
        {"device.protection.codes": [{"data": 2, "parity": 2}]},
        "device.protection.codes[0] = no figure: give pe_cycles, expected_errors, rereads or uncorrectable",
    ),
    "no errors": (
        {"device.protection.codes": [{"rereads": 9, "data": 2, "parity": 2}]},
        "device.protection.codes[0] = expected_errors or rereads: looks at errors of flash, and there are none",
    ),
    "too wide": (
        {"device.protection.codes": [{"pe_cycles": 9, "data": 3, "parity": 2}]},
        "device.protection.data = 3: with 2 parity a stripe is 5 dies wide; a flash core has 4",
    ),
    "a change": (
        {
            "device.protection.codes": [{"pe_cycles": 9, "data": 2, "parity": 2}],
            "changes": [{"at": "1ms", "data": 2, "parity": 1}],
        },
        "changes[0].class = 0: has codes by what superblocks have gone through, in device.protection.codes",
    ),
    "of a class": (
        {"device.protection.classes": [{"codes": [{"pe_cycles": 0, "data": 2, "parity": 2}]}]},
        "device.protection.classes[0].codes[0].pe_cycles = 0: must be at least 1",
    ),
    "stride": ({"device.ftl.stride": 5}, "device.ftl.stride = 5: must be between 1 and 4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rules_that_cannot_be_kept_are_refused_with_one_line(tiny: Path, name: str) -> None:
    settings, told = REFUSED[name]
    with pytest.raises(outlast.ScenarioError) as error:
        outlast.run(tiny, CODED | settings)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_rules_and_a_function_are_two_answers_to_one_question(tiny: Path) -> None:
    rule = {"device.protection.codes": [{"pe_cycles": 9, "data": 2, "parity": 2}], "device.ftl.capacity": "9MiB"}
    with pytest.raises(outlast.ScenarioError, match=r"policies\.code = .*: excludes device\.protection\.codes"):
        outlast.run(tiny, CODED | rule, policies={"code": lambda _: None})


def test_parity_may_come_with_the_figures(tiny: Path) -> None:
    """Space for parity is reserved all along, although nothing is protected until it is worn."""
    rule = {"data": 4, "parity": 0, "codes": [{"pe_cycles": 2, "data": 3, "parity": 1}]}
    parity = [
        outlast.run(tiny, CODED | {"device.protection": own}).flash.by_cause.parity_programs
        for own in (rule, {"data": 3, "parity": 1})
    ]
    assert 0 < parity[0] < parity[1]
