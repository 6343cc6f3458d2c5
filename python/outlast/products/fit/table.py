"""Rows out of CSV: columns by name, units in the name or behind the number, messages by line."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any

from outlast.foreign import cells_of
from outlast.products.fit.rows import (
    PERCENTILE,
    WORKLOADS,
    Figure,
    Load,
    MeasuredError,
    Noise,
    Row,
    Skew,
    latency_sigmas,
    name_of,
)

ALIASES = {
    "uniform": ("randwrite", "uniform"),
    "two-zone": ("randwrite", "two-zone"),
    "zipf": ("randwrite", "zipf"),
    "sequential": ("write", "uniform"),
}
"""Workloads that are named after where writes go."""
SIZES = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40} | {
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30
}  # fmt: skip
TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1e-6}
RATES = {
    "mib_s": float(1 << 20),
    "mb_s": 1e6,
    "mib/s": float(1 << 20),
    "mb/s": 1e6,
    "gb/s": 1e9,
    "gib/s": float(1 << 30),
}
COUNTS = {"": 1.0, "k": 1e3}
MOST_WAF = 1000
"""Write amplification at most; drives with hardly any spare space have some tens."""
_QUANTITY = re.compile(r"([-+]?[\d_]*\.?\d+(?:[eE][-+]?\d+)?)\s*([A-Za-zµ/%]*)")
_LATENCY = re.compile(r"(?:(read|write|r|w)_?)?(p\d{1,2}(?:[._]\d+)?|mean|avg)(?:_(ns|us|ms|s))?")
PLAIN = (
    "workload", "parameter", "skew", "block", "depth", "rate", "read_percent", "user_bytes", "user_gib", "user_gb",
    "burst", "iops", "mib_s", "mb_s", "waf", "count", "drive_writes", "steady", "use",
)  # fmt: skip


def from_csv(name: str, text: str, noise: Noise) -> list[Row]:
    """The rows of a CSV file with a header. Empty fields are not known; `#` begins a remark of a line."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    if not lines:
        raise MeasuredError(f"{name}: nothing in it; the first line names the columns")
    header = _cells(f"{name}, line {lines[0][0]}", lines[0][1])
    for column in header:
        _check_column(column, f"{name}, line {lines[0][0]}")
        if header.count(column) > 1:
            raise MeasuredError(f"{name}, line {lines[0][0]}: {column}: the header has it {header.count(column)} times")
    rows = []
    for number, line in lines[1:]:
        place = f"{name}, line {number}"
        cells = _cells(place, line)
        if len(cells) != len(header):
            raise MeasuredError(f"{place}: {len(cells)} fields, the header has {len(header)}")
        rows.append(from_fields(place, dict(zip(header, cells, strict=True)), noise))
    return rows


def _cells(place: str, line: str) -> list[str]:
    try:
        return cells_of(line)
    except ValueError as error:
        raise MeasuredError(f"{place}: {error}") from error


def _check_column(column: str, place: str) -> None:
    if column in PLAIN or _LATENCY.fullmatch(column):
        return
    stem, _, unit = column.rpartition("_")
    if _LATENCY.fullmatch(stem):
        raise MeasuredError(f'{place}: {column}: unknown unit "{unit}"; there are ns, us, ms and s')
    near = difflib.get_close_matches(column, PLAIN, n=1, cutoff=0.6)
    hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(PLAIN)}, and p50_us, read_p99_ms, mean_us"
    raise MeasuredError(f"{place}: {column}: unknown column; {hint}")


def from_fields(place: str, said: Mapping[str, Any], noise: Noise) -> Row:
    """The row that fields of a CSV line, or of a table in TOML, say."""
    fields = _Fields(place, {name: value for name, value in said.items() if value != ""})
    for column in fields.said:
        _check_column(column, place)
    load = _load(fields)
    figures: dict[str, Figure] = {}
    rate = fields.number("iops", COUNTS)
    for column in ("mib_s", "mb_s"):
        moved = fields.number(column, {"": RATES[column]} | RATES)
        if moved is not None:
            rate = moved / load.block
    if rate is not None:
        figures["iops"] = Figure(rate, noise.iops)
    waf = fields.number("waf", COUNTS)
    if waf is not None:
        if not 1 <= waf <= MOST_WAF:
            raise MeasuredError(f"{place}: waf = {waf:g}: must be at least 1, and at most {MOST_WAF}")
        rounding = fields.rounding("waf") / waf
        figures["waf"] = Figure(waf, math.hypot(noise.waf, rounding))
    figures |= _latencies(fields, load, rate, noise)
    if not figures:
        raise MeasuredError(f"{place}: nothing was measured: give iops, mib_s, waf, or a latency such as p50_us")
    needs_median = load.depth == 1 and load.rate is None and load.burst is None and "waf" not in figures
    if needs_median and not any(name.endswith(("p50", "mean")) for name in figures) and load.block <= 1 << 14:
        raise MeasuredError(f"{place}: no p50: a load of depth 1 is measured for its latency")
    steady, use = fields.truth("steady", default=False), fields.truth("use", default=True)
    return Row(place, load, figures, fields.number("drive_writes", COUNTS), steady, use)


def _load(fields: _Fields) -> Load:
    workload = fields.text("workload")
    if workload is None:
        raise MeasuredError(f"{fields.place}: no workload; there are {', '.join((*WORKLOADS, *ALIASES))}")
    name, *more = workload.split()
    if name not in WORKLOADS and name not in ALIASES:
        near = difflib.get_close_matches(name, (*WORKLOADS, *ALIASES), n=1, cutoff=0.6)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join((*WORKLOADS, *ALIASES))}"
        raise MeasuredError(f"{fields.place}: workload = {workload}: unknown; {hint}")
    workload, kind = ALIASES.get(name, (name, "uniform"))
    sequential = workload in ("read", "write")
    block = (
        fields.number("block", SIZES)
        or (_size_in(fields.place, more) if more else None)
        or (131072 if sequential else 4096)
    )
    user = fields.number("user_bytes", SIZES)
    for column, scale in (("user_gib", 1 << 30), ("user_gb", 10**9)):
        given = fields.number(column, COUNTS)
        user = given * scale if given is not None else user
    depth, rate = fields.number("depth", COUNTS), fields.number("rate", COUNTS)
    usual = 0 if rate is not None else 512 if kind != "uniform" or name == "uniform" else 32
    burst = fields.number("burst", SIZES)
    return Load(
        workload=workload,
        block=round(block),
        depth=round(depth) if depth is not None else usual,
        rate=rate,
        read_percent=_read_percent(fields, workload),
        user_bytes=user,
        burst=round(burst) if burst is not None else None,
        skew=_skew(fields, kind),
    )


def _size_in(place: str, words: list[str]) -> float | None:
    found = _QUANTITY.fullmatch(words[0])
    return quantity(f"{place}: workload", words[0], SIZES) if found and found[2].lower() in SIZES else None


def _read_percent(fields: _Fields, workload: str) -> float:
    said = fields.number("read_percent", COUNTS | {"%": 1.0})
    if workload == "randrw":
        if said is None or not 0 < said < 100:
            raise MeasuredError(f"{fields.place}: read_percent: randrw needs one between 0 and 100")
        return said
    return 100.0 if workload in ("randread", "read") else 0.0


def _skew(fields: _Fields, kind: str) -> Skew:
    said = (fields.text("skew") or "").split()
    if said:
        kind = said[0]
    parameter = fields.number("parameter", COUNTS)
    if len(said) > 1:
        parameter = quantity(f"{fields.place}: skew", said[1], COUNTS)
    if kind not in ("uniform", "two-zone", "zipf"):
        raise MeasuredError(f"{fields.place}: skew = {kind}: unknown; there are uniform, two-zone and zipf")
    if kind == "uniform":
        return Skew()
    most = 1.0 if kind == "two-zone" else 10.0
    if parameter is None or not 0 < parameter < most:
        raise MeasuredError(f"{fields.place}: parameter: {kind} needs one above 0 and below {most:g}")
    return Skew(kind, parameter)


def _latencies(fields: _Fields, load: Load, rate: float | None, noise: Noise) -> dict[str, Figure]:
    sides: dict[str, dict[float, float]] = {"read": {}, "write": {}}
    figures: dict[str, Figure] = {}
    only = {100.0: "read", 0.0: "write"}.get(load.read_percent)
    for column in fields.said:
        found = _LATENCY.fullmatch(column)
        if found is None:
            continue
        side = {"r": "read", "w": "write", None: only}.get(found[1], found[1])
        if side is None:
            raise MeasuredError(
                f"{fields.place}: {column}: of reads or of writes? Name it read_{column} or write_{column}"
            )
        unit = found[3] or ""
        value = fields.number(column, TIMES | {"": TIMES[unit]})
        if value is None:
            continue
        if found[2] in ("mean", "avg"):
            figures[f"{side}_mean"] = Figure(value, noise.latency)
        else:
            percent = PERCENTILE.fullmatch(found[2])
            assert percent is not None
            sides[side][float(percent[1].replace("_", "."))] = value
    count = fields.number("count", COUNTS) or (60 * rate if rate is not None else None)
    for side, own in sides.items():
        ordered = [own[percent] for percent in sorted(own)]
        if ordered != sorted(ordered):
            raise MeasuredError(f"{fields.place}: percentiles of {side}s fall; were columns or units mixed up?")
        for each, sigma in latency_sigmas(own, count, noise).items():
            figures[f"{side}_{name_of(each)}"] = Figure(own[each], sigma)
    return figures


class _Fields:
    """Fields of a line, read with messages that name the line."""

    def __init__(self, place: str, said: Mapping[str, Any]) -> None:
        self.place, self.said = place, said

    def text(self, name: str) -> str | None:
        value = self.said.get(name)
        return None if value is None else str(value)

    def truth(self, name: str, *, default: bool) -> bool:
        said = str(self.said.get(name, default)).lower()
        if said not in ("true", "false", "yes", "no"):
            raise MeasuredError(f"{self.place}: {name} = {said}: must be true or false")
        return said in ("true", "yes")

    def number(self, name: str, units: Mapping[str, float]) -> float | None:
        """The number times its unit; what is not one, or not above 0, is refused."""
        value = self.said.get(name)
        if value is None:
            return None
        found = _QUANTITY.fullmatch(str(value).strip())
        if found is None or isinstance(value, bool):
            raise MeasuredError(f"{self.place}: {name} = {value}: not a number")
        unit = found[2] if found[2] in units else found[2].lower()
        if unit not in units:
            known = ", ".join(sorted(each for each in units if each))
            raise MeasuredError(f'{self.place}: {name} = {value}: unknown unit "{found[2]}"; there are {known}')
        number = float(found[1].replace("_", "")) * units[unit]
        if not (math.isfinite(number) and number > 0):
            raise MeasuredError(f"{self.place}: {name} = {value}: must be above 0")
        return number

    def rounding(self, name: str) -> float:
        """The standard deviation that comes of writing the number with so many digits."""
        text = str(self.said[name])
        digits = len(text.partition(".")[2]) if "." in text else 0
        return float(10.0**-digits / math.sqrt(12)) if digits < 6 else 0.0


def from_size(place: str, value: Any) -> float:
    """A number of bytes, such as "800GB"."""
    return quantity(place, value, SIZES)


def quantity(place: str, value: Any, units: Mapping[str, float]) -> float:
    """A number with its unit, above 0. `place` ends with the name of the field."""
    where, _, name = place.rpartition(": ")
    found = _Fields(where, {name: value}).number(name, units)
    assert found is not None
    return found
