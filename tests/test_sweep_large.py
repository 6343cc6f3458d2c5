"""Does a sweep do the same work for each point, however many there are, and a small run no more than it needs?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import outlast
from conftest import ROOT, Outlast
from outlast import _core, api, foreign, points
from outlast.points import job as work
from outlast.report import sweep_drawn, sweep_load
from outlast.sweeps import plan, statistics
from outlast.sweeps.reading import read


class CountedColumn(list[Any]):
    """A column that counts how often one of its rows is read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)


def spec(tiny: Path, count: int, **more: Any) -> dict[str, Any]:
    """A sweep of so many points over the load, none of which takes long."""
    rates = {"setting": "workload.synthetic.rate_iops", "from": 1000, "to": 4000, "steps": count}
    less = {"workload": {"synthetic": {"duration": "40ms"}}}
    return {"name": "many", "scenario": str(tiny), "set": less, "vary": [rates]} | more


def test_the_chart_of_a_load_reads_each_row_once_for_each_figure() -> None:
    for count in (50, 100):
        listed = [{"point": number, "values": {"l": number}, "figures": {}} for number in range(count)]
        sweep = {"confidence": 0.95, "vary": [{"name": "l", "setting": "workload.synthetic.rate_iops"}]}
        columns = {name: CountedColumn([1.0] * 3 * count) for name in sweep_load.FIGURES}
        numbers = {"point": [row // 3 for row in range(3 * count)]}
        done: Any = SimpleNamespace(summary={"sweep": sweep, "points": listed}, columns=numbers | columns)
        found = sweep_load.completed(done, listed)
        assert all(point["figures"]["throughput.iops"]["count"] == 3 for point in found)
        assert all(column.reads == 3 * count for column in columns.values())


def large(count: int, front: int) -> dict[str, Any]:
    """Summary of so many points, whose figure is lowest at the first and highest at the last but one."""
    means = [0.0, *(float(number % 97 + 1) for number in range(count - 3)), 99.0, 50.0]
    listed = [{"point": at, "figures": {"f": {"count": 1, "mean": mean}}} for at, mean in enumerate(means)]
    on_front = [7 * number % count for number in range(front)]
    return {"sweep": {"figures": ["f"]}, "points": listed, "pareto": {"front": on_front}}


def test_charts_of_many_points_draw_an_even_choice_with_the_front_and_the_ends() -> None:
    most = sweep_drawn.MOST_DRAWN
    for count in (1, 100, most):
        few = large(max(count, 4), 3)
        assert sweep_drawn.drawn(few) == few["points"]
        assert sweep_drawn.note(few) == ""
    many = large(50_000, 40)
    numbers = [point["point"] for point in sweep_drawn.drawn(many)]
    assert len(numbers) == most
    assert numbers == sorted(set(numbers))
    assert {0, 49_998, *many["pareto"]["front"]} <= set(numbers)
    # Evenly: a tenth of each tenth, and the 42 that are drawn in any case.
    per_tenth = np.bincount(np.array(numbers) // 5000)
    assert abs(per_tenth - 500).max() <= 42
    assert sweep_drawn.note(many).startswith("charts draw 5\u202f000 of them")
    # A front of more than there is room for is thinned itself.
    assert len(sweep_drawn.drawn(large(50_000, 20_000))) == most


def test_the_front_is_that_of_all_pairs() -> None:
    dice = np.random.default_rng(7)
    for columns in (1, 2, 3):
        costs = dice.integers(0, 6, (60, columns)).astype(float)

        def dominates(one: Any, two: Any) -> bool:
            return bool((one <= two).all() and (one < two).any())

        expected = [row for row in range(60) if not any(dominates(other, costs[row]) for other in costs)]
        assert statistics.front(costs) == expected


def test_a_sweep_resolves_its_layers_once_and_each_point_has_one_key(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = dict.fromkeys(("layers", "points", "keys", "inputs"), 0)
    core, key = _core.PointBase, work._key

    class Base:
        def __init__(self, layers: Any) -> None:
            counts["layers"] += 1
            self._own = core(layers)

        def points(self, overrides: Any) -> Any:
            counts["points"] += len(overrides)
            return self._own.points(overrides)

    def counted(*given: Any) -> str:
        counts["keys"] += 1
        return key(*given)

    def inputs(*_: Any) -> Any:
        counts["inputs"] += 1
        raise AssertionError("the files of a point were known when it was planned")

    monkeypatch.setattr(_core, "PointBase", Base)
    monkeypatch.setattr(work, "_key", counted)
    outlast.sweep(spec(tiny, 6, repeats=2), tmp_path / "out", jobs=1)
    assert counts == {"layers": 1, "points": 6, "keys": 24, "inputs": 0}  # planned, and before it is run
    monkeypatch.setattr(work, "_inputs", inputs)
    counts |= dict.fromkeys(counts, 0)
    outlast.sweep(spec(tiny, 6, repeats=2), tmp_path / "out", jobs=1)
    assert counts == {"layers": 1, "points": 6, "keys": 12, "inputs": 0}


def test_points_are_planned_as_each_is_resolved_alone(tiny: Path) -> None:
    chosen = spec(tiny, 5, vary=[{"setting": "device.ftl.over_provisioning", "values": [0.2, 0.25, 0.3]}])
    for number, run in enumerate(plan.make(read(chosen)).runs):
        changes = {"workload.synthetic.duration": "40ms", "device.ftl.over_provisioning": (0.2, 0.25, 0.3)[number]}
        alone = api.resolve(str(tiny), changes)
        assert run.job.scenario == alone
        assert list(run.job.scenario["device"]["ftl"]) == list(alone["device"]["ftl"])
        assert run.job.key == points.key_of(alone)


def test_what_cannot_be_is_told_by_its_point_whichever_thread_found_it(tiny: Path) -> None:
    rates = {"setting": "workload.synthetic.rate_iops", "values": [1000, 2000, -1, 3000, -2]}
    with pytest.raises(outlast.ScenarioError, match=r"point 2 of 5 .* = -1\)"):
        plan.make(read(spec(tiny, 5, vary=[rates])))


def test_all_that_a_sweep_writes_is_the_same_for_any_number_of_jobs(tiny: Path, tmp_path: Path) -> None:
    said = spec(tiny, 3, repeats=3)
    for jobs in (1, 3):
        outlast.sweep(said, tmp_path / str(jobs), jobs=jobs)
    one, three = (
        {file.relative_to(tmp_path / name): file.read_bytes() for file in (tmp_path / name).rglob("*.*")}
        for name in ("1", "3")
    )
    assert len(one) == 9 + 3
    assert one == three


def test_a_record_that_is_as_it_was_written_is_taken_at_its_word(tmp_path: Path) -> None:
    table = {"schema": "x", "text": 'a "checksum": "12345678"}', "number": 0.1}
    text = foreign.sealed(table)
    assert foreign.unsealed(text) == table
    assert json.loads(text).keys() == table.keys() | {"checksum"}
    whole = json.dumps(table).encode()
    for changed in (text.replace(b"0.1", b"0.2"), text[:-1], text.replace(b'"x"', b'"y"'), whole, b""):
        assert foreign.unsealed(changed) is None


def test_a_small_run_does_without_numpy(tiny: Path) -> None:
    program = (
        "import sys\n"
        "from outlast.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "heavy = [name for name in ('numpy', 'polars', 'plotly', 'rich') if name in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    few = ["--set", "workload.synthetic.duration=10ms", "--set", "run.warm_up=0s"]
    for command in (["run", str(tiny), "--json", *few], ["validate", str(tiny)]):
        done = subprocess.run(
            [sys.executable, "-c", program, *command], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr


def test_tables_that_were_not_asked_for_are_there_when_they_are(tiny: Path, tmp_path: Path, outlast: Outlast) -> None:
    result = api.run(tiny, {"workload.synthetic.duration": "40ms"})
    assert next(iter(result.tables)) == "timeseries" and len(result.tables) > 2
    one = result.tables["timeseries"]
    assert result.tables["timeseries"] is one
    assert "no such table" not in result.tables
    with pytest.raises(KeyError):
        result.tables["no such table"]
    outlast("run", tiny, "--set", "workload.synthetic.duration=40ms", "--out", tmp_path / "out")
    from outlast import load

    kept = load(tmp_path / "out").tables
    assert set(kept) == set(result.tables)
    for name, table in result.tables.items():
        assert {key: list(values) for key, values in kept[name].items()} == {
            key: list(values) for key, values in table.items()
        }
