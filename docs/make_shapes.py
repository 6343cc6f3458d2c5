"""Writes the form of result.json, of results of all kinds: `make shapes`.

The cases are those whose hashes are kept (crates/bench/src/hashes), made short: drives and arrays with each mechanism
in turn, that fail, are repaired and lose data; beside them a run of fio jobs, and the beginning of each preset's run.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import outlast
from outlast.shapes import FREE, Shape, kind_of, samples

ROOT = Path(__file__).parent.parent
CASES = ROOT / "crates" / "bench" / "src" / "hashes"
SHAPES = ROOT / "python" / "outlast" / "result.shapes.txt"
TABLES = SHAPES.with_name("tables.shapes.txt")
REQUESTS = 1500
SIMULATED_S = 0.5
"""Of the presets, which are of full size: longer ones are stopped there, and have the keys of those that are."""
OTHERS = {"scenario", "policies", "host.jobs[].options", "host.jobs[].description"}
"""What is written by users, and read by who reads that."""


def main() -> None:
    """Writes the file."""
    whole, tables = Shape(), Shape()
    count = 0
    for name, result in _results():
        summary = json.loads(result.to_json())
        print(f"\r{count:4} {name:60}", end="", file=sys.stderr, flush=True)
        _add(whole, summary, "")
        _add(tables, {table: samples(columns) for table, columns in result.tables.items()}, "")
        count += 1
    print(f"\n{count} results", file=sys.stderr)
    for file, shape in ((SHAPES, whole), (TABLES, tables)):
        file.write_text("".join(f"{line}\n" for line in shape.lines()), encoding="utf-8")


def _results() -> Iterator[tuple[str, outlast.Result]]:
    short = {"workload": {"synthetic": {"requests": REQUESTS}}}
    for file in ("drives.toml", "arrays.toml"):
        tables = tomllib.loads((CASES / file).read_text(encoding="utf-8"))
        for name in tables:
            own = dict(tables[name])
            like = own.pop("like", None)
            layers = [tables["base"], *([_plain(tables[like])] if like else []), own, short]
            try:
                yield name, outlast.run([_absent(layer) for layer in layers])
            except outlast.OutlastError as error:
                print(f"\n{name}: {error}", file=sys.stderr)
    fio = (ROOT / "tests" / "fio" / "different_runtimes.fio").read_text(encoding="utf-8")
    base = tomllib.loads((CASES / "drives.toml").read_text(encoding="utf-8"))["base"]
    base.pop("workload", None)
    yield "fio", outlast.run([base, {"workload": {"fio": {"job": fio}}}])
    for path in sorted((ROOT / "scenarios" / "presets").glob("*.toml")):
        try:
            yield path.stem, outlast.run(path, progress=_until(SIMULATED_S), any_memory=True)
        except outlast.OutlastError as error:
            print(f"\n{path.stem}: {error}", file=sys.stderr)


def _until(most: float) -> Callable[[str, float | None, int, float], bool]:
    """Stops a run that has come so far in simulated seconds, or that still prepares its drive at the hundredth look."""
    looks = iter(range(100))
    return lambda _phase, _share, _requests, seconds: seconds < most and next(looks, None) is not None


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != "like"}


def _absent(value: Any) -> Any:
    """The same with no value in place of the text "null", which TOML has not."""
    if isinstance(value, dict):
        return {name: _absent(own) for name, own in value.items()}
    return None if value == "null" else value


def _add(shape: Shape, value: Any, place: str) -> None:
    if place in OTHERS:
        shape.kinds = {FREE}
        return
    shape.seen += 1
    kind = kind_of(value)
    first = kind not in shape.kinds
    shape.kinds.add(kind)
    if isinstance(value, dict):
        for key, own in value.items():
            below = shape.keys.setdefault(key, Shape(always=first))
            _add(below, own, f"{place}.{key}" if place else key)
        for key, below in shape.keys.items():
            below.always = below.always and key in value
    elif isinstance(value, list):
        for own in value:
            shape.items = shape.items or Shape()
            _add(shape.items, own, f"{place}[]")


if __name__ == "__main__":
    main()
