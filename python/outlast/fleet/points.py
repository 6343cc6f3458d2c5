"""Sweeps over fleet files: one study for each combination of settings, each kept as soon as it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import foreign, tables
from outlast.errors import OutputError, ScenarioError
from outlast.fleet.keys import TABLES, TOP
from outlast.fleet.reading import FleetLike, Settings, read, with_changes, without_effect
from outlast.fleet.study import SCHEMA, study
from outlast.inputs import is_folder
from outlast.plain_values import place_of, shown
from outlast.printable import printable

if TYPE_CHECKING:
    import polars as pl

MOST_POINTS = 10_000
ABSENT = ("object_nines_a_year", "cost_a_year", "cost_per_user_tb_year")
"""Columns of numbers that rows may lack."""
READ = {"result": ("result.json",), "sweep": ("sweep.json", "sweep.parquet")}
"""Files that are read of the folder that a setting names."""


def sweep(
    fleet: FleetLike | Settings,
    vary: Mapping[str, Sequence[Any]],
    out: str | Path | None = None,
    tell: Callable[[str, int], None] | None = None,
    *,
    on: str = "",
) -> list[dict[str, Any]]:
    """Studies of a fleet at every combination of values by setting, such as `{"code.parity": [2, 3]}`.

    The last setting changes fastest.
    Each result is what `study()` returns, with `point`: the values by setting. With `out`, a folder, each is written to
    `points/` as soon as it is done and not made again where the same settings are there from the same version; all of
    them become a row each of `fleet.parquet`. `tell` gets `point` and its number, then what `study()` tells; it may
    raise. Raises `ScenarioError` for settings that are wrong, of all points before the first is made.
    """
    settings = fleet if isinstance(fleet, Settings) else read(fleet)
    points = list(product(*vary.values()))
    if not 1 <= len(points) <= MOST_POINTS:
        raise ScenarioError(f"{settings.source}: {len(points)} points: must be 1 to {MOST_POINTS}")
    changes = [tuple(f"{name}={json.dumps(value)}" for name, value in zip(vary, each, strict=True)) for each in points]
    wholes = [with_changes(settings, each, idle=True) for each in changes]
    for name in vary:
        idle = [without_effect(whole.tables, name) for whole in wholes]
        if all(idle):
            raise ScenarioError(f"{settings.source}: {name}: {idle[0]}, in no point of the sweep")
    results = []
    for number, (values, whole) in enumerate(zip(points, wholes, strict=True)):
        if tell is not None:
            tell("point", number)
        point = dict(zip(vary, values, strict=True))
        # Named before the study: files that change meanwhile are other files to the next command.
        place = None if out is None else _place(out, whole)
        result = _kept(place)
        if result is None:
            result = study(whole, tell, on=on) | {"point": point}
            if place is not None:
                _keep(place, result)
        results.append(result | {"point": point})
    if out is not None:
        from outlast.output import write_file

        write_file(place_of(out) / "fleet.parquet", packed(results))
    return results


def columns(results: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Results as columns by name, a row for each and each of its years: settings of the point, then figures."""
    rows = [
        {
            **{name: _typed(name, value) for name, value in result.get("point", {}).items()},
            "name": result["name"],
            "year": year["year"],
            **{
                f"{what}.{end}": float(year[what][end])
                for what in ("group", "groups_lost", "fleet")
                for end in ("mean", "low", "high")
            },
            "fleet.kind": year["fleet"]["kind"],
            "engine": result["engine"]["losses"],
            "object_nines_a_year": result["object_nines_a_year"],
            "expected_bytes_lost": float(result["expected_bytes_lost"]),
            "rebuild_hours": float(result["fleet"]["rebuild_hours"]),
            "user_bytes": float(result["fleet"]["user_bytes"]),
            **{name: float(value) for name, value in result["life"].items() if isinstance(value, (int, float))},
            "cost_a_year": result.get("cost", {}).get("a_year"),
            "cost_per_user_tb_year": result.get("cost", {}).get("per_user_tb_year"),
        }
        for result in results
        for year in result["loss_by_year"]
    ]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _typed(name: str, value: Any) -> Any:
    """A value of a setting as its column has it, whatever the others are: a number is one with a fraction."""
    table, _, setting = name.rpartition(".")
    key = TABLES.get(table, {}).get(setting) if table else TOP.get(setting)
    return float(value) if key is not None and key.kind == "number" else value


def packed(results: Sequence[Mapping[str, Any]]) -> bytes:
    """The columns as Parquet, where numbers that no row has are numbers, too."""
    from outlast import _core

    writer = _core.ParquetWriter()
    typed = [
        (name, "f64", True, values) if name in ABSENT else (name, *tables.column_of(values))
        for name, values in columns(results).items()
    ]
    return writer.write(typed) + writer.close()


def frame(results: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """One result or several as a polars DataFrame, a row for each year. Needs polars."""
    from outlast import frames

    listed = [results] if isinstance(results, Mapping) else results
    if not isinstance(listed, (list, tuple)):
        raise ScenarioError(f"{shown(results)}: must be the result of a fleet, or a list of results")
    for each in listed:
        if not isinstance(each, Mapping) or each.get("schema") != SCHEMA:
            raise ScenarioError(f"{shown(each)}: is no result of a fleet")
    return frames.to_polars(columns(listed))


def _place(out: str | Path, settings: Settings) -> Path:
    from outlast.version import named

    said = json.dumps([named(), settings.tables, _files(settings)], sort_keys=True, default=str)
    return place_of(out) / "points" / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.json"


def _files(settings: Settings) -> list[str]:
    """Marks that tell the files that settings name from others of these names: their length and time of change."""
    said = [("placement", name) for name in ("osd_dump", "pg_dump", "osd_tree")]
    said += [(table, name) for table in ("drive", "repair") for name in READ]
    named = [(settings.path(table, key), READ.get(key, ())) for table, key in said if settings[table][key]]
    return [_mark(file) for path, inner in named for file in _read_of(path, inner)]


def _read_of(path: Path, inner: Sequence[str]) -> list[Path]:
    """Files that are read where a setting names a path: of a folder those in it, and of a file those beside it."""
    if is_folder(path):
        return [path / name for name in inner]
    return [path, *(path.parent / name for name in inner[1:])]


def _mark(file: Path) -> str:
    try:
        found = file.stat()
    except OSError:
        return str(file)
    return f"{file} {found.st_size} {found.st_mtime_ns}"


def _kept(place: Path | None) -> dict[str, Any] | None:
    if place is None or not place.is_file():
        return None
    try:
        found = foreign.unsealed(foreign.bytes_of(place))
    except (OSError, ValueError):
        return None
    # Cut off, or changed: made again.
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def _keep(place: Path, result: Mapping[str, Any]) -> None:
    from outlast.output import cannot_write, write_file

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(place.parent, error) from error
    write_file(place, foreign.sealed(dict(result)))


def varied(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Values by setting from texts such as `code.parity=2,3`: numbers, `true`, `false`, or texts."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or name.strip() in found:
            raise ScenarioError(f"--vary {printable(text, keep='')[:80]}: must be NAME=VALUE,VALUE, once for each name")
        found[name.strip()] = [_value(value) for value in _parted(values)]
    return found


def _parted(text: str) -> list[str]:
    """Parts of a text between its commas, those within brackets, braces and quotes left out."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for letter in text:
        if letter == "," and not depth and not quoted:
            parts.append("")
            continue
        if quoted:
            quoted, escaped = escaped or letter != '"', letter == "\\" and not escaped
        elif letter == '"':
            # Within a word it is a mark of inches, or a slip, and begins no text.
            quoted = depth > 0 or not parts[-1].strip()
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth = max(depth - 1, 0)
        parts[-1] += letter
    return parts


def _value(text: str) -> Any:
    try:
        return foreign.json_of(text)
    except ValueError:
        return text


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """A line for each point, as the command prints them."""
    from outlast.fleet.words import interval

    if not results:
        raise OutputError("a sweep of no points has no table")
    names = list(results[0]["point"])
    rows = [[*names, "loss", "nines a year", "cost a TB and year"]]
    for result in results:
        last, nines, cost = result["loss_by_year"][-1]["fleet"], result["object_nines_a_year"], result.get("cost")
        rows.append(
            [
                *(str(value) for value in result["point"].values()),
                interval(last),
                "never lost" if nines is None else f"{nines:.2f}",
                f"{cost['per_user_tb_year']:.4g}" if cost else "–",
            ]
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
