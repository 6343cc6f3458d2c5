"""Are repeats runs under those seeds, on any number of jobs, kept on the way, summed up by Student's intervals?"""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast
from outlast.points.job import NOT_KEPT
from test_bad_input import refused

SHORT = {"workload.synthetic.duration": "100ms"}
T_3 = 3.182446305284263
"""Student's t within which 95 % lie, of three degrees of freedom (tables)."""


def figures_of(summary: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """Numbers of a result by dotted name, without lists."""
    found: dict[str, float] = {}
    for name, value in summary.items():
        if isinstance(value, dict):
            found |= figures_of(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[f"{prefix}{name}"] = value
    return found


def test_figures_are_means_of_single_runs_with_students_interval(tiny: Path) -> None:
    found = outlast.repeat(tiny, SHORT, repeats=4, jobs=2)
    seeds = found.summary["seeds"]
    assert len(set(seeds)) == 4
    assert seeds[0] == outlast.resolve(tiny)["seed"]
    single = [figures_of(json.loads(outlast.run(tiny, SHORT | {"seed": seed}).to_json())) for seed in seeds]
    compared = 0
    for name, value in single[0].items():
        if name == "seed" or any(name == left or name.startswith(f"{left}.") for left in NOT_KEPT):
            continue
        values = [value, *(other[name] for other in single[1:])]
        figure = found.figures[name]
        assert figure["count"] == 4
        assert figure["mean"] == pytest.approx(statistics.fmean(values), rel=1e-12, abs=1e-300)
        deviation = statistics.stdev(values)
        assert figure["half"] == pytest.approx(T_3 * deviation / math.sqrt(4), rel=1e-9, abs=1e-9 * abs(value))
        compared += 1
    assert compared > 50
    assert len({run["throughput.iops"] for run in single}) > 1


def test_the_number_of_jobs_changes_no_byte(tiny: Path) -> None:
    one, two = (outlast.repeat(tiny, SHORT, repeats=3, jobs=jobs).to_json() for jobs in (1, 2))
    assert one == two


def test_repeats_in_a_folder_are_not_run_again(tiny: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    out = tmp_path / "out"
    first = outlast.repeat(tiny, SHORT, repeats=2, jobs=1, out=out)
    more = outlast.repeat(tiny, SHORT, repeats=3, jobs=1, out=out, progress=lambda done, of: told.append((done, of)))
    assert told == [(2, 3), (3, 3)]
    assert list(more.columns["throughput.iops"])[:2] == list(first.columns["throughput.iops"])
    assert json.loads((out / "repeats.json").read_text()) == more.summary
    assert (out / "repeats.parquet").is_file()


def test_the_command_prints_means_and_json(outlast: Outlast, tiny: Path) -> None:
    shown = outlast("run", tiny, "--set", "workload.synthetic.duration=100ms", "--repeats", "2", "--jobs", "1")
    assert "2 runs with different seeds" in shown.stdout
    assert "IOPS" in shown.stdout
    as_json = outlast("run", tiny, "--set", "workload.synthetic.duration=100ms", "--repeats", "2", "--json", "--quiet")
    assert json.loads(as_json.stdout)["runs"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--jobs", "2"], "--jobs belongs to --repeats"),
        (["--repeats", "0"], "0 is not within 1 to 1000"),
        (["--repeats", "2", "--report", "x.html"], "--report belongs to one run"),
        (["--repeats", "2", "--set", "run.log=all.parquet"], "run.log"),
        (["--repeats", "2", "--out", "held"], "contains mine.txt"),
    ],
)
def test_options_that_do_not_go_with_repeats_are_refused(
    outlast: Outlast, tiny: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "mine.txt").write_text("mine")
    refused(outlast, tmp_path, "run", tiny, *arguments, says=[said])
