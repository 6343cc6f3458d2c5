"""Are figures shown as people read them, and do joined windows still add up?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.compare import change, flatten
from outlast.report import numbers
from sample import sample_result


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0, "0"), (7, "7"), (2.5, "2.50"), (9999, "9\u202f999"), (12345, "12.3 k"), (1234567, "1.23 M")],
)
def test_short(value: float | None, shown: str) -> None:
    assert numbers.short(value) == shown


@pytest.mark.parametrize(
    ("microseconds", "shown"), [(0.5, "0.500 µs"), (90.0, "90.0 µs"), (1500.0, "1.50 ms"), (2.5e6, "2.50 s")]
)
def test_micros(microseconds: float, shown: str) -> None:
    assert numbers.micros(microseconds) == shown


@pytest.mark.parametrize(("count", "shown"), [(512, "512 B"), (4096, "4 KiB"), (3 * 2**29, "1.50 GiB")])
def test_size(count: int, shown: str) -> None:
    assert numbers.size(count) == shown


@pytest.mark.parametrize(
    ("value", "log10", "shown"),
    [
        (None, None, "–"),
        (0.0, None, "0"),
        (0.25, None, "0.250"),
        (2.5e-17, None, "2.50 · 10⁻¹⁷"),
        (0.0, -352.8, "1.58 · 10⁻³⁵³"),
        (9.999e-7, None, "1.00 · 10⁻⁶"),
    ],
)
def test_tiny(value: float | None, log10: float | None, shown: str) -> None:
    assert numbers.tiny(value, log10) == shown


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_is_shown_somehow(value: float) -> None:
    for show in (numbers.short, numbers.micros, numbers.seconds, numbers.size, numbers.tiny):
        assert show(value)


@given(st.lists(st.floats()))
def test_plain_values_are_json(values: list[float]) -> None:
    for value in numbers.plain(np.asarray(values)):
        assert value is None or math.isfinite(value)


@given(st.integers(1, 700), st.integers(1, 200))
def test_joined_windows_add_up(windows: int, most: int) -> None:
    series = dict(sample_result(windows=windows).tables["timeseries"])
    joined = numbers.thinned(series, most)
    assert len(joined["start_s"]) <= max(most, 1)
    assert joined["start_s"][0] == series["start_s"][0]
    assert joined["end_s"][-1] == series["end_s"][-1]
    for name in ("reads", "writes", "gc_units", "write_mib"):
        assert joined[name].sum() == pytest.approx(numbers.floats(series[name]).sum())
    assert joined["read_max_us"].max() == numbers.floats(series["read_max_us"]).max()
    assert joined["in_flight_mean"].min() >= numbers.floats(series["in_flight_mean"]).min() - 1e-9


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=4))
def test_flattening_never_fails_and_leaves_no_tables(value: dict[str, object]) -> None:
    assert not any(isinstance(leaf, dict) for leaf in flatten(value).values())


def test_relative_change() -> None:
    assert change(2.0, 3.0) == 0.5
    assert change(0, 3.0) is None
    assert change(None, 3.0) is None
    assert change(True, False) is None
