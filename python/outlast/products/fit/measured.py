"""Contents of a measured.toml: the drive, what is known of it, and where rows come from."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from outlast import foreign
from outlast.inputs import is_stream, read_stream
from outlast.products.fit import fio, table
from outlast.products.fit.known import check_known
from outlast.products.fit.rows import Figure, MeasuredError, Noise, Row, check_worn_in

KEYS = ("name", "capacity", "csv", "fio", "row", "sheet", "known", "noise", "waf")
SHEET = {
    "read": ("read", 131072, 32, "mb_s"),
    "write": ("write", 131072, 32, "mb_s"),
    "random_read": ("randread", 4096, 256, "iops"),
    "random_write": ("randwrite", 4096, 128, "iops"),
    "read_latency": ("randread", 4096, 1, "p50"),
    "write_latency": ("randwrite", 4096, 1, "p50"),
}
"""Figures of data sheets, and the load that each is taken to be of."""
ROUNDED = 0.01
"""Data sheets have two or three digits."""
MARGIN = 0.1
"""Factor by which drives do better than their data sheet on average, where the file says nothing: four measured drives
write 4 to 13 % more at random than was promised, 9 % in the mean."""


@dataclass(frozen=True)
class Measured:
    """A drive as it was measured."""

    source: str
    name: str
    capacity: float
    """Bytes that the host sees."""
    rows: list[Row]
    known: dict[str, Any] = field(default_factory=dict)
    """Settings by dotted name that are known, and therefore not fitted."""
    noise: Noise = field(default_factory=Noise)

    def only(self, rows: list[Row]) -> Measured:
        """The same drive, of which less was measured."""
        return Measured(self.source, self.name, self.capacity, rows, self.known, self.noise)


def read(path: str | Path) -> Measured:
    """Reads a measured.toml and every file that it names; relative names count from its folder."""
    if is_stream(path):
        text = read_stream(path)
        return of_text(text.name, text.content, Path.cwd())
    file = Path(path)
    return of_text(str(file), _content(file), file.parent)


def _content(file: Path) -> str:
    try:
        return foreign.text_of(file)
    except OSError as error:
        raise MeasuredError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise MeasuredError(f"{file}: {error}") from error


def of_text(source: str, text: str, folder: Path) -> Measured:
    """Reads the text of a measured.toml."""
    try:
        said = foreign.toml_of(text)
    except ValueError as error:
        raise MeasuredError(f"{source}: {error}") from error
    for key in said:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(KEYS)}"
            raise MeasuredError(f"{source}: {key}: unknown; {hint}")
    capacity = _size(source, "capacity", said.get("capacity"))
    noise = _noise(source, said.get("noise", {}))
    known = _dotted_settings(source, said)
    rows = _rows(source, said, folder, capacity, noise)
    if not rows:
        raise MeasuredError(f"{source}: nothing was measured: give csv, fio, [[row]] or [sheet]")
    sequential = [row.figures["iops"].value * row.load.block for row in rows
                  if row.load.workload == "write" and "iops" in row.figures and row.load.burst is None]  # fmt: skip
    for row in rows:
        if row.load.user_bytes is not None and row.load.user_bytes > 1.001 * capacity:
            raise MeasuredError(
                f"{row.place}: user_bytes = {row.load.user_bytes:.4g}: more than the drive's {capacity:.4g}"
            )
        check_worn_in(row, capacity, max(sequential, default=None))
    return Measured(source, str(said.get("name", Path(source).stem)), capacity, rows, known, noise)


def _rows(source: str, said: Mapping[str, Any], folder: Path, capacity: float, noise: Noise) -> list[Row]:
    rows: list[Row] = []
    for file in _names(source, said, "csv", folder):
        rows += table.from_csv(str(file), _content(file), noise)
    counted = _table(source, "waf", said.get("waf", {}))
    jobs: set[str] = set()
    for file in _names(source, said, "fio", folder):
        own = fio.from_report(file, capacity, noise, counted)
        jobs |= {row.place.removeprefix(f"{file}, job ") for row in own}
        rows += own
    for name, value in counted.items():
        if name not in jobs:
            there = f"there are {', '.join(sorted(jobs))}" if jobs else "fio names no report"
            raise MeasuredError(f"{source}: waf.{name} = {value}: no job that measures has this name; {there}")
    listed = said.get("row", [])
    if not isinstance(listed, list):
        raise MeasuredError(f"{source}: row = {listed!r}: must be a list of tables, [[row]]")
    for number, each in enumerate(listed, 1):
        rows.append(table.from_fields(f"{source}, row {number}", _table(source, f"row {number}", each), noise))
    return rows + _sheet(source, _table(source, "sheet", said.get("sheet", {})))


def _sheet(source: str, said: Mapping[str, Any]) -> list[Row]:
    """Rows of what a data sheet promises: a bound, that the drive betters by anything up to twice the margin."""
    margin = said.get("margin", MARGIN)
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 <= margin <= 1:
        raise MeasuredError(f"{source}: sheet.margin = {margin}: must be between 0 and 1 (0.1 is 10 %)")
    rows = []
    for name, value in said.items():
        if name == "margin":
            continue
        if name not in SHEET:
            raise MeasuredError(f"{source}: sheet.{name}: unknown; there are {', '.join((*SHEET, 'margin'))}")
        workload, block, depth, column = SHEET[name]
        told = {"workload": workload, "block": str(block), "depth": depth, column: value, "steady": "true"}
        row = table.from_fields(f"{source}, sheet.{name}", told, Noise())
        better = 1 / (1 + margin) if name.endswith("latency") else 1 + margin
        # Of anything between none and twice the margin, all alike, the standard deviation is the margin over √3.
        sigma = max(ROUNDED, margin / math.sqrt(3))
        figures = {key: Figure(own.value * better, sigma) for key, own in row.figures.items()}
        rows.append(replace(row, figures=figures, margin=float(margin)))
    return rows


def _names(source: str, said: Mapping[str, Any], key: str, folder: Path) -> list[Path]:
    """Files under a key: a name, a pattern, or a list of these."""
    value = said.get(key, [])
    found: list[Path] = []
    for pattern in value if isinstance(value, list) else [value]:
        if not isinstance(pattern, str):
            raise MeasuredError(f"{source}: {key} = {pattern!r}: must be the name of a file, or a list of names")
        # Of an absolute pattern the folder does not matter.
        whole = folder / pattern
        names = sorted(whole.parent.glob(whole.name)) if any(char in whole.name for char in "*?[") else [whole]
        if not names:
            raise MeasuredError(f"{source}: {key} = {pattern}: there is no such file")
        found += names
    return found


def _table(source: str, key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MeasuredError(f"{source}: {key} = {value!r}: must be a table")
    return value


def _size(source: str, key: str, value: Any) -> float:
    if value is None:
        raise MeasuredError(f'{source}: {key}: missing; say how much the host sees, such as capacity = "800GB"')
    bytes_ = table.from_size(f"{source}: {key}", value)
    if not 1 << 24 <= bytes_ <= 1 << 60:
        raise MeasuredError(f"{source}: {key} = {value}: must be between 16 MiB and 1 EiB")
    return bytes_


def _noise(source: str, said: Any) -> Noise:
    known = [each.name for each in fields(Noise)]
    for name, value in _table(source, "noise", said).items():
        if name not in known:
            raise MeasuredError(f"{source}: noise.{name}: unknown; there are {', '.join(known)}")
        if not isinstance(value, (int, float)) or not 1e-5 <= value <= 1:
            raise MeasuredError(f"{source}: noise.{name} = {value}: must be between 0.00001 and 1 (0.01 is 1 %)")
    return Noise(**said)


def _dotted_settings(source: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted name; tables in tables become such names."""

    def flat(prefix: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or prefix.endswith("host_latency"):
            return {prefix: value}
        return {name: item for key, inner in value.items() for name, item in flat(f"{prefix}.{key}", inner).items()}

    found: dict[str, Any] = {}
    for key, value in _table(source, "known", said.get("known", {})).items():
        found |= flat(key, value)
    for name in found:
        if not name.startswith("device."):
            raise MeasuredError(
                f'{source}: known."{name}": must be a setting of the drive, such as "device.geometry.channels"'
            )
        check_known(f'{source}: known."{name}"', name, found[name])
    return found
