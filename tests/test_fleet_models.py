"""Is data loss by a time that of exact arithmetic, of published calculators, and of counting?"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, exp

import numpy as np
import pytest

import outlast
from outlast import models

YEAR = 8760.0


def exact_loss(rates: list[list[Fraction]], loss: list[Fraction], time: Fraction) -> Fraction:
    """Loss by `time` from state 0 by the power series of the generator, in rational numbers."""
    states = len(loss)
    generator = [[*row, loss[i]] for i, row in enumerate(rates)] + [[Fraction(0)] * (states + 1)]
    for i in range(states):
        generator[i][i] = -sum(generator[i][:i] + generator[i][i + 1 :], Fraction(0))
    halvings = 12
    step = time / 2**halvings
    power = [[Fraction(int(i == j)) for j in range(states + 1)] for i in range(states + 1)]
    total = [row[:] for row in power]
    for term in range(1, 40):
        power = [
            [sum(power[i][k] * generator[k][j] for k in range(states + 1)) * step / term for j in range(states + 1)]
            for i in range(states + 1)
        ]
        total = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(total, power, strict=True)]
    for _ in range(halvings):
        # Ninety digits are kept: subtraction costs some twenty of them.
        total = [[Fraction(round(value * 10**90), 10**90) for value in row] for row in total]
        total = [
            [sum((total[i][k] * total[k][j] for k in range(states + 1)), Fraction(0)) for j in range(states + 1)]
            for i in range(states + 1)
        ]
    return total[0][states]


@pytest.mark.parametrize(
    ("devices", "parities", "afr", "hours", "parallel"),
    [(4, 1, "0.02", 12, True), (6, 2, "0.005", 48, False), (12, 4, "0.015", 30, True), (5, 4, "0.03", 72, False)],
)
def test_loss_by_a_year_is_that_of_rational_arithmetic(
    devices: int, parities: int, afr: str, hours: int, parallel: bool
) -> None:
    rate = Fraction(float(models.failure_rate(float(afr))))
    repair = 1 / Fraction(hours)
    rates = [[Fraction(0)] * (parities + 1) for _ in range(parities + 1)]
    loss = [Fraction(0)] * (parities + 1)
    for failed in range(parities + 1):
        if failed < parities:
            rates[failed][failed + 1] = (devices - failed) * rate
        else:
            loss[failed] = (devices - failed) * rate
        if failed:
            rates[failed][failed - 1] = repair * (failed if parallel else 1)
    expected = float(exact_loss(rates, loss, Fraction(8760)))
    found = models.loss_by(YEAR, devices, parities, 1 / float(rate), hours, parallel_repair=parallel)
    assert found == pytest.approx(expected, rel=1e-10)
    table = [[float(value) for value in row] for row in rates]
    assert models.chain_loss_by(table, [float(value) for value in loss], YEAR, 4)[-1] == pytest.approx(
        expected, rel=1e-10
    )


def test_the_mean_of_a_chain_is_that_of_the_array() -> None:
    chain = models.chain_mean([[0, 8e-6], [0.1, 0]], [0, 7e-6])
    assert chain == pytest.approx(models.mttdl(8, 1, 1e6, 10), rel=1e-13)


def test_arguments_broadcast() -> None:
    years = np.array([1.0, 2.0, 5.0]) * YEAR
    found = models.loss_by(years, 9, 3, 1 / models.failure_rate(0.01), [[24.0], [156.0]], parallel_repair=True)
    assert found.shape == (2, 3)
    assert found[0, 0] == pytest.approx(1.051855214e-13, rel=1e-9)
    assert found[1, 0] == pytest.approx(2.803819658e-11, rel=1e-9)
    assert (np.diff(found, axis=1) > 0).all()


def test_mirrors_are_lost_by_a_time() -> None:
    """One pair is a group of two that survives one; many pairs are lost as often as any of them."""
    pair = models.loss_by(YEAR, 2, 1, 1e6, 24.0, parallel_repair=True)
    assert models.loss_by_mirrors(YEAR, 2, 2, 1e6, 24.0) == pytest.approx(pair, rel=1e-12)
    assert models.loss_by_mirrors(YEAR, 64, 2, 1e6, 24.0) == pytest.approx(-np.expm1(32 * np.log1p(-pair)), rel=1e-12)


@pytest.mark.parametrize(("copies", "sets", "mttr"), [(2, 8, 300.0), (3, 3, 100.0), (4, 2, 2000.0)])
def test_sets_of_copies_are_lost_independently(copies: int, sets: int, mttr: float) -> None:
    one = models.loss_by(YEAR, copies, copies - 1, 1e5, mttr, parallel_repair=True, read_failure=1e-3)
    found = models.loss_by_mirrors(YEAR, copies * sets, copies, 1e5, mttr, read_failure=1e-3)
    assert found == pytest.approx(1.0 - (1.0 - one) ** sets, rel=1e-9)


def test_backblaze_and_poisson() -> None:
    """Backblaze's period is a binomial tail: counted in rational numbers here."""
    p = Fraction("0.00405") * Fraction("6.5") / 365
    tail = sum(comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(4, 21))
    found = models.data_loss_with_parity([float(p)] * 20, chunk_bits=1, stripes=1, spare_parities=3)
    assert found == pytest.approx(float(tail), rel=1e-11)
    assert f"{found:.4e}" == "1.3098e-13"
    assert f"{models.any_failure(365 / 6.5, found):.4e}" == "7.3549e-12"


@pytest.mark.parametrize(("nodes", "down", "size", "survives", "sets"), [(40, 6, 3, 2, 100), (30, 5, 5, 1, 7)])
def test_sets_are_lost_as_often_as_counting_says(nodes: int, down: int, size: int, survives: int, sets: int) -> None:
    one = sum(
        Fraction(comb(down, i) * comb(nodes - down, size - i), comb(nodes, size)) for i in range(survives + 1, size + 1)
    )
    expected = float(1 - (1 - one) ** sets)
    assert models.sets_lost(nodes, down, size, survives, sets) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("nodes", "down", "size", "survives", "sets"), [(9, 4, 3, 1, 3), (10, 5, 3, 2, 3), (11, 6, 5, 3, 2)]
)
def test_sets_that_share_no_node_are_lost_as_enumeration_says(
    nodes: int, down: int, size: int, survives: int, sets: int
) -> None:
    """Every set of nodes that are down at once, one by one."""
    groups = [set(range(index * size, (index + 1) * size)) for index in range(sets)]
    gone = [set(each) for each in combinations(range(nodes), down)]
    lost = sum(any(len(group & each) > survives for group in groups) for each in gone)
    found = models.sets_lost(nodes, down, size, survives, sets, disjoint=True)
    assert found == pytest.approx(lost / len(gone), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: models.failure_rate(1.0), "afr = 1: must be from 0 to below 1"),
        (lambda: models.loss_by(-1.0, 3, 2, 1e6, 24), "time = -1: must be a number of at least 0"),
        (lambda: models.loss_by(1.0, 3, 3, 1e6, 24), "parities = 3"),
        (lambda: models.sets_lost(10, 11, 3, 2, 1), "down = 11: must be at most the nodes"),
        (lambda: models.sets_lost(10, 3, 3, 2, 4, disjoint=True), "sets = 4"),
        (lambda: models.chain_loss_by([[0, 1]], [1], 1.0), "rates: has shape"),
        (lambda: models.chain_loss_by([[0.0]], [1.0], 1.0, 0), "steps = 0"),
    ],
)
def test_what_has_no_answer_is_refused(call: object, message: str) -> None:
    with pytest.raises(outlast.ModelError, match=message.replace("(", r"\(")):
        call()  # type: ignore[operator]


def test_series_of_the_oracle() -> None:
    """The oracle itself: one state that is left at rate 1."""
    assert float(exact_loss([[Fraction(0)]], [Fraction(1)], Fraction(1))) == pytest.approx(1 - exp(-1), rel=1e-15)
