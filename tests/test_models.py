"""Are the closed forms exact in Python too, whatever the shape, and are they the papers'?"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlast
from outlast import models

DIGITS = 1200
CODES = st.sampled_from([(8192, 8), (4148, 4), (4096, 25), (512, 1), (4096, 75), (65536, 8)])


def outcome(n: int, k: int, p: float) -> tuple[Any, Any]:
    """CPER and DPER, with digits to spare."""
    rate = mpmath.mpf(p)
    odds = rate / (1 - rate)

    def total(first: int, last: int) -> Any:
        if first > min(last, n):
            return mpmath.mpf(0)
        term = mpmath.binomial(n, first) * rate**first * (1 - rate) ** (n - first)
        terms = mpmath.mpf(0)
        for i in range(first, min(last, n) + 1):
            terms += term
            term *= mpmath.mpf(n - i) / (i + 1) * odds
        return terms

    return total(0, k), total(k + 1, 2 * k)


def literal_loss(pages: list[tuple[Any, Any]], m: int) -> Any:
    """mSAPL's equations as they are printed: 1 minus the probability of what can be recovered."""
    detected = [mpmath.mpf(1)]
    for correct, bad in pages:
        shifted = [mpmath.mpf(0), *(bad * each for each in detected)]
        kept = [*(correct * each for each in detected), mpmath.mpf(0)]
        detected = [a + b for a, b in zip(kept, shifted, strict=True)]
    return 1 - sum(detected[: m + 1])


def same(actual: float, expected: Any, tolerance: float = 1e-10) -> None:
    """Equal to 1e-10 of itself, wherever a float can hold it."""
    if expected < mpmath.mpf("1e-300"):
        assert 0.0 <= actual < 1.0001e-300
    else:
        assert abs(mpmath.mpf(actual) / expected - 1) < tolerance, (actual, mpmath.nstr(expected, 20))


@settings(deadline=None, max_examples=60)
@given(CODES, st.floats(-45.0, -0.5), st.integers(2, 20), st.integers(0, 4))
def test_page_error_rates_are_those_of_the_printed_equations(
    code: tuple[int, int], exponent: float, pages: int, parities: int
) -> None:
    (n, k), p, m = code, 10.0**exponent, min(parities, pages - 1)
    with mpmath.workdps(DIGITS):
        correct, bad = outcome(n, k, p)
        same(models.cper(p, n, k), correct)
        same(models.dper(p, n, k), bad)
        same(models.undetected(p, n, k), 1 - correct - bad)
        loss = literal_loss([(correct, bad)] * pages, m)
        same(models.stripe_loss(p, n, k, stripe=pages, parities=m), loss)
        same(models.uper(p, n, k, stripe=pages, parities=m), loss / pages if m else 1 - correct)
        rate = loss / pages if m else 1 - correct
        # Beyond its digits even this reference goes astray.
        if rate > mpmath.mpf(10) ** (100 - DIGITS):
            log, expected = models.uper(p, n, k, stripe=pages, parities=m, log=True), mpmath.log(rate)
            assert abs(log - expected) < 1e-10 + 1e-14 * abs(expected)
        same(models.uber(p, n, k, user_bits=min(n, 4096)), (1 - correct) / min(n, 4096))


@settings(deadline=None, max_examples=15)
@given(st.lists(st.floats(-12.0, -2.0), min_size=2, max_size=8), st.integers(0, 3))
def test_unlike_pages_are_those_of_the_printed_equations(exponents: list[float], parities: int) -> None:
    rates, m = [10.0**exponent for exponent in exponents], min(parities, len(exponents) - 1)
    with mpmath.workdps(700):
        expected = literal_loss([outcome(8192, 8, p) for p in rates], m)
        same(models.unlike_stripe_loss(rates, parities=m), expected)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-300.0, -1.0), min_size=1, max_size=8), st.floats(0.0, 15.0))
def test_data_loss_is_one_minus_the_product(exponents: list[float], decades: float) -> None:
    rates, bits = [10.0**exponent for exponent in exponents], float(round(10.0**decades))
    with mpmath.workdps(400):
        expected = -mpmath.expm1(sum(mpmath.mpf(bits) * mpmath.log1p(-mpmath.mpf(rate)) for rate in rates))
        same(models.data_loss(rates, bits), expected)
        same(models.any_failure(bits, rates[0]), -mpmath.expm1(mpmath.mpf(bits) * mpmath.log1p(-mpmath.mpf(rates[0]))))


def test_rates_stay_positive_and_rise_however_small() -> None:
    cycles = np.arange(0.0, 24_001.0, 10.0)
    for m in range(4):
        rates = models.uper(models.rber("msapl", cycles), parities=m)
        assert (rates > 0).all()
        assert (np.diff(rates) > 0).all()
    far = models.uper(np.geomspace(1e-200, 1e-3, 4000), parities=2, log=True)
    assert np.isfinite(far).all()
    assert (np.diff(far) > 0).all()
    assert far[0] < -7000


def test_shapes_follow_the_arguments() -> None:
    scalar = models.uper(1e-5)
    assert type(scalar) is float
    for shape in [(1,), (5,), (2, 3), (0,), (2, 1, 4)]:
        for function in (models.uper, models.stripe_loss, models.page_loss, models.cper, models.dper, models.uber):
            values = function(np.full(shape, 1e-5))
            assert values.shape == shape
            assert values.dtype == np.float64
    assert np.all(models.uper(np.full((2, 3), 1e-5)) == scalar)
    # Views, other types and other orders are read as they are.
    table = np.geomspace(1e-7, 1e-4, 12).reshape(3, 4)
    assert np.array_equal(models.uper(table.T, parities=1), models.uper(table, parities=1).T)
    assert np.array_equal(models.uper(table[::2, ::-1]), models.uper(table)[::2, ::-1])
    assert models.uper(np.float32(1e-5)) == models.uper(float(np.float32(1e-5)))
    assert models.uper([1e-5, 1e-6]).shape == (2,)
    assert models.rber("mlc-2y-nm", np.ones((4, 1)), np.ones(3), 5.0).shape == (4, 3)
    assert models.unlike_stripe_loss(np.full((2, 3, 8), 1e-5)).shape == (2, 3)
    assert type(models.unlike_stripe_loss([1e-5] * 8)) is float
    assert models.data_loss(np.full((6, 4), 1e-15), 1e12).shape == (6,)
    assert models.data_loss(1e-15 * np.ones(4), np.full((3, 1), 1e12)).shape == (3,)
    assert models.array_loss(np.full((6, 5), 1e-15), 1e12).shape == (6,)
    assert models.mttdl([4, 8], [[1], [2]], 1e6, 10.0).shape == (2, 2)
    assert models.mttdl_mirrors([4, 8], [[2], [4]], 1e6, 10.0).shape == (2, 2)
    assert models.waf([0.1, 0.2], pages=[[64], [256]]).shape == (2, 2)
    life = models.Drive().lifetime([[1e-15], [1e-12]])
    assert life.cycles.shape == life.end.shape == (2, 1)
    assert models.Drive().lifetime().end == "error_rate"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: models.uper([1e-5, 2.0]), ["rber = 2", "within 0 to 1", "index 1"]),
        (lambda: models.uper(math.nan), ["rber = NaN"]),
        (lambda: models.uper(-1e-9), ["rber = -1e-9"]),
        (lambda: models.uper("many"), ["rber", "numbers"]),
        (lambda: models.uper(1e-5, k=-1), ["k = -1", "0 to 8192"]),
        (lambda: models.uper(1e-5, n=2**21), ["n = 2097152", "1048576"]),
        (lambda: models.uper(1e-5, n=8192.5), ["n = 8192.5", "whole"]),  # type: ignore[arg-type]
        (lambda: models.uper(1e-5, stripe=8, parities=8), ["parities = 8", "0 to 7"]),
        (lambda: models.rber("msaple", 1), ["msaple", 'did you mean "msapl"']),
        (lambda: models.rber({"form": "exponential", "a": 0.7, "b": 0.0}, 1), ["model.a = 0.7", "0.5"]),
        (lambda: models.rber({"form": "cubic"}, 1), ["model", "cubic"]),
        (lambda: models.rber("msapl", [1, -5]), ["cycles = -5", "index 1"]),
        (lambda: models.rber("msapl", np.ones(2), np.ones(3)), ["do not broadcast", "days (3,)"]),
        (lambda: models.unlike_stripe_loss(1e-5), ["rber", "last axis"]),
        (lambda: models.two_level_uper(1e-4, [0, 5, 0]), ["C(pages, i)"]),
        (lambda: models.two_level_uper(1e-4, [0, -1]), ["unrecoverable[1] = -1"]),
        (lambda: models.mds_uper(1.5, 7, 1), ["page_error = 1.5"]),
        (lambda: models.data_loss([2.0], 1.0), ["uber = 2"]),
        (lambda: models.data_loss([0.1], -1.0), ["bits = -1"]),
        (lambda: models.data_loss(0.1, 1.0), ["uber", "axis"]),
        (lambda: models.array_loss([0.1, 0.1], 1.0, failed="youngest"), ["failed = youngest", "oldest or any"]),  # type: ignore[arg-type]
        (lambda: models.aging_rates([80, 5, 5, 5]), ["sum of parity_percent = 95"]),
        (lambda: models.steady_ages([0.5, 1.0], 100), ["rate = 1"]),
        (lambda: models.mttdl(8, 8, 1e6, 1.0), ["parities = 8"]),
        (lambda: models.mttdl(8, 1, 0.0, 1.0), ["mttf = 0"]),
        (lambda: models.mttdl_mirrors(8, 9, 1e6, 1.0), ["devices = 8", "at least the copies"]),
        (lambda: models.mttdl(8.5, 1, 1e6, 1.0), ["devices = 8.5"]),
        (lambda: models.waf(0.0), ["spare = 0"]),
        (lambda: models.effective_spare(0.1, overhead=1.2), ["spare space left"]),
        (lambda: models.Drive(parities=4).lifetime(), ["spare space left"]),
        (lambda: models.Drive().lifetime(1.5), ["target = 1.5"]),
        (lambda: models.isolated_increase(1), ["dies_per_core = 1"]),
    ],
)
def test_what_has_no_answer_is_refused_by_name(call: Any, says: list[str]) -> None:
    with pytest.raises(outlast.ModelError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, outlast.OutlastError)
    message = str(caught.value)
    assert "\n" not in message
    for part in says:
        assert part in message, (part, message)


def test_other_threads_go_on_meanwhile() -> None:
    # Many evaluations of the dearest kind, so that a lock held throughout would be noticed.
    rates = np.geomspace(1e-6, 1e-2, 3_000_000)
    work = threading.Thread(target=lambda: models.uper(rates, 4096, 75, stripe=16, parities=1))
    work.start()
    ticks = 0
    while work.is_alive():
        time.sleep(0.001)
        ticks += 1
    # Three million at ten million a second and at best a millisecond to a tick.
    assert ticks > 20


def test_worked_examples_of_the_papers() -> None:
    # Diff-RAID, section 3.3 and Table 1.
    rates = models.aging_rates([80, 5, 5, 5, 5])
    assert models.steady_ages(rates, 10_000) == pytest.approx([5750, 4312.5, 2875, 1437.5, 0])
    assert models.converges(rates)
    assert models.replacements(rates, 10_000, 200).ages[-1] == pytest.approx([5750, 4312.5, 2875, 1437.5, 0])
    assert models.uber(models.rber("b-mlc32-1", 10_000)) == pytest.approx(6.40e-15, rel=0.03)
    # Reparo, Tables 1 and 2, Figures 1(b) and 8, section 3.
    dies = np.array([4, 8, 16, 32, 64, 128])
    assert np.round(100 * models.isolated_increase(dies), 2).tolist() == [33.33, 14.29, 6.67, 3.23, 1.59, 0.79]
    assert np.round(100 * models.shared_increase(4, dies), 2).tolist() == [6.67, 3.23, 1.59, 0.79, 0.39, 0.20]
    assert models.extra_space(15, 16) == pytest.approx(1.0)
    assert models.balanced_spaces(60, [4, 4, 4, 3]) == pytest.approx([16, 16, 16, 12])
    dead = models.any_failure([64, 512, 512], [25e-6, 25e-6, 100e-6])
    assert dead[1:] / dead[0] == pytest.approx([8, 31], rel=0.01)
    read = models.read_failure(1e-16, 15 * 8 * np.array([512e9, 32e12]))
    assert read[1] / read[0] == pytest.approx(52, rel=0.005)
    assert models.second_failures(64.0, 1e6, 16) == 64 * models.second_failures(1.0, 1e6, 16)
    # HRM, Figure 5: 85 % of codewords within 75-bit ECC; section 5: 20 % and 12 % beside parity.
    assert models.cper(models.rber("tlc-72-layer", 5000), 4096, 75) == pytest.approx(0.85, abs=0.01)
    assert models.effective_spare(0.28, overhead=[16 / 15, 8 / 7]) == pytest.approx([0.2, 0.12])
    # Flexible, section 4.2: the least patterns of the two-level code.
    assert models.product_rectangles(8, 64) == math.comb(8, 2) * math.comb(64, 2)


def test_counts_of_any_size_are_taken() -> None:
    # Everything beyond three bad pages is lost: a code of its own that the binomial tail checks.
    pages = 600
    counts = [0] * 4 + [math.comb(pages, i) for i in range(4, pages + 1)]
    with mpmath.workdps(60):
        p = mpmath.mpf(1e-3)
        lost = 1 - sum(mpmath.binomial(pages, i) * p**i * (1 - p) ** (pages - i) for i in range(4))
        same(models.two_level_uper(1e-3, counts), lost / pages)
        same(models.mds_uper(1e-3, pages - 3, 3), lost / pages)


def test_chips_are_listed_with_their_sources() -> None:
    chips = models.chips()
    assert len(chips) == 16
    assert chips["tlc-72-layer"].end_of_life_cycles == 5000
    assert {chip.trust for chip in chips.values()} == {"paper", "code", "recalled"}
    for chip in chips.values():
        assert "Table" in chip.source
        assert models.rber(chip, 5000) == models.rber(chip.name, 5000) == models.rber(dict(chip.model), 5000)
    reached = models.cycles_to_reach("msapl", [1e-6, 1e-9, 0.4])
    assert models.rber("msapl", reached[0]) == pytest.approx(1e-6, rel=1e-9)
    assert reached[1] == 0.0
    assert models.cycles_to_reach({"form": "exponential", "a": 1e-9, "b": 0.0}, 1e-6) == math.inf


def test_every_function_says_where_its_equation_is_from() -> None:
    for name in models.__all__:
        member = getattr(models, name)
        assert member.__doc__, name
        if callable(member) and not isinstance(member, type):
            assert len(member.__doc__) > 70, name
