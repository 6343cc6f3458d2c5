"""Does a run in steps give what `outlast.run` gives, and does what is done between two steps show?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from drives import geometry

SMALL: dict[str, Any] = {
    "seed": 11,
    "device": {
        "geometry": geometry(4, 64, 32, "16KiB", dies=2),
        "timing": {"read": "60us", "program": "700us", "erase": "3500us", "bus": "800MB/s"},
        "ftl": {"over_provisioning": 0.6, "spare_blocks": 4, "gc": {"policy": "d-choices"}},
        "protection": {"data": 7, "parity": 1},
        "controller": {"write_buffer": "2MiB"},
    },
    "precondition": {"overwrite": "random", "max_drive_writes": 1},
    "workload": {"synthetic": {"pattern": "uniform", "read_percent": 50, "queue_depth": 16, "requests": 12_000}},
}
AGED: dict[str, Any] = {
    "device": {
        "reliability": {
            "chip": "tlc-72-layer",
            "ecc": {"strength": 110},
            "initial": {"pe_cycles": 4000, "pe_spread": 200},
        },
        "scrub": {"age": "1d"},
    },
    "run": {"ageing": [{"at": "1ms", "by": "30d"}]},
}
ARRAY: dict[str, Any] = {"array": {"level": "raid5", "members": 4, "chunk": "64KiB"}}
COSTS = {"time": ["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"], "memory": ["peak_rss_mib"]}


def stripped(result: outlast.Result) -> str:
    """`result.json` as text, without what depends on the machine and the moment."""
    summary = json.loads(json.dumps(result.summary))
    for group, names in {**COSTS, "throughput": ["requests_per_cpu_s"]}.items():
        for name in names:
            del summary[group][name]
    summary["scenario"]["precondition"].pop("from", None)
    return json.dumps(summary, sort_keys=True)


def same_tables(one: outlast.Result, other: outlast.Result) -> bool:
    """True if all tables of two results are the same to the bit."""
    assert one.tables.keys() == other.tables.keys()
    pairs = [(own, other.tables[name][key]) for name, table in one.tables.items() for key, own in table.items()]
    return all(
        np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind == "f") for a, b in pairs
    )


@pytest.mark.parametrize("more", [[], [AGED], [ARRAY]], ids=["drive", "aged", "array"])
def test_a_run_in_steps_is_the_same_run(more: list[dict[str, Any]]) -> None:
    whole = outlast.run([SMALL, *more])
    sim = outlast.open([SMALL, *more])
    while not sim.advance(seconds=0.003, requests=1234).ended:
        assert sim.state.superblocks["valid_units"].sum() > 0
    stepped = sim.run()
    assert stripped(stepped) == stripped(whole)
    assert same_tables(stepped, whole)
    assert not stepped.summary["partial"]


def test_steps_stop_where_they_are_asked_to() -> None:
    sim = outlast.open(SMALL)
    assert (sim.now_ns, sim.requests, sim.ended) == (0, 0, False)
    assert sim.advance(requests=1000).requests == 1000
    before = sim.now
    assert before + 0.01 <= sim.advance(seconds="10ms").now < before + 0.02
    assert sim.finish().summary["partial"]
    with pytest.raises(outlast.DeviceError, match="the simulation is over"):
        sim.advance(requests=1)


def test_the_state_is_that_of_the_drive() -> None:
    sim = outlast.open(SMALL).advance(requests=6000)
    state = sim.state
    assert state.die_map().tolist() == [["good", "good"]] * 4
    assert (state.dies["busy_ns"] <= sim.now_ns).all()
    assert state.dies["busy_ns"].sum() > 0
    blocks = state.superblocks
    assert set(blocks["state"]) >= {"open", "sealed"}
    assert (blocks["valid_units"] <= blocks["units"]).all()
    # Each mapped unit is valid in one superblock, parity and what is being collected aside.
    unit = int(outlast.resolve(SMALL)["device"]["ftl"]["mapping_unit"].removesuffix("KiB")) * 1024
    moving = blocks["units"][blocks["state"] == "collecting"].sum()
    mapped = state.mapping["mapped_bytes"].sum() / unit
    assert mapped - moving <= blocks["valid_units"].sum() <= mapped
    assert state.mapping["bytes"].sum() == sim.capacity
    assert state.density().min() > 0.99
    # The mean of the blocks' cycles, twice.
    wear = state.wear
    for die, cycles in zip(state.dies["die"], state.dies["pe_cycles"], strict=True):
        assert cycles == pytest.approx(wear["cycles"][wear["die"] == die].mean())
    assert np.isnan(blocks["age_units"][blocks["state"] == "free"]).all()


def test_a_die_that_is_killed_is_found_and_given_up() -> None:
    sim = outlast.open(SMALL).advance(requests=2000)
    sim.inject({"kind": "die", "die": 3})
    assert sim.state.die_map()[1, 1] in ("failed", "given-up")
    result = sim.run()
    assert any("was injected" in note for note in result.summary["notes"])
    assert result.summary["host"]["errors"] == 0
    assert outlast.run(SMALL).summary["flash"] != result.summary["flash"]


def test_power_is_cut() -> None:
    volatile = {"device": {"controller": {"write_cache": "volatile"}}}
    sim = outlast.open([SMALL, volatile]).advance(requests=3000)
    sim.power_cut()
    result = sim.run()
    sim_errors = result.summary["host"]["errors"]
    assert 1 <= sim_errors <= 16, "what was in flight is aborted"


def test_a_request_of_ones_own() -> None:
    sim = outlast.open(SMALL).advance(requests=100)
    answer = sim.submit("read", 1 << 20, 4096)
    assert answer.outcome == "ok"
    assert answer.latency_us >= 60
    sim.submit("flush")
    host = sim.run().summary["host"]
    assert sum(host[kind] for kind in ("reads", "writes", "trims", "flushes")) == 12_000


@pytest.mark.parametrize("more", [[], [AGED], [ARRAY]], ids=["drive", "aged", "array"])
def test_a_run_from_a_snapshot_is_the_run_prepared_anew(tmp_path: Path, more: list[dict[str, Any]]) -> None:
    file = tmp_path / "prepared.outlast"
    first = outlast.open([SMALL, *more])
    assert first.snapshot(file) == file
    anew = outlast.run([SMALL, *more])
    for restored in (outlast.restore(file), outlast.restore(file, [SMALL, *more])):
        assert stripped(restored.run()) == stripped(anew)
    # What was written goes on as well.
    assert stripped(first.run()) == stripped(anew)
    outlast.snapshot([SMALL, *more], tmp_path / "again.outlast")
    assert (tmp_path / "again.outlast").read_bytes() == file.read_bytes()


def test_a_sweep_varies_what_does_not_shape_the_drive(tmp_path: Path) -> None:
    file = tmp_path / "aged.outlast"
    outlast.open([SMALL, AGED]).snapshot(file)
    start = {"precondition": {"from": str(file)}}
    values: dict[str, list[Any]] = {
        "device.ftl.gc.policy": ["greedy", "fifo"],
        "workload.synthetic.read_percent": [0, 50],
    }
    vary = [{"setting": name, "values": own} for name, own in values.items()]
    swept = outlast.sweep({"name": "aged", "scenario": [SMALL, AGED, start], "vary": vary}, tmp_path / "out", jobs=1)
    assert not swept.failed
    for row in swept.table().iter_rows(named=True):
        alone = outlast.restore(file, overrides={name: row[name] for name in values}).run()
        assert row["write_amplification.total"] == alone.write_amplification.total
        assert row["latency_us.write.p99"] == alone.latency_us.write.p99
    shapes = [{"setting": "device.controller.write_buffer", "values": ["1MiB", "2MiB"]}]
    with pytest.raises(outlast.ScenarioError, match=r"device\.controller\.write_buffer was .2MiB. when it was made"):
        outlast.sweep({"name": "other", "scenario": [SMALL, AGED, start], "vary": shapes}, tmp_path / "no", jobs=1)


@pytest.mark.parametrize("use", [lambda sim: sim.now, lambda sim: sim.state, lambda sim: sim.advance(requests=1)])
def test_a_function_that_a_step_calls_is_refused_the_simulation(use: Callable[[outlast.Simulation], object]) -> None:
    opened: list[outlast.Simulation] = []
    told: list[str] = []

    def progress(*_: object) -> bool:
        if opened:
            with pytest.raises(outlast.DeviceError) as caught:
                use(opened[0])
            told.append(str(caught.value))
        return not told

    endless = {"workload": {"synthetic": {"requests": None, "duration": "1h"}}}
    opened.append(outlast.open([SMALL, endless], progress=progress))
    opened[0].advance(seconds="1h")
    assert told[0] == "a call is under way, and the function that it called cannot use the same simulation or drive"
    assert opened[0].requests > 0


def test_a_simulation_that_is_over_is_not_summed_up_again() -> None:
    sim = outlast.open(SMALL)
    assert sim.run().summary["host"]["reads"] > 0
    for call in (sim.finish, sim.run, lambda: sim.submit("flush"), lambda: sim.inject({"kind": "power"})):
        with pytest.raises(outlast.DeviceError, match="the simulation is over"):
            call()


def test_bad_input_is_told_in_one_line(tmp_path: Path) -> None:
    sim = outlast.open(SMALL)
    file = tmp_path / "prepared.outlast"
    sim.snapshot(file)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: sim.advance(), "give seconds, requests or both"),
        (lambda: sim.advance(requests=-1), "requests = -1: must be a whole number"),
        (lambda: sim.advance(seconds=-1), "-1 s: a time must not be negative"),
        (lambda: sim.advance(seconds="soon"), "seconds: "),
        (lambda: sim.submit("erase"), "op = 'erase': must be one of read, write, trim, flush"),
        (lambda: sim.submit("read", 1, 512), "offset = 1: must be a multiple of 512"),
        (lambda: sim.submit("read", sim.capacity, 512), "reaches beyond the end"),
        (lambda: sim.submit("read", 0, 0), "length = 0"),
        (lambda: sim.inject({"kind": "die", "die": 99}), "die = 99"),
        (lambda: sim.inject({"kind": "die", "die": 1, "at": "1s"}), "fault.at = "),
        (lambda: sim.inject({"kind": "device", "device": 0}), "device"),
        (lambda: sim.state.die_map(5), "device = 5: no such drive"),
        (lambda: sim.advance(requests=5).snapshot(file), "has begun"),
        (lambda: outlast.restore(tmp_path / "none"), "cannot be read"),
        (lambda: outlast.restore(file, [SMALL, {"device": {"bytes": True}}]), "device.bytes was "),
        (lambda: outlast.open([SMALL, {"run": {"timing": "none"}}]).advance(requests=1), "run.timing = none"),
    ]
    for call, words in calls:
        with pytest.raises(outlast.OutlastError) as told:
            call()
        message = str(told.value)
        assert words in message, message
        assert len(message.splitlines()) == 1, message
    # What was refused has changed nothing.
    assert stripped(sim.run()) == stripped(outlast.run(SMALL))
