"""Is a bad state made as small as it can be, and is the probability of a loss what it is said to be?"""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.products.torture.probability import Class, Span, order, risk, wilson
from outlast.products.torture.shrink import ddmin

NEEDED = st.lists(st.sets(st.integers(0, 11), min_size=1, max_size=5), min_size=1, max_size=4)
"""Sets of pieces: a state is bad if all of any one of them are lost."""


@given(NEEDED)
def test_what_is_left_is_bad_and_every_piece_of_it_is_needed(needed: list[set[int]]) -> None:
    def bad(lost: list[int]) -> bool:
        return any(each <= set(lost) for each in needed)

    shrunk = ddmin(range(12), bad)
    assert shrunk.minimal
    assert bad(shrunk.kept)
    assert not any(bad([piece for piece in shrunk.kept if piece != gone]) for gone in shrunk.kept)
    assert set(shrunk.kept) in needed


@given(st.sets(st.sets(st.integers(0, 5)).map(frozenset)), st.integers(1, 6))
def test_it_holds_for_checks_that_know_no_order(bad_sets: set[frozenset[int]], count: int) -> None:
    whole = frozenset(range(count))

    def bad(lost: list[int]) -> bool:
        return frozenset(lost) in bad_sets or frozenset(lost) == whole

    shrunk = ddmin(range(count), bad)
    assert bad(shrunk.kept)
    assert not any(bad([piece for piece in shrunk.kept if piece != gone]) for gone in shrunk.kept)


def test_nothing_is_asked_twice_and_one_of_many_takes_few_checks() -> None:
    request: list[tuple[int, ...]] = []

    def bad(lost: list[int]) -> bool:
        request.append(tuple(lost))
        return 700 in lost

    shrunk = ddmin(range(1000), bad)
    assert shrunk.kept == [700]
    assert len(request) == len(set(request)) == shrunk.checks
    assert shrunk.checks <= 2 * 10 + 1  # halves of a thousand, and nothing


def test_a_search_that_ends_early_keeps_what_it_has_and_says_so() -> None:
    left = 5

    def bad(lost: list[int]) -> bool | None:
        nonlocal left
        left -= 1
        return {3, 60} <= set(lost) if left >= 0 else None

    shrunk = ddmin(range(64), bad)
    assert not shrunk.minimal
    assert {3, 60} <= set(shrunk.kept)
    assert shrunk.checks == 5


def test_a_cut_that_is_bad_with_nothing_lost_needs_nothing() -> None:
    assert ddmin(["a", "b"], lambda _: True).kept == []


@pytest.mark.parametrize(("bad", "draws"), [(0, 10), (3, 10), (10, 10), (1, 7), (500, 1000)])
def test_wilsons_interval_is_where_the_score_test_ends(bad: int, draws: int) -> None:
    z = 1.959963984540054
    for end in wilson(bad, draws):
        if end in (0.0, 1.0):
            assert bad == draws * end
            continue
        # At its ends the share differs from p by z standard deviations of p.
        assert abs(bad / draws - end) == pytest.approx(z * (end * (1 - end) / draws) ** 0.5, rel=1e-9)
    assert wilson(0, 0) == (0.0, 1.0)


def test_where_every_state_is_known_the_probability_is_exact() -> None:
    classes = [Class([(100, 130), (150, 160)], True), Class([(130, 150)], False), Class([(160, 200)], False)]
    found = risk(classes, (100, 200), 1, "drive")
    assert found is not None
    assert found.exact
    assert (found.value, found.low, found.high, found.bounds) == (0.4, 0.4, 0.4, (0.4, 0.4))


def test_the_window_is_what_counts() -> None:
    found = risk([Class([(0, 150)], True), Class([(150, 999)], False)], (100, 200), 1, "drive")
    assert found is not None
    assert (found.value, found.exact) == (0.5, True)
    assert risk([], (5, 5), 1, "drive") is None


def test_bounds_are_hard() -> None:
    classes = [Class([(0, 10)], True), Class([(10, 90)], None), Class([(90, 100)], False)]
    found = risk(classes, (0, 100), 1, "drive")
    assert found is not None
    assert found.bounds == (0.1, 0.9)
    assert 0.1 <= found.low <= found.high <= 0.9
    nothing = risk([Class([(0, 100)], None)], (0, 100), 1, "drive")
    assert nothing is not None
    assert (nothing.value, nothing.low, nothing.high) == (None, 0.0, 1.0)


def some_classes(random: Random) -> tuple[list[list[Span]], list[bool]]:
    """A window of 10,000 ns in pieces of any length, shared out among 60 classes, of which some are bad."""
    cuts = sorted(random.sample(range(1, 10_000), 150))
    spans = list(zip([0, *cuts], [*cuts, 10_000], strict=True))
    classes: list[list[Span]] = [[] for _ in range(60)]
    for span in spans:
        classes[random.randrange(60)].append(span)
    classes = [each for each in classes if each]
    return classes, [random.random() < 0.25 for _ in classes]


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    random = Random(7)
    covered, inside, rounds = 0, 0, 400
    for seed in range(rounds):
        classes, bad = some_classes(random)
        # Brute force: every nanosecond.
        at = {
            instant: number for number, own in enumerate(classes) for start, end in own for instant in range(start, end)
        }
        truth = sum(bad[number] for number in at.values()) / 10_000
        checked = set(order(classes, (0, 10_000), seed, "drive")[:25])
        known = [Class(own, bad[number] if number in checked else None) for number, own in enumerate(classes)]
        found = risk(known, (0, 10_000), seed, "drive")
        assert found is not None
        assert not found.exact
        assert found.draws >= 25
        low, high = found.bounds
        inside += low <= truth <= high
        covered += found.low <= truth <= found.high
    assert inside == rounds
    # 95 % of 400, less four standard deviations of a binomial.
    assert covered >= rounds * 0.95 - 4 * (rounds * 0.95 * 0.05) ** 0.5


def test_states_come_in_the_order_in_which_instants_meet_them() -> None:
    classes: list[list[Span]] = [[(0, 1)], [(1, 900)], [(900, 1000)]]
    firsts = [order(classes, (0, 1000), seed, "drive")[0] for seed in range(300)]
    shares = [firsts.count(number) / 300 for number in range(3)]
    for share, expected in zip(shares, (0.001, 0.899, 0.1), strict=True):
        assert abs(share - expected) <= 4 * (expected * (1 - expected) / 300) ** 0.5 + 1e-9
    for seed, group in combinations(range(3), 2):
        assert sorted(order(classes, (0, 1000), seed, str(group))) == [0, 1, 2]
    assert order(classes, (0, 1000), 5, "drive") == order(classes, (0, 1000), 5, "drive")


def test_where_only_drawn_stretches_were_looked_at_the_draws_are_the_sample() -> None:
    random = Random(8)
    covered, rounds = 0, 400
    for seed in range(rounds):
        classes, bad = some_classes(random)
        drawn = [random.randrange(10_000) for _ in range(60)]
        seen = [[span for span in own if any(span[0] <= instant < span[1] for instant in drawn)] for own in classes]
        truth = sum(end - start for own, is_bad in zip(classes, bad, strict=True) if is_bad for start, end in own)
        known = [Class(own, is_bad) for own, is_bad in zip(seen, bad, strict=True)]
        found = risk(known, (0, 10_000), seed, "drive", drawn)
        assert found is not None
        assert found.draws == 60
        covered += found.low <= truth / 10_000 <= found.high
        # What is known is of long stretches: as a sample it would be biased.
        without = risk(known, (0, 10_000), seed, "drive")
        assert without is not None
        assert (without.draws, without.value) == (0, None)
    assert covered >= rounds * 0.95 - 4 * (rounds * 0.95 * 0.05) ** 0.5


def test_where_some_instants_leave_no_state_there_is_no_sample() -> None:
    found = risk([Class([(0, 50)], True)], (0, 100), 1, "array1-forced", [10, 60, 20])
    assert found is not None
    assert (found.draws, found.bounds) == (0, (0.5, 1.0))
