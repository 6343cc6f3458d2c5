"""Are figures shown as people read them, and do joined windows still add up?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast import _core
from outlast.differences import change, flatten
from outlast.report import numbers


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


def _by_hand(name: str, rows: list[dict[str, float]]) -> float:
    """Value of several windows merged into one, in plain arithmetic from the column's meaning."""
    known = [row for row in rows if math.isfinite(row[name])]
    if name == "start_s":
        return rows[0][name]
    if name in ("end_s", "free_superblocks") or name.startswith("rber_"):
        return rows[-1][name]
    if name == "write_amplification":
        host = sum(row["host_write_bytes"] for row in rows)
        return sum(row["programmed_bytes"] for row in rows) / host if host else math.nan
    if name.endswith(("_p99_us", "_max_us")):
        return max((row[name] for row in known), default=math.nan)
    if name in ("iops", "in_flight_mean") or name.endswith(("_mean_us", "_p50_us")):
        op = name.split("_")[0] + "s"
        weights = [row[op] if op in row else row["end_s"] - row["start_s"] for row in known]
        products = [row[name] * weight for row, weight in zip(known, weights, strict=True)]
        return sum(products) / sum(weights) if sum(weights) else math.nan
    return sum(row[name] for row in rows)  # everything else is a count


@given(st.integers(1, 90), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_joined_windows_are_what_one_window_would_have_shown(windows: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [name for name, _, _ in _core.time_series_columns()]
    ends = np.cumsum(rng.uniform(0.1, 2.0, windows))
    series = {name: rng.integers(0, 9, windows).astype(float) for name in names}
    series |= {"start_s": np.concatenate([[0.0], ends[:-1]]), "end_s": ends}
    for op in ("read", "write"):
        for key in ("mean", "p50", "p99", "max"):
            series[f"{op}_{key}_us"] = np.where(series[f"{op}s"] > 0, rng.uniform(1, 500, windows), math.nan)
    joined = numbers.thinned(series, most)
    assert list(joined) == names
    group = -(-windows // most)
    rows = [{name: float(series[name][row]) for name in names} for row in range(windows)]
    groups = [rows[first : first + group] for first in range(0, windows, group)]

    def length(part: list[dict[str, float]]) -> float:
        return part[-1]["end_s"] - part[0]["start_s"]

    # What is left at the end and is less than half as long as what comes before is no window of its own.
    if len(groups) > 1 and length(groups[-1]) < 0.5 * length(groups[-2]):
        rest = groups.pop()
        groups[-1] += rest
    if len(groups) == windows:
        assert all(np.array_equal(joined[name], series[name], equal_nan=True) for name in names)
        return
    assert len(joined["start_s"]) == len(groups)
    for place, part in enumerate(groups):
        for name in names:
            expected = _by_hand(name, part)
            assert joined[name][place] == pytest.approx(expected, nan_ok=True), name


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
