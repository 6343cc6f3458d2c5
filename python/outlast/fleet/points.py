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
from outlast.fleet.reading import FleetLike, Settings, read, with_changes, without_effect
from outlast.fleet.study import SCHEMA, study
from outlast.printable import printable

if TYPE_CHECKING:
    import polars as pl

MOST_POINTS = 10_000


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
        result = _kept(out, whole)
        if result is None:
            result = study(whole, tell, on=on) | {"point": point}
            if out is not None:
                _keep(out, whole, result)
        results.append(result | {"point": point})
    if out is not None:
        from outlast.output import write_file

        write_file(Path(out) / "fleet.parquet", tables.packed(columns(results)))
    return results


def columns(results: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Results as columns by name, a row for each and each of its years: settings of the point, then figures."""
    rows = [
        {
            **result.get("point", {}),
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


def frame(results: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """One result or several as a polars DataFrame, a row for each year. Needs polars."""
    from outlast import frames

    return frames.to_polars(columns([results] if isinstance(results, Mapping) else results))


def _place(out: str | Path, settings: Settings) -> Path:
    from outlast.version import named

    said = json.dumps([named(), settings.tables, _files(settings)], sort_keys=True, default=str)
    return Path(out) / "points" / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.json"


def _files(settings: Settings) -> list[str]:
    """Marks that tell the files that settings name from others of these names: their length and time of change."""
    named = []
    for table, key in [("placement", name) for name in ("osd_dump", "pg_dump", "osd_tree")] + [
        (table, name) for table in ("drive", "repair") for name in ("result", "sweep")
    ]:
        if settings[table][key]:
            path = settings.path(table, key)
            inner = path / "summary.json" if path.is_dir() else path
            named.append(f"{path} {inner.stat().st_size} {inner.stat().st_mtime_ns}" if inner.exists() else str(path))
    return named


def _kept(out: str | Path | None, settings: Settings) -> dict[str, Any] | None:
    if out is None or not (place := _place(out, settings)).is_file():
        return None
    try:
        found = foreign.unsealed(foreign.text_of(place))
    except (OSError, ValueError):
        return None
    # Cut off, or changed: made again.
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def _keep(out: str | Path, settings: Settings, result: Mapping[str, Any]) -> None:
    from outlast.output import cannot_write, write_file

    place = _place(out, settings)
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
        found[name.strip()] = [_value(value) for value in values.split(",")]
    return found


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
