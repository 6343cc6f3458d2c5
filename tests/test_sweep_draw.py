"""Do draws, grids, confidence intervals and fronts of a sweep follow their definitions?"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.sweeps import draw, statistics
from outlast.sweeps.reading import read
from outlast.sweeps.spec import Axis


def points(said: dict[str, Any]) -> list[tuple[Any, ...]]:
    return draw.points(read({"scenario": "demo"} | said))


@given(count=st.integers(1, 300), seed=st.integers(0, 2**53 - 1), name=st.text(max_size=20))
def test_a_latin_hypercube_has_one_point_in_each_stratum(count: int, seed: int, name: str) -> None:
    shares = draw.latin(count, seed, name)
    assert sorted(int(share * count) for share in shares) == list(range(count))
    assert all(0 <= share < 1 for share in shares)


def test_axes_of_a_latin_hypercube_are_not_in_step() -> None:
    one, other = draw.latin(1000, 7, "a"), draw.latin(1000, 7, "b")
    # Without a relation the correlation has a standard deviation of 1/sqrt(n - 1): five of these.
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(999)


def test_another_axis_leaves_the_draws_of_the_others() -> None:
    one = {"setting": "a", "from": 0, "to": 1}
    other = {"setting": "b", "values": ["x", "y", "z"]}
    for method in ("random", "latin-hypercube"):
        alone = points({"method": method, "points": 20, "vary": [one]})
        both = points({"method": method, "points": 20, "vary": [other, one]})
        assert [place[0] for place in alone] == [place[1] for place in both]
        assert alone != points({"method": method, "points": 20, "seed": 2, "vary": [one]})


def test_draws_stay_what_they_are() -> None:
    # Computed once; another Python or another machine must not move points, or kept runs would not be found again.
    made = points({"method": "latin-hypercube", "points": 3, "vary": [{"setting": "a", "from": 0, "to": 1}]})
    assert made == [(0.903317026152,), (0.448037499143,), (0.143262795822,)]


def test_random_points_fill_their_range_evenly() -> None:
    made = [place[0] for place in points({"method": "random", "points": 4000, "vary": [span(whole=True, to=9)]})]
    counts = [made.count(value) for value in range(10)]
    assert sum(counts) == 4000
    # Binomial(4000, 1/10): five standard deviations of 19.
    assert all(abs(count - 400) < 95 for count in counts), counts


def span(**more: Any) -> dict[str, Any]:
    return {"setting": "a", "from": 0, "to": 1} | more


@given(st.floats(1e-3, 1e6), st.floats(1.01, 1e6), st.integers(1, 50), st.sampled_from(["linear", "log"]))
def test_drawn_values_lie_on_their_range(start: float, factor: float, count: int, scale: str) -> None:
    axis = Axis("a", start=start, stop=start * factor, scale=scale)
    low, high = start * (1 - 1e-11), start * factor * (1 + 1e-11)  # values are rounded to twelve digits
    values = draw.drawn(axis, draw.latin(count, 1, "a"))
    assert all(low <= value <= high for value in values)
    if scale == "log":
        strata = [int(math.log(value / start) / math.log(factor) * count * (1 - 1e-9)) for value in sorted(values)]
        assert all(abs(stratum - index) <= 1 for index, stratum in enumerate(strata))


def test_grids_and_lists() -> None:
    axes = [span(steps=3, to=100, unit="us"), {"setting": "b", "values": [True, {"x": 1}]}]
    assert points({"vary": axes}) == list(itertools.product(["0us", "50us", "100us"], [True, {"x": 1}]))
    assert points({"method": "list", "vary": [span(steps=2), axes[1]]}) == [(0, True), (1, {"x": 1})]
    logarithmic = span(**{"from": 1, "to": 1000, "steps": 4, "scale": "log", "whole": True})
    assert points({"vary": [logarithmic]}) == [(1,), (10,), (100,), (1000,)]
    # Steps that fall on the same whole number are one point.
    assert points({"vary": [span(to=2, steps=9, whole=True)]}) == [(0,), (1,), (2,)]


@given(st.floats(0.01, 0.9999), st.integers(1, 400))
@settings(max_examples=60)
def test_student_s_quantile_is_that_of_its_density(confidence: float, freedom: int) -> None:
    t = statistics.student_quantile(confidence, freedom)
    # The incomplete beta function is steep where t is small: with fifteen digits the reference itself is off by 1e-12.
    with mpmath.workdps(40):
        nu = mpmath.mpf(freedom)
        inside = 1 - mpmath.betainc(nu / 2, 0.5, 0, nu / (nu + mpmath.mpf(t) ** 2), regularized=True)
        assert abs(inside - confidence) < 1e-12


def test_student_s_quantile_is_that_of_tables() -> None:
    for freedom, quantile in ((1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (120, 1.980)):
        assert round(statistics.student_quantile(0.95, freedom), 3) == quantile


def test_intervals_cover_as_often_as_they_say() -> None:
    source = np.random.default_rng(11)
    covered = sum(
        abs(own.mean) <= own.half
        for sample in source.normal(size=(4000, 4)).tolist()
        if (own := statistics.mean_of(sample, 0.9)).mean is not None and own.half is not None
    )
    # Binomial(4000, 0.9): five standard deviations of 19.
    assert abs(covered - 3600) < 95


def test_one_repeat_has_no_interval() -> None:
    assert statistics.mean_of([3.5], 0.95) == statistics.Mean(1, 3.5, None, None)
    assert statistics.mean_of([0.1, 0.1, 0.1], 0.95) == statistics.Mean(3, 0.1, 0.0, 0.0)
    assert statistics.mean_of([], 0.95) == statistics.Mean(0, None, None, None)


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=40))
def test_the_front_is_what_nothing_dominates(rows: list[tuple[int, int, int]]) -> None:
    chosen = statistics.front(np.array(rows, dtype=np.float64))

    def beats(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    assert chosen == [i for i, row in enumerate(rows) if not any(beats(other, row) for other in rows)]
    # Whatever is beaten is beaten by one of the front.
    assert all(i in chosen or any(beats(rows[best], row) for best in chosen) for i, row in enumerate(rows))
