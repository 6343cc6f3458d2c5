"""Does code of the user's place writes as told, and does a published placement do what its paper says?"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import outlast
from conftest import call
from outlast.policies import View, Writes
from relocation_table import moved
from sepbit_table import SEPBIT, amplification
from test_policies import ARRAY, measured

MIB = 1 << 20
HOT = {
    "workload.synthetic.pattern": "hotcold",
    "workload.synthetic.read_percent": 30,
    "workload.synthetic.scramble": False,
    "workload.synthetic.hot_fraction": 0.25,
    "workload.synthetic.align": "4KiB",
    "device.ftl.streams": 2,
    "device.ftl.capacity": "24MiB",
}


def test_hints_of_a_placement_are_as_good_as_the_workloads_own(tiny: Path) -> None:
    theirs = outlast.run(tiny, HOT | {"workload.synthetic.hot_stream": 1, "workload.synthetic.cold_stream": 0})
    own = outlast.run(tiny, HOT, policies={"placement": lambda writes: writes.offset < 6 * MIB})
    assert len(theirs.latency_us.by_stream) == 2
    assert measured(own) == measured(theirs)
    # And it matters where data goes.
    assert measured(own) != measured(outlast.run(tiny, HOT))


@pytest.mark.parametrize("loop", ["open", "closed"])
def test_writes_are_what_they_say(tiny: Path, loop: str) -> None:
    seen: list[Writes] = []

    def place(writes: Writes) -> NDArray[np.uint16]:
        seen.append(writes)
        return writes.hint

    changes: dict[str, Any] = {
        "precondition.overwrite": "workload",
        "workload.synthetic.sizes": [{"size": "4KiB", "weight": 1}, {"size": "64KiB", "weight": 1}],
        "workload.synthetic.size": None,
    }
    if loop == "closed":
        changes |= {"workload.synthetic.rate_iops": None, "workload.synthetic.queue_depth": 4}
    result = outlast.run(tiny, changes, policies={"placement": place})
    assert measured(result) == measured(outlast.run(tiny, changes))

    def all_of(column: str) -> NDArray[Any]:
        return np.concatenate([getattr(writes, column) for writes in seen])

    size, offset, at = all_of("bytes"), all_of("offset"), all_of("at_ns")
    assert set(size) == {4096, 65536}
    assert offset.max() + 4096 <= 26 * MIB
    assert (all_of("written") == np.cumsum(size) - size).all(), "from the first pass of preconditioning on"
    assert (at == 0).all() == (loop == "closed")
    # How often each of 26 megabytes was written before. The first time that counts are halved is after more writes.
    assert 1000 < len(size) < 512 * 26
    counts, heat = np.zeros(26, dtype=int), all_of("heat")
    for index, place_of in enumerate((offset // MIB).astype(int)):
        expected = counts[place_of] * 26 / counts.sum() if counts[place_of] else 0.0
        assert heat[index] == pytest.approx(expected, rel=1e-6), index
        counts[place_of] += 1


WRONG: dict[str, tuple[Callable[[Writes], Any], str]] = {
    "too few": (lambda writes: writes.hint[1:], r"returned \d+ hints for \d+ writes"),
    "no numbers": (lambda writes: writes.offset / 2, "returned float64: hints are whole numbers"),
    "too large": (lambda writes: writes.offset, r"returned hints from \d+ to \d+: must be 0 to 65535"),
    "raises": (lambda writes: vars(writes)["colour"], "KeyError: .colour."),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_makes_no_sense_ends_the_run_with_one_line(tiny: Path, wrong: str) -> None:
    policy, told = WRONG[wrong]
    with pytest.raises(outlast.OutlastError) as error:
        outlast.run(tiny, policies={"placement": policy})
    message = str(error.value)
    assert "\n" not in message
    assert re.search(r"policies.placement = .*test_placement.py:<lambda>: " + told, message), message


def test_jobs_of_fio_and_shared_libraries_are_refused(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[job]\nrw=randwrite\nbs=4k\nsize=4m\n")
    fio = tmp_path / "fio.toml"
    fio.write_text(f'extends = "{tiny}"\nworkload.synthetic = {{}}\n')
    done = call(
        "run",
        tiny,
        f"--set=policies.placement={SEPBIT}:sepbit.place",
        "--set=workload={fio = {file = 'job.fio'}}",
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    done = call("run", tiny, "--set=policies.placement=mine.so:place", cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "this is decided by Python" in done.stderr


def test_sepbit_gains_with_skew_and_nothing_without(tmp_path: Path) -> None:
    # The abstract (FAST 2022): lifetimes are inferred from the skew of writes, and less is amplified than by placements
    # before it. So under uniform writes there is nothing to infer; the more skewed writes are, the more is gained. That
    # a stream for collection alone (SepGC) lies between is what its ordering means, not a figure of the paper.
    # A claim of order holds if every seed of one is below all of the other. After four drive writes seeds differ by 1 %
    # at most, and what is compared by 2 % at least.
    seeds = (1, 2, 3)
    found = {
        (theta, way): [
            amplification("zipf" if theta else "uniform", theta or 1.0, seed, way, requests=50_000, blocks=128)
            for seed in seeds
        ]
        for theta in (0.0, 0.6, 0.8, 1.0)
        for way in ("nosep", "sepgc", "sepbit")
    }
    for theta in (0.6, 0.8, 1.0):
        assert max(found[theta, "sepbit"]) < min(found[theta, "sepgc"]), found
    for theta in (0.8, 1.0):
        assert max(found[theta, "sepgc"]) < min(found[theta, "nosep"]), found
    gains = [
        [1 - own / base for own, base in zip(found[theta, "sepbit"], found[theta, "nosep"], strict=True)]
        for theta in (0.6, 0.8, 1.0)
    ]
    assert all(max(less) < min(more) for less, more in pairwise(gains)), gains
    # The second open superblock is one of some twenty that are spare; collection misses a part of it, 0.8 % at most.
    for own, base in zip(found[0.0, "sepbit"], found[0.0, "sepgc"], strict=True):
        assert own / base == pytest.approx(1, abs=0.02), found


def test_sepbit_is_written_in_under_eighty_lines() -> None:
    code = [line for line in SEPBIT.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(code) < 80


def test_a_drive_in_service_takes_no_code_of_the_users(tiny: Path) -> None:
    with pytest.raises(outlast.ScenarioError, match=r"is code of your own, which only .* can load"):
        outlast.Drive(tiny, {"policies.gc": f"{SEPBIT}:sepbit.collect"})


def test_how_often_scrubbing_asks_is_for_who_is_asked(weak: Path) -> None:
    with pytest.raises(outlast.ScenarioError, match=r"device\.scrub\.own = 5ms: is how often policies\.scrub is asked"):
        outlast.run(weak, {"device.scrub": {"own": "5ms"}})
    resolved = outlast.resolve(weak, {"policies.scrub": f"{SEPBIT}:sepbit.collect"})
    assert resolved["device"]["scrub"]["own"] == "10ms"


def test_where_parity_lies_can_be_written_out(tiny: Path) -> None:
    # Left-symmetric as in md(4): parity moves from the last member towards the first, data follows it.
    rows = [[(4 - stripe + place) % 4 for place in range(4)] for stripe in range(4)]
    named = outlast.run(tiny, ARRAY | {"array.layout": "left-symmetric"})
    written = outlast.run(tiny, ARRAY | {"array.table": rows})
    assert measured(written) == measured(named)
    first = outlast.run(tiny, ARRAY | {"array.table": rows[:1]})
    assert measured(first) == measured(outlast.run(tiny, ARRAY | {"array.layout": "parity-last"}))
    assert measured(first) != measured(named)


def test_a_run_in_steps_has_policies_too(tiny: Path) -> None:
    seen: list[int] = []

    def emptiest(view: View) -> int | None:
        seen.append(view.clock)
        return view.least(view.valid)

    with_steps = outlast.open(tiny, policies={"gc": emptiest})
    before = len(seen)
    while not with_steps.ended:
        with_steps.advance(requests=500)
    own = with_steps.run()
    assert len(seen) > before + 10
    assert measured(own) == measured(outlast.run(tiny, {"policies.gc": "greedy"}))
    assert own.summary["policies"]["gc"]["name"].endswith("emptiest")

    def fails_late(view: View) -> int | None:
        return 1 // 0 if len(seen) > before + 5 else emptiest(view)

    seen.clear()
    late = outlast.open(tiny, policies={"gc": fails_late})
    with pytest.raises(outlast.ScenarioError, match="ZeroDivisionError"):
        late.run()


def test_relocation_into_the_hosts_stream_costs_what_separation_gains() -> None:
    more = {
        (pattern, policy): moved(policy, "host", pattern, 1) / moved(policy, "own", pattern, 1)
        for pattern in ("uniform", "hotcold")
        for policy in ("greedy", "cost-benefit")
    }
    assert max(more["uniform", "greedy"], more["uniform", "cost-benefit"]) < 1.05
    assert 1.15 < more["hotcold", "greedy"] < 1.4
    assert more["hotcold", "cost-benefit"] > 2
