"""One scenario under several seeds, on all cores: means of its figures with confidence intervals."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import __version__, _core, api, frames, points, tables
from outlast.errors import OutputError, ScenarioError
from outlast.notebook import bar
from outlast.output import check_folder, check_writable, write_file
from outlast.plain_values import jobs_of, place_of, shown
from outlast.points import Job, key_of
from outlast.points.workers import local
from outlast.sweeps import figures
from outlast.sweeps.plan import repeat_seed
from outlast.sweeps.statistics import mean_of

if TYPE_CHECKING:
    import polars as pl

    from outlast.tables import Columns

SCHEMA_NAME = "outlast-repeats/1"
CONFIDENCE = 0.95
MOST = 1000
"""Repeats of one run."""
FILES = ("repeats.json", "repeats.parquet", "points")
"""Files in the folder of repeats."""


class Repeats:
    """Repeats of one scenario: means of all figures with their intervals, and a table with a row for each seed."""

    def __init__(self, summary: dict[str, Any], columns: Columns) -> None:
        self.summary = summary
        """Content of `repeats.json`, under the same names."""
        self.columns = columns
        """A row for each repeat: `repeat`, `seed` and every figure of `result.json`, as lists or arrays by column."""

    def __repr__(self) -> str:
        return f"<Repeats of {self.summary['name']}: {self.summary['runs']} runs>"

    @property
    def figures(self) -> dict[str, dict[str, Any]]:
        """`count`, `mean`, `sd` and `half` of each figure by dotted name, in the units of `result.json`.

        `half` is half the width of Student's interval of the mean, at `confidence`.
        """
        listed: dict[str, dict[str, Any]] = self.summary["figures"]
        return listed

    def table(self) -> pl.DataFrame:
        """A row for each repeat, as a polars DataFrame. Needs polars."""
        return frames.to_polars(self.columns)

    def to_json(self) -> str:
        """The text of `repeats.json`."""
        return json.dumps(self.summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, folder: str | Path) -> None:
        """Writes `repeats.json` and `repeats.parquet` into the folder."""
        place = place_of(folder)
        write_file(place / "repeats.parquet", tables.packed(self.columns))
        write_file(place / "repeats.json", self.to_json())


def repeat(
    scenario: api.ScenarioLike | Sequence[api.ScenarioLike],
    overrides: api.Overrides | None = None,
    *,
    repeats: int = 5,
    jobs: int | None = None,
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | bool | None = None,
) -> Repeats:
    """Runs a scenario under `repeats` seeds (1 to 1000), the first its own, and gives the mean of each figure.

    The seeds are those of a sweep's repeats, so that two scenarios with the same seed are compared pair by pair. `jobs`
    runs at a time, one for each core by default; the outcome is the same, to the byte. With `out`, each run is kept
    there as it ends, and the same call continues after a stop; `repeats.json` and `repeats.parquet` are written there.
    `progress` is told how many runs of how many are done; `True` shows a bar.

    Raises `ScenarioError` for settings that cannot run, or for `run.log`, since repeats keep figures and no requests.
    """
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST:
        raise ScenarioError(f"repeats = {shown(repeats)}: must be within 1 to {MOST}")
    folder = place_of(out) if out is not None else None
    if folder is not None:
        _check(folder)
    whole, planned = _planned(scenario, overrides, repeats)
    count = jobs_of(jobs)
    with (
        tempfile.TemporaryDirectory() if folder is None else nullcontext(folder) as place,
        bar.of_sweep(progress) as tell,
    ):
        outcome = points.run_all(
            planned, Path(place) / "points", lambda missing: local(min(count, missing)), progress=tell
        )
        rows = []
        for number, job in enumerate(planned):
            record = outcome.records[job.key]
            flat = figures.flat(record["summary"] | {"scenario": job.scenario})
            rows.append({"repeat": number, "seed": job.scenario["seed"]} | flat)
    done = Repeats(_summary(whole, rows), _columns(rows))
    if folder is not None:
        done.write(folder)
    return done


def _planned(
    scenario: api.ScenarioLike | Sequence[api.ScenarioLike], overrides: api.Overrides | None, repeats: int
) -> tuple[dict[str, Any], list[Job]]:
    """The scenario in full, and a job for each seed."""
    (answer,) = _core.PointBase(api.layers(scenario)).points([api.override_list(overrides)])
    if isinstance(answer, BaseException):
        raise answer
    whole, inputs = json.loads(answer[0]), answer[1]
    if log := whole.get("run", {}).get("log"):
        raise ScenarioError(f"run.log = {log!r}: must be absent in repeats, which keep figures and no requests")
    seeded = [whole | {"seed": repeat_seed(whole["seed"], number)} for number in range(repeats)]
    return whole, [Job(each, key_of(each, inputs), inputs) for each in seeded]


def _check(folder: Path) -> None:
    """Refuses a folder that holds something else than repeats."""
    check_folder(folder)
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in names if name not in FILES and not name.startswith(".")]
    if others:
        raise OutputError(f"{folder}: contains {others[0]}, which is not part of repeats; name another folder")
    check_writable(folder / "repeats.json")


def _summary(scenario: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    means = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        known = [value for row in rows if name != "repeat" and (value := _number(row.get(name))) is not None]
        if known and name != "seed":
            means[name] = vars(mean_of(known, CONFIDENCE))
    return {
        "schema": SCHEMA_NAME,
        "version": __version__,
        "name": scenario["name"],
        "runs": len(rows),
        "confidence": CONFIDENCE,
        "seeds": [row["seed"] for row in rows],
        "not_steady": sum(row.get("steady_state.measured.reached") is False for row in rows),
        "not_served": sum(bool(row.get("host.errors")) for row in rows),
        "figures": means,
    }


def _number(value: Any) -> float | None:
    """A figure as a number; `None` for texts, and for yes and no, whose mean would be no yes or no."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _columns(rows: list[dict[str, Any]]) -> Columns:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tables.column_of([row.get(name) for row in rows])[2] for name in names}
