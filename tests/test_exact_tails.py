"""Do exact tails equal the closed form, and does sampling see what they say?

The drives here err at a fixed rate: no wear, no disturbance, and ages of months. Every unit is read once, so that what
is sampled is independent: a unit's luck belongs to its cells, and reading it again would tell the same again.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import outlast
from drives import geometry

mp.dps = 60

WIDTH = 4
"""Dies, and program units of a stripe where there is parity: three of data and one of parity."""


def drive(reliability: dict[str, Any], *, unit: str = "4KiB", blocks: int = 64, **device: Any) -> dict[str, Any]:
    """A drive filled in order, of which everything is then read once in order."""
    # Blocks that are whole superblocks, so that all of the data and its parity is on flash; a sixth of them is spare.
    protection = device.get("protection", {"data": WIDTH})
    rows = 32 - 32 // (protection.get("block", 32) + 1)
    capacity = f"{blocks * 5 // 6 * rows * 4 * protection['data']}KiB"
    reads = {"pattern": "sequential", "read_percent": 100, "size": "32KiB"}
    return {
        "name": "fixed rate",
        "device": {
            "geometry": geometry(WIDTH, blocks, 32),
            "timing": {"read": "60us", "program": "700us", "erase": "3ms", "bus": "667MB/s"},
            "ftl": {"mapping_unit": unit, "capacity": capacity},
            "reliability": reliability,
            **device,
        },
        "workload": {"synthetic": reads | {"queue_depth": 4, "bytes": capacity}},
        "precondition": {"overwrite": "none"},
    }


def run(scenario: dict[str, Any]) -> outlast.Result:
    """Runs it and makes sure that every unit was read from flash, once."""
    result = outlast.run(scenario)
    assert result.host.unmapped_reads == result.host.buffer_hits == 0
    assert result.reliability.exact.units_read == result.device.units
    return result


def more_than(strength: int, bits: int, rber: mpf) -> mpf:
    """P(more than so many of the bits are wrong), summed term by term."""
    if rber == 0:
        return mpf(0)
    term = mp.binomial(bits, strength + 1) * rber ** (strength + 1) * (1 - rber) ** (bits - strength - 1)
    total, k = mpf(0), strength + 1
    while k <= bits and (total == 0 or term > total * mpf(10) ** -40):
        total += term
        term *= mpf(bits - k) / (k + 1) * rber / (1 - rber)
        k += 1
    return total


def unit_fails(rber: mpf, *, bits: int, strength: int, codewords: int) -> mpf:
    """P(at least one codeword of a unit has more wrong bits than are corrected)."""
    return -mp.expm1(codewords * mp.log1p(-more_than(strength, bits, rber)))


def power_law(cycles: int, days: int) -> tuple[dict[str, Any], mpf]:
    """A power law without disturbance, and what it says at so many cycles and days."""
    terms = {
        "epsilon": 2e-4,
        "alpha": 1e-9,
        "beta": 4e-7,
        "gamma": 0.0,
        "k": 1.6,
        "m": 0.7,
        "n": 0.5,
        "p": 1.0,
        "q": 1.0,
    }
    c, t = mpf(cycles), mpf(days)
    rber = mpf(terms["epsilon"]) + mpf(terms["alpha"]) * c ** mpf(terms["k"])
    rber += mpf(terms["beta"]) * c ** mpf(terms["m"]) * t ** mpf(terms["n"])
    return {"form": "power-law", **terms}, rber


def same(measured: float, exact: mpf) -> None:
    """Compares within 1e-5: rates are good to 3e-7, which a code of strength t multiplies by t + 1; see `FailTable`."""
    assert float(mpf(measured) / exact) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(("cycles", "strength"), [(0, 8), (1000, 8), (3000, 12), (3000, 24), (0, 72), (0, 200)])
def test_a_unit_fails_as_the_binomial_says(cycles: int, strength: int) -> None:
    model, rber = power_law(cycles, 90)
    ecc = {"data_bits": 4096, "parity_bits": 13 * strength, "strength": strength}
    reliability = {"model": model, "ecc": ecc, "initial": {"pe_cycles": cycles, "age": "90d"}}
    exact = run(drive(reliability | {"rereads": {"scale_factor": 1.5, "max_retries": 2}})).reliability
    parts = {"bits": 4096 + 13 * strength, "strength": strength, "codewords": 8}
    first, last = unit_fails(rber, **parts), unit_fails(rber / mpf(1.5) ** 2, **parts)
    for step, probability in (("after_ecc", first), ("after_rereads", last), ("after_stripe", last)):
        tail = exact.exact[step]
        # Where no float can hold the rate, its logarithm still can.
        assert tail.log10_uber == pytest.approx(float(mp.log10(probability / 32768)), abs=5e-6)
        if probability > mpf(10) ** -300:
            same(tail.per_unit, probability)
            same(tail.uber, probability / 32768)
    assert exact.uber_exact == exact.exact.after_stripe.uber


def test_page_types_are_averaged() -> None:
    factors = [0.5, 1.0, 2.0]
    growth = math.log(9 / 4) / 2000
    model = {"form": "exponential", "a": 4e-4 * math.exp(-1000 * growth), "b": growth}
    reliability = {"model": model, "ecc": {"strength": 8}, "initial": {"pe_cycles": 2000}}
    result = run(drive(reliability | {"page_types": {"factors": factors}, "rereads": {"max_retries": 0}}))
    middle = mp.sqrt(mpf("4e-4") * mpf("9e-4"))
    mean = sum(map(mpf, factors)) / 3
    # 32 pages of a block: eleven of the first two types, ten of the last.
    each = [unit_fails(middle * mpf(f) / mean, bits=4096, strength=8, codewords=8) for f in factors]
    same(result.reliability.exact.after_ecc.per_unit, (11 * each[0] + 11 * each[1] + 10 * each[2]) / 32)


@pytest.mark.parametrize(("before", "rereads"), [(None, 1), (0, 2), (1, 3)])
def test_a_stripe_fails_with_any_of_its_others(before: int | None, rereads: int) -> None:
    model, rber = power_law(3000, 90)
    reliability: dict[str, Any] = {"model": model, "ecc": {"strength": 8}}
    reliability |= {"initial": {"pe_cycles": 3000, "age": "90d"}}
    reliability |= {"rereads": {"scale_factor": 1.2, "max_retries": rereads}}
    if before is not None:
        reliability["rereads_if_protected"] = before
    figures = run(drive(reliability, protection={"data": WIDTH - 1})).reliability
    parts = {"bits": 4096, "strength": 8, "codewords": 8}
    own = unit_fails(rber / mpf(1.2) ** rereads, **parts)
    other = unit_fails(rber / mpf(1.2) ** (rereads if before is None else before), **parts)
    same(figures.exact.after_rereads.per_unit, own)
    same(figures.exact.after_stripe.per_unit, own * (1 - (1 - other) ** (WIDTH - 1)))


def lines(protection: dict[str, int]) -> tuple[mpf, mpf]:
    """The error rate of a unit with that protection after everything, and of a unit by itself."""
    model, rber = power_law(3000, 90)
    reliability: dict[str, Any] = {
        "model": model,
        "ecc": {"strength": 24},
        "initial": {"pe_cycles": 3000, "age": "90d"},
    }
    reliability |= {"rereads": {"max_retries": 0}}
    scenario = drive(reliability, protection=protection)
    scenario["workload"]["synthetic"]["size"] = "4KiB"  # which divides every capacity
    figures = run(scenario).reliability
    own = unit_fails(rber, bits=4096, strength=24, codewords=8)
    same(figures.exact.after_rereads.per_unit, own)
    return mpf(figures.exact.after_stripe.per_unit), own


def test_a_stripe_with_two_parities_fails_with_two_of_its_others() -> None:
    measured, p = lines({"data": WIDTH - 2, "parity": 2})
    same(float(measured), p * (3 * p**2 * (1 - p) + p**3))


def test_a_block_with_parity_fails_with_any_other_of_its_pages() -> None:
    measured, p = lines({"data": WIDTH, "parity": 0, "block": 31})
    same(float(measured), p * (1 - (1 - p) ** 31))


def test_a_product_code_fails_with_a_rectangle() -> None:
    """One other of the stripe, one other row of the block, and where they meet: 3 times 31 rectangles."""
    measured, p = lines({"data": WIDTH - 1, "parity": 1, "block": 31})
    same(float(measured), p * 31 * 3 * p**3)


def plausible(count: int, trials: int, probability: float) -> None:
    """The count must not be rarer than one in 10^7 among binomial counts, on either side."""
    p, least = mpf(probability), mpf(10) ** -7
    at_most = 1 - more_than(count, trials, p)
    at_least = more_than(count - 1, trials, p) if count else mpf(1)
    assert min(at_most, at_least) > least, (count, trials * probability)


def rber_for(target: float, strength: int) -> float:
    """The error rate at which a codeword of 4096 bits fails with this probability."""
    low, high = 1e-9, 0.1
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if more_than(strength, 4096, mpf(middle)) < target else (low, middle)
    return high


@pytest.mark.parametrize("target", [1e-2, 1e-3, 1e-4, 1e-5])
def test_sampling_sees_the_exact_probability(target: float) -> None:
    # A unit of 512 bytes is one codeword, so that even one in 10^5 is seen among a million of them.
    model = {"form": "exponential", "a": rber_for(target, 8), "b": 0.0}
    rereads = {"scale_factor": 1.1, "max_retries": 1}
    blocks = 128 if target > 1e-4 else 1280
    reliability = {"model": model, "ecc": {"strength": 8}, "rereads": rereads}
    result = run(drive(reliability, unit="512B", blocks=blocks))
    figures, units = result.reliability, result.device.units
    first, last = figures.exact.after_ecc.per_unit, figures.exact.after_rereads.per_unit
    assert first == pytest.approx(target, rel=1e-5)
    assert 0.1 * first < last < 0.6 * first
    assert units * target >= 10
    by = figures.corrected_by
    assert by.ecc + by.reread + figures.uncorrectable_reads == units
    plausible(by.reread + figures.uncorrectable_reads, units, first)
    plausible(figures.uncorrectable_reads, units, last)
    assert figures.rereads_per_read > 0
    # A request fails if any of its 64 units does.
    assert figures.uncorrectable_reads / 64 <= figures.medium_errors <= figures.uncorrectable_reads
    assert result.host.errors == figures.medium_errors


def test_sampling_sees_what_stripes_lose() -> None:
    model = {"form": "exponential", "a": rber_for(0.05, 8), "b": 0.0}
    reliability = {"model": model, "ecc": {"strength": 8}, "rereads": {"max_retries": 0}}
    result = run(drive(reliability, unit="512B", blocks=128, protection={"data": WIDTH - 1}))
    figures = result.reliability
    p = figures.exact.after_rereads.per_unit
    assert figures.exact.after_stripe.per_unit == pytest.approx(p * (1 - (1 - p) ** 3), rel=1e-5)
    # Three data units and one of parity share a stripe; whoever fails is lost if another fails, too.
    mean = square = 0.0
    for failed in itertools.product((0, 1), repeat=WIDTH):
        weight = math.prod(p if each else 1 - p for each in failed)
        lost = sum(failed[1:]) if sum(failed) > 1 else 0
        mean, square = mean + weight * lost, square + weight * lost**2
    stripes = result.device.units / (WIDTH - 1)
    assert mean / (WIDTH - 1) == pytest.approx(figures.exact.after_stripe.per_unit, rel=1e-4)
    spread = math.sqrt(stripes * (square - mean**2))
    assert abs(figures.uncorrectable_reads - stripes * mean) < 5 * spread
    assert figures.uncorrectable_reads == figures.stripe_recovery.failures
    assert figures.corrected_by.stripe == figures.stripe_recovery.attempts - figures.stripe_recovery.failures


@pytest.mark.parametrize("unit", ["512B", "4KiB"])
def test_wrong_bits_are_binomial(unit: str) -> None:
    rber = 3e-3
    model = {"form": "exponential", "a": rber, "b": 0.0}
    reliability = {"model": model, "ecc": {"parity_bits": 104}}
    result = run(drive(reliability, unit=unit, blocks=4096 if unit == "4KiB" else 512))
    seen = np.asarray(result.tables["errors"]["codewords"], dtype=float)
    total = seen.sum()
    # One unit in 256 gives a codeword.
    assert total == pytest.approx(result.device.units / 256, rel=0.2)
    pmf = [mp.binomial(4200, k) * mpf(rber) ** k * (1 - mpf(rber)) ** (4200 - k) for k in range(60)]
    expected = total * np.array([float(each) for each in pmf])
    kept = np.flatnonzero(expected >= 5)
    low, high = kept[0], kept[-1]
    seen = np.pad(seen, (0, max(0, 60 - len(seen))))
    # What is too rare by itself is counted with its neighbour.
    cells = np.array([seen[: low + 1].sum(), *seen[low + 1 : high], seen[high:].sum()])
    means = np.array([expected[: low + 1].sum(), *expected[low + 1 : high], 0.0])
    means[-1] = total - means.sum()
    chi_square = float(((cells - means) ** 2 / means).sum())
    beyond = mp.gammainc((len(cells) - 1) / mpf(2), chi_square / 2, regularized=True)
    assert len(cells) > 15
    assert 1e-6 < beyond < 1 - mpf(10) ** -6, (chi_square, len(cells))
