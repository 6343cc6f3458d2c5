"""Are differences of repeats those of Student's and Welch's tests, and is chance not taken for a difference?"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from scipy import stats

import outlast as api
from conftest import Outlast
from outlast.errors import OutputError
from outlast.plots import tabular
from outlast.repeats_compared import KeptRepeats, figure_tests, load_repeats, paired, welch
from test_bad_input import refused

GC = "device.ftl.gc.policy"
SHORT = {"workload.synthetic.duration": "100ms"}


def samples(seed: int, count: int, other: int) -> tuple[dict[int, float], dict[int, float]]:
    draw = random.Random(seed)
    one = {seed: draw.gauss(10, 1) for seed in range(count)}
    return one, {seed: draw.gauss(11, 3) for seed in range(other)}


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_tested_as_scipy_tests_them(seed: int) -> None:
    one, other = samples(seed, 6, 6)
    mine = paired("x", one, other)
    theirs = stats.ttest_rel(list(other.values()), list(one.values()))
    interval = theirs.confidence_interval(0.95)
    assert mine.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (mine.difference - mine.half, mine.difference + mine.half) == pytest.approx((interval.low, interval.high))
    assert mine.differs == (theirs.pvalue < 0.05)


@pytest.mark.parametrize("seed", range(5))
def test_independent_runs_are_tested_no_more_boldly_than_by_welch(seed: int) -> None:
    one, other = samples(seed, 5, 9)
    mine = welch("x", one, other)
    theirs = stats.ttest_ind(list(other.values()), list(one.values()), equal_var=False)
    assert mine.freedom == int(theirs.df)
    t = theirs.statistic
    assert mine.p == pytest.approx(2 * stats.t.sf(abs(t), mine.freedom), rel=1e-9)
    assert mine.p >= theirs.pvalue


def test_chance_seems_a_difference_once_in_twenty() -> None:
    """Pairs of samples with equal means: of 2000, 100 ± 4 standard deviations (39) seem to differ."""
    draw = random.Random(7)
    seem = 0
    for _ in range(2000):
        one, other = ({seed: draw.gauss(0, 1) for seed in range(5)} for _ in range(2))
        seem += paired("x", one, other).differs
    assert 61 <= seem <= 139


def test_equal_seeds_are_paired_and_other_seeds_are_not() -> None:
    def kept(seeds: range) -> KeptRepeats:
        return KeptRepeats("x", ("a",), {"seed": list(seeds), "a": [float(seed % 3) for seed in seeds]})

    assert [test.method for test in figure_tests(kept(range(4)), kept(range(4)))] == ["paired"]
    assert [test.method for test in figure_tests(kept(range(4)), kept(range(1, 5)))] == ["Welch"]
    assert figure_tests(kept(range(4)), kept(range(1))) == []


def test_folders_of_repeats_are_compared(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    for policy in ("greedy", "fifo"):
        sets = [f"--set={name}={value}" for name, value in (SHORT | {GC: policy}).items()]
        outlast("run", tiny, *sets, "--repeats", "3", "--out", f"out/{policy}", "--quiet")
    told = outlast("compare", "out/greedy", "out/fifo").stdout
    assert "write amplification" in told and "figures tested (paired)" in told
    found = json.loads(outlast("compare", "out/greedy", "out/fifo", "--json").stdout)
    (compared,) = found["compared"]
    by_figure = {test["figure"]: test for test in compared["tests"]}
    own = by_figure["write_amplification.total"]
    one, other = (load_repeats(tmp_path / "out" / name).by_seed(own["figure"]) for name in ("greedy", "fifo"))
    assert own["difference"] == pytest.approx(sum(other[seed] - one[seed] for seed in one) / 3)
    refused(outlast, tmp_path, "compare", "out/greedy", tiny, says=["repeats are compared with repeats"])


def test_repeats_of_one_scenario_do_not_differ(tiny: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        api.repeat(tiny, SHORT, repeats=3, out=tmp_path / name)
    found = figure_tests(load_repeats(tmp_path / "a"), load_repeats(tmp_path / "b"))
    assert len(found) > 50 and not any(test.differs for test in found)
    assert {test.p for test in found} == {1.0}


def test_a_single_run_has_no_scatter_and_is_refused(outlast: Outlast, tiny: Path) -> None:
    asked = ("--set", "workload.synthetic.requests=300", "--quiet")
    outlast("run", tiny, "--repeats", "1", *asked, "--out", "one")
    outlast("run", tiny, "--repeats", "2", *asked, "--out", "two")
    for places in (("two", "one"), ("one", "two")):
        done = outlast("compare", *places, check=False)
        assert done.returncode == 2
        assert "one: has 1 run; a test of two sets needs two runs or more of each" in done.stderr


def test_repeats_have_a_table_and_say_what_has_charts(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "repeats"
    kept = api.repeat(tiny, SHORT | {"run.warm_up": "0s"}, repeats=3, out=folder)
    name, iops = kept.summary["name"], kept.figures["throughput.iops"]
    rows = list(csv.DictReader(outlast("table", folder, "--format", "csv").stdout.splitlines()))
    row = next(row for row in rows if row["figure"] == "throughput.iops")
    assert float(row[name]) == pytest.approx(iops["mean"], rel=1e-12)
    assert float(row[f"{name}.half"]) == pytest.approx(iops["half"], rel=1e-12)
    loaded = load_repeats(folder)
    runs = list(csv.DictReader(tabular.runs_of(loaded).text("csv").splitlines()))
    assert [int(row["seed"]) for row in runs] == kept.summary["seeds"]
    assert tabular.of_repeats([loaded, loaded]).text("markdown").count(" ± ") >= 2
    says = "repeats, which keep the figures of each run and no curves: `outlast table .*without --repeats"
    with pytest.raises(OutputError, match=says):
        api.load(folder)
    refused(outlast, tmp_path, "plot", folder, says=["repeats", "outlast table", "without --repeats"])
    refused(outlast, tmp_path, "table", folder, "timeseries", says=["timeseries", "repeats have figures"])
