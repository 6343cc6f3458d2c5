"""Does code of the user's decide as a built-in policy does, and is what makes no sense told in one line?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
import own_policies
from conftest import ROOT, call
from outlast import _core
from outlast.policies import STATES, View

OWN = Path(own_policies.__file__)
ARRAY = {
    "precondition.max_drive_writes": 1,
    "workload.synthetic.duration": "300ms",
    "array.members": 4,
    "array.level": "raid5",
    "run.threads": 2,
    "workload.synthetic.read_percent": 0,
    "workload.synthetic.rate_iops": 9000,
}
BUILT_IN = {"greedy": "greedy", "cost-benefit": "cost_benefit", "fifo": "fifo", "d-choices": "d_choices"}


def measured(result: outlast.Result) -> str:
    """All that was measured, as text: not what the run itself cost, nor closed forms, which built-in policies have."""
    beside = ("time", "memory", "scenario", "policies", "closed_form")
    summary = {name: value for name, value in result.summary.items() if name not in beside}
    summary["throughput"].pop("requests_per_cpu_s", None)
    tables = {
        name: {key: list(map(str, column)) for key, column in table.items()} for name, table in result.tables.items()
    }
    return json.dumps([summary, tables])


@pytest.mark.parametrize("built_in", BUILT_IN)
@pytest.mark.parametrize("way", ["function", "file"])
def test_a_policy_in_python_gives_the_bytes_of_the_built_in_one(tiny: Path, built_in: str, way: str) -> None:
    name = BUILT_IN[built_in]
    theirs = outlast.run(tiny, {"device.ftl.gc.policy": built_in})
    if way == "function":
        own = outlast.run(tiny, policies={"gc": getattr(own_policies, name)})
    else:
        own = outlast.run(tiny, {"policies.gc": f"{OWN}:{name}"})
    assert theirs.gc.victims > 30
    assert measured(own) == measured(theirs)
    assert own.summary["policies"]["gc"]["name"] == f"{OWN}:{name}"
    assert f"def {name}(" in own.summary["policies"]["gc"]["source"]


@pytest.mark.parametrize("built_in", BUILT_IN)
def test_so_it_does_on_every_drive_of_an_array_with_classes(tiny: Path, built_in: str) -> None:
    # Two classes of other codes: what is counted then is the part of a superblock that the valid units would fill.
    classes = [{"data": 1, "parity": 1, "hints": [1]}, {"hints": [0]}]
    changes: dict[str, Any] = ARRAY | {
        "device.geometry.channels": 4,
        "device.geometry.blocks_per_plane": 64,
        "device.ftl.capacity": "12MiB",
        "device.controller.write_buffer": "512KiB",
        "device.protection": {"data": 3, "parity": 1, "classes": classes, "default_class": 1},
    }
    theirs = outlast.run(tiny, changes | {"device.ftl.gc.policy": built_in})
    own = outlast.run(tiny, changes, policies={"gc": getattr(own_policies, BUILT_IN[built_in])})
    assert theirs.gc.victims > 30
    assert measured(own) == measured(theirs)


def test_wear_levelling_in_python_gives_the_bytes_of_the_built_in_one(tiny: Path) -> None:
    changes = {
        "workload.synthetic.pattern": "zipf",
        "precondition.overwrite": "workload",
        "precondition.min_drive_writes": 20,
    }
    theirs = outlast.run(tiny, changes | {"device.ftl.wear_leveling.static_gap": own_policies.GAP})
    own = outlast.run(tiny, changes, policies={"wear_leveling": own_policies.level})
    assert theirs.flash.by_cause.wear_leveling_programs > 0
    assert measured(own) == measured(theirs)


def test_scrubbing_in_python_gives_the_bytes_of_the_built_in_policy(weak: Path) -> None:
    # Data of one to sixty days; a built-in policy looks every hundredth of the age at which it moves data.
    busy: dict[str, Any] = {
        "workload.synthetic.read_percent": 50,
        "workload.synthetic.rate_iops": 2000,
        "device.scrub.expected_errors": None,
    }
    theirs = outlast.run(weak, busy | {"device.scrub.age": "30d"})
    asked = {"device.scrub.own": f"{30 * 864}s"}
    own = outlast.run(weak, busy | asked, policies={"scrub": own_policies.refresh})
    assert theirs.reliability.scrubbed.superblocks > 10
    assert set(own.tables["decisions"]["reason"]) == {"space", "own"}
    # Results name the built-in policy that had data moved.
    by_age = f'"by_age": {theirs.reliability.scrubbed.by_age}'
    assert measured(own).replace('"own"', '"age"').replace('"by_age": 0', by_age) == measured(theirs)
    # Asked more often, it has the same data moved: none of it comes of age meanwhile.
    often = outlast.run(weak, busy | {"device.scrub.own": "1ms"}, policies={"scrub": own_policies.refresh})
    assert often.reliability.scrubbed.superblocks == own.reliability.scrubbed.superblocks


@pytest.mark.parametrize(("example", "built_in"), [("cost_benefit.c", "cost-benefit"), ("greedy.rs", "greedy")])
def test_a_shared_library_gives_the_bytes_of_the_built_in_one(
    tiny: Path, tmp_path: Path, example: str, built_in: str
) -> None:
    library = compiled(ROOT / "examples" / "policies" / example, tmp_path)
    theirs = outlast.run(tiny, {"device.ftl.gc.policy": built_in})
    own = outlast.run(tiny, {"policies.gc": f"{library}:choose"})
    assert measured(own) == measured(theirs)
    assert own.summary["policies"]["gc"]["source"] is None
    assert re.fullmatch("[0-9a-f]{64}", own.summary["policies"]["gc"]["sha256"])


def compiled(source: Path, folder: Path) -> Path:
    """The shared library of an example."""
    library = folder / f"{source.stem}.so"
    include = call("policies", "--include").stdout.strip()
    command = {
        ".c": ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", include],
        ".rs": ["rustc", "--edition", "2024", "-O", "--crate-type", "cdylib"],
    }[source.suffix]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    subprocess.run([*command, "-o", library, source], check=True, capture_output=True, text=True)
    return library


def test_a_view_is_what_it_says(tiny: Path) -> None:
    seen: list[int] = []

    def checking(view: View) -> int | None:
        assert len(view) == len(view.age) == len(view.order) == len(view.erases) == len(view.state)
        assert (view.is_candidate == (view.state == STATES.index("sealed"))).all()
        assert (view.valid[view.state == STATES.index("free")] == 0).all()
        assert (view.valid <= view.units).all()
        # All that the host has written lies somewhere, once: 26 MiB of 4 KiB.
        assert view.valid.sum() <= 26 * 256
        sealed = np.flatnonzero(view.is_candidate)
        by_order = sealed[np.argsort(view.order[sealed])]
        assert (np.diff(view.age[by_order].astype(int)) <= 0).all(), "what was filled later is younger"
        assert len(set(view.order[sealed])) == len(sealed)
        assert view.clock >= seen[-1] if seen else True
        seen.append(view.clock)
        assert view.least(view.valid) == own_policies.greedy(view)
        assert view.most(-view.valid.astype(int)) == own_policies.greedy(view)
        return view.least(view.valid)

    assert outlast.run(tiny, policies={"gc": checking}).gc.victims > 30
    assert len(seen) > 100


def test_an_object_of_a_class_decides_for_its_own_core(tiny: Path) -> None:
    made: list[object] = []

    class Counting:
        def __init__(self) -> None:
            made.append(self)
            self.clocks: list[int] = []

        def __call__(self, view: View) -> int | None:
            self.clocks.append(view.clock)
            return view.least(view.valid)

    cores = {"device.controller.flash_cores": 2, "device.ftl.capacity": "24MiB"}
    theirs = outlast.run(tiny, cores)
    own = outlast.run(tiny, cores, policies={"gc": Counting})
    assert measured(own) == measured(theirs)
    asked = [one.clocks for one in made if one.clocks]  # type: ignore[attr-defined]
    assert len(asked) == 2
    assert all(clocks == sorted(clocks) for clocks in asked)


WRONG: dict[str, tuple[Callable[[View], Any], str]] = {
    "raises": (lambda _: 1 // 0, r"ZeroDivisionError: .* \(test_policies.py, line \d+\); it saw \d+ candidates"),
    "free": (lambda view: int(np.flatnonzero(view.state == 0)[0]), r"returned superblock \d+, which is free"),
    "beyond": (lambda _: 1000, "returned superblock 1000, and there are 128"),
    "negative": (lambda _: -1, "returned superblock -1, and there are 128"),
    "no number": (lambda _: 1.5, "returned 1.5: must be the number of a superblock or None"),
    "none": (lambda _: None, "returned None though no superblock is free for the host"),
    "no gain": (
        lambda view: view.most(view.valid, view.is_candidate),
        r"returned 20\d\d superblocks in a row from which nothing is gained, though no superblock is free for the host",
    ),
    "a truth": (lambda _: True, "returned True: must be the number of a superblock or None"),
    "what it sees": (lambda view: view.valid.fill(0), "ValueError: assignment destination is read-only"),
    "no lots": (lambda view: view.below(0), r"ValueError: below\(0\): must be at least 1"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_ends_the_run_with_one_line(tiny: Path, wrong: str) -> None:
    policy, told = WRONG[wrong]
    with pytest.raises(outlast.ScenarioError) as error:
        outlast.run(tiny, policies={"gc": policy})
    message = str(error.value)
    assert "\n" not in message
    assert re.search(r"policies.gc = .*test_policies.py:<lambda>: " + told, message), message


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("greddy", 'did you mean "greedy"?'),
        ("nothing", "there are greedy, cost-benefit, cost-age-times, fifo, d-choices; code of your own is FILE:NAME"),
        ("absent.py:choose", "absent.py is not a file"),
        ("absent.so:choose", "absent.so: cannot open shared object file"),
        (f"{OWN}:gredy", "there is no function or class gredy; there are"),
        (f"{OWN}:", "must be FILE:NAME"),
        ("broken.py:choose", "SyntaxError: '(' was never closed (broken.py, line 1)"),
        ("text.txt:choose", "not a Python file"),
    ],
)
def test_bad_names_are_refused_before_anything_runs(tiny: Path, tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "broken.py").write_text("def choose(view:\n")
    (tmp_path / "text.txt").write_text("def choose(view): ...\n")
    for command in (("run", tiny, "--out", "out"), ("validate", tiny, "--load")):
        done = call(*command, "--set", f"policies.gc={name}", cwd=tmp_path, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_path_counts_from_the_scenario_that_names_it(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    shutil.copy(OWN, folder / "mine.py")
    (folder / "mine.toml").write_text(f'extends = "{tiny}"\n[policies]\ngc = "mine.py:fifo"\n')
    own = outlast.run(folder / "mine.toml")
    assert measured(own) == measured(outlast.run(tiny, {"policies.gc": "fifo"}))


def test_every_decision_is_listed_with_its_policies() -> None:
    listed = json.loads(call("policies", "--json").stdout)
    own = [name for name, entry in listed.items() if entry["own"]]
    assert own == _core.decisions()
    schema = outlast.scenario_schema()["$defs"]
    assert list(listed["gc"]["policies"]) == [option["const"] for option in schema["VictimPolicy"]["oneOf"]]
    for name, entry in listed.items():
        assert entry["policies"], name
        assert entry["about"], name
    text = call("policies", "gc").stdout
    assert "cost-benefit" in text
    assert "FILE:NAME" in text
    done = call("policies", "nothing", check=False)
    assert done.returncode == 2
    assert 'no decision "nothing"' in done.stderr


def test_who_asks_sees_what_the_cells_have_gone_through(weak: Path) -> None:
    seen: list[tuple[int, float, float, float]] = []

    @outlast.policies.sees_cells
    def looking(view: View) -> int | None:
        sealed = view.is_candidate
        assert (view.days[~sealed] == 0).all()
        if view.days.any():  # of preconditioning there is no time
            # The data is ten days old, or of the run.
            young = view.days[sealed] < 1
            assert (young | (np.abs(view.days[sealed] - 10) < 1e-3)).all()
            if young.any():
                assert view.errors[sealed][~young].mean() > view.errors[sealed][young].mean()
            seen.append((int(view.reads.max()), view.errors.max(), young.sum(), int(view.rereads.sum())))
        return view.least(view.valid)

    changes = {
        "device.reliability.initial": {"pe_cycles": 3000, "age": ["10d", "10d"]},
        "device.scrub": None,
        "workload.synthetic.read_percent": 50,
        "workload.synthetic.rate_iops": 6000,
    }
    own = outlast.run(weak, changes, policies={"gc": looking})
    assert measured(own) == measured(outlast.run(weak, changes))
    reads, errors, young, rereads = (list(column) for column in zip(*seen, strict=True))
    assert len(seen) > 10
    assert max(reads) > 0
    assert max(errors) > 0
    assert young[-1] > young[0]
    assert max(rereads) > 0

    told = r"view\.reads is there for policies under @outlast\.policies\.sees_cells"
    with pytest.raises(outlast.ScenarioError, match=told):
        outlast.run(weak, changes, policies={"gc": lambda view: int(view.reads.argmin())})
