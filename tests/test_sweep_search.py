"""Does a search find the best points, the same ones each time, and refuse what it cannot do?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast
from outlast.points import job
from outlast.report import sweep_search
from outlast.sweeps.reading import read
from outlast.sweeps.sampler import JOURNAL, Sampler

WRITTEN = ("sweep.json", "sweep.parquet", "report.html")
WAF = "write_amplification.total"
CAPACITY = {"setting": "device.ftl.capacity", "from": 18, "to": 31, "unit": "MiB", "whole": True}
POLICY = {"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}


@pytest.fixture
def spec(tiny: Path) -> dict[str, Any]:
    """A search for the spare space that amplifies writes least: whoever knows flash knows the answer."""
    quick = {"workload.synthetic.requests": 400}
    return {"name": "found", "scenario": str(tiny), "set": quick, "method": "tpe", "points": 14, "aim": WAF} | {
        "figures": [WAF, "latency_us.read.p99"],
        "vary": [CAPACITY, POLICY],
    }


def test_it_finds_what_is_best_and_says_so(spec: dict[str, Any], tmp_path: Path) -> None:
    found = outlast.sweep(spec, tmp_path / "out", jobs=1)
    means = {point["point"]: point["figures"][WAF]["mean"] for point in found.points}
    (best,) = found.best
    assert means[best] == min(means.values())
    # The ten points before the sampler knows anything are drawn; those after them lie where the best ones are.
    sizes = [int(point["values"]["device.ftl.capacity"].removesuffix("MiB")) for point in found.points]
    assert sum(sizes[10:]) / 4 < sum(sizes[:10]) / 10 - 2
    assert len(found.points) == 14
    assert len({json.dumps(point["values"]) for point in found.points}) == 14, "no point is chosen twice"
    said = sweep_search.sentence(found.summary)
    assert said.startswith("best of 14 points: ")
    assert f"(point {best})" in said


def test_the_same_seed_gives_the_same_bytes_however_many_run_at_once(spec: dict[str, Any], tmp_path: Path) -> None:
    spec = spec | {"points": 12, "repeats": 2}
    outlast.sweep(spec, tmp_path / "one", jobs=1)
    outlast.sweep(spec, tmp_path / "two", jobs=2)
    outlast.sweep(spec, tmp_path / "two", jobs=2)  # by the records that are kept
    other = outlast.sweep(spec | {"seed": 2}, tmp_path / "other", jobs=1)
    for name in WRITTEN:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert other.points != outlast.load_sweep(tmp_path / "one").points


def test_a_stopped_search_chooses_the_same_points_again(
    spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = outlast.sweep(spec | {"points": 8}, tmp_path / "whole", jobs=1)

    def stop(done: int, _: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outlast.sweep(spec | {"points": 8}, tmp_path / "stopped", jobs=1, progress=stop)
    kept = {file.name for file in (tmp_path / "stopped" / "points").iterdir()}
    assert len(kept) == 6
    measured: list[str] = []
    of_points = job.measure

    def measure(asked: job.Job) -> job.Record:
        measured.append(asked.key)
        return of_points(asked)

    monkeypatch.setattr("outlast.points.job.measure", measure)
    done = outlast.sweep(spec | {"points": 8}, tmp_path / "stopped", jobs=1)
    assert len(measured) == 2
    assert done.summary == whole.summary


def test_several_aims_are_searched_for_their_front(spec: dict[str, Any], tmp_path: Path) -> None:
    aims = [WAF, {"figure": "throughput.iops", "best": "highest"}]
    vary = [CAPACITY, {"setting": "workload.synthetic.rate_iops", "values": [1000, 2000, 4000]}]
    found = outlast.sweep(spec | {"aim": aims, "vary": vary, "points": 12}, tmp_path / "out", jobs=1)
    assert found.summary["sweep"]["pareto"] == found.summary["sweep"]["aim"]
    assert found.front == found.summary["search"]["best"]
    means = [[point["figures"][name]["mean"] for name in (WAF, "throughput.iops")] for point in found.points]
    for number in found.front:
        waf, iops = means[number]
        assert not any(one <= waf and two >= iops and (one, two) != (waf, iops) for one, two in means)
    assert sweep_search.sentence(found.summary) == ""


def test_settings_that_do_not_go_together_are_points_without_runs(spec: dict[str, Any], tmp_path: Path) -> None:
    vary = [CAPACITY | {"from": 26, "to": 37}, POLICY]  # the flash has 32 MiB
    found = outlast.sweep(spec | {"vary": vary, "points": 12}, tmp_path / "out", jobs=1)
    refused = {each["point"]: each["error"] for each in found.summary["search"]["refused"]}
    too_large = [p["point"] for p in found.points if int(p["values"]["device.ftl.capacity"].removesuffix("MiB")) >= 32]
    assert set(too_large) <= set(refused)
    assert too_large
    assert all("device.ftl.capacity" in error for error in refused.values())
    assert found.summary["runs"] == 12 - len(refused)
    assert found.failed == []
    page = (tmp_path / "out" / "report.html").read_text()
    assert "refused, whose settings do not go together" in page
    assert outlast.load_sweep(tmp_path / "out").summary == found.summary


def test_a_mistake_in_all_points_is_refused(spec: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(outlast.ScenarioError, match=r"point 0 .*did you mean `policy`"):
        outlast.sweep(spec | {"vary": [{"setting": "device.ftl.gc.polcy", "values": ["fifo"]}]}, tmp_path / "out")


def test_an_aim_that_no_run_has_is_refused_with_the_reason(spec: dict[str, Any], tmp_path: Path) -> None:
    aim = {"figure": "array.rebuild.rate_mib_s", "best": "highest"}
    with pytest.raises(outlast.ScenarioError, match=r"aim = array\.rebuild.*no run has an array"):
        outlast.sweep(spec | {"aim": aim}, tmp_path / "out", jobs=1)


def test_a_space_that_is_used_up_ends_the_search(spec: dict[str, Any], tmp_path: Path) -> None:
    found = outlast.sweep(spec | {"vary": [POLICY], "points": 9}, tmp_path / "out", jobs=1)
    assert [point["values"] for point in found.points] in (
        [{"device.ftl.gc.policy": one}, {"device.ftl.gc.policy": two}] if one != two else []
        for one in POLICY["values"]
        for two in POLICY["values"]
    )


def test_points_that_are_worse_than_the_median_are_given_up(spec: dict[str, Any], tmp_path: Path) -> None:
    # Reads alone, whose state is steady whatever they are.
    reads = {"workload.synthetic.requests": 400, "workload.synthetic.read_percent": 100}
    vary = [{"setting": "device.timing.read", "from": 10, "to": 400, "unit": "us", "whole": True}]
    asked = spec | {"set": reads, "vary": vary, "aim": "latency_us.read.p50", "figures": ["latency_us.read.p50"]}
    asked |= {"points": 20, "repeats": 3, "prune": True}
    found = outlast.sweep(asked, tmp_path / "out", jobs=1)
    pruned = found.summary["search"]["pruned"]
    counts = [point["figures"]["latency_us.read.p50"]["count"] for point in found.points]
    assert pruned
    assert [number for number, count in enumerate(counts) if count < 3] == pruned
    assert found.summary["runs"] == sum(counts)
    means = [point["figures"]["latency_us.read.p50"]["mean"] for point in found.points]
    assert not set(pruned) & set(found.summary["search"]["best"])
    assert min(means[number] for number in pruned) > min(means)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "worse than the median" in page


def test_runs_that_are_not_steady_give_nothing_up(spec: dict[str, Any], tmp_path: Path) -> None:
    found = outlast.sweep(spec | {"set": {}, "repeats": 2, "prune": True, "points": 9}, tmp_path / "out", jobs=1)
    unsteady = {point["point"] for point in found.points if point["not_steady"]}
    assert unsteady
    assert not unsteady & set(found.summary["search"]["pruned"])


def test_optuna_reads_the_journal(spec: dict[str, Any], tmp_path: Path) -> None:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    found = outlast.sweep(spec | {"points": 6}, tmp_path / "out", jobs=1)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "out" / JOURNAL)))
    study = optuna.load_study(study_name="found", storage=storage)
    (best,) = found.summary["search"]["best"]
    done = [trial for trial in study.trials if "point" in trial.user_attrs]
    assert [trial.user_attrs["point"] for trial in done] == list(range(6))
    assert study.best_trial.user_attrs["point"] == best
    assert study.best_value == found.points[best]["figures"][WAF]["mean"]
    assert study.best_trial.user_attrs["latency_us.read.p99"] > 0


def test_values_in_order_are_told_as_such(spec: dict[str, Any], tmp_path: Path) -> None:
    sizes = {"setting": "device.controller.write_buffer", "values": ["64KiB", "128KiB", "256KiB"]}
    mixed = {"setting": "device.ftl.gc", "values": [{"policy": "fifo"}, {"policy": "greedy"}, "null"]}
    search = Sampler(read(spec | {"vary": [sizes, mixed, CAPACITY]}), tmp_path)
    choice = search.ask()
    assert choice is not None
    kinds = {name: type(each).__name__ for name, each in choice._trial.distributions.items()}
    assert list(kinds.values()) == ["IntDistribution", "CategoricalDistribution", "IntDistribution"]
    choices = choice._trial.distributions["device.ftl.gc"].choices
    assert choices == ('{"policy": "fifo"}', '{"policy": "greedy"}', "null"), "what the dashboard shows"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"aim": "latency_us.raed.p99"}, 'did you mean "latency_us.read.p99"'),
        ({"aim": "gc.victims"}, r"aim.best = absent: say which gc.victims is better: lowest or highest"),
        ({"aim": [WAF, WAF]}, r"aim\[1\] = write_amplification.total: is an aim already"),
        ({"aim": []}, "must be 1 to 8 figures"),
        ({"aim": {"figure": WAF, "bst": "lowest"}}, "aim.bst: unknown setting; did you mean `best`"),
        ({"aim": None, "pareto": []}, "aim = absent: a search"),
        ({"prune": True}, "repeats must be 2 or more"),
        ({"prune": True, "repeats": 2, "aim": [WAF, "throughput.iops"]}, "needs one aim, and there are 2"),
        ({"points": 100_000, "repeats": 2}, "200000 runs: must be at most 100000"),
        ({"method": "grid", "points": None}, "aim = .*belongs to tpe, and method is grid"),
    ],
)
def test_searches_that_cannot_be(spec: dict[str, Any], tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    asked = {name: value for name, value in (spec | changed).items() if value is not None}
    with pytest.raises(outlast.ScenarioError, match=says):
        outlast.sweep(asked, tmp_path / "out", jobs=1)


def test_without_optuna_it_says_what_to_install(
    spec: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(outlast.ScenarioError, match=r"needs optuna; install outlast\[search\]"):
        outlast.sweep(spec, tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_the_command_names_the_best_point(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "search.toml").write_text(
        f"""scenario = "{tiny.name}"
method = "tpe"
points = 5
aim = "{WAF}"
figures = ["{WAF}"]
set = {{ workload.synthetic.requests = 400 }}

[[vary]]
setting = "device.ftl.capacity"
from = 18
to = 34
unit = "MiB"
whole = true
"""
    )
    said = outlast("sweep", "search.toml", "--jobs", "1")
    assert "best of 5 points: " in said.stdout
    assert (tmp_path / "out" / "search" / "optuna.journal").is_file()
    assert "Warning" not in said.stderr
