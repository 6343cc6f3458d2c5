"""Is what a run will cost told before it is run, within a factor of two of what is then counted?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast as api
from conftest import Outlast
from outlast import Estimate, Result
from outlast.costs import span

WITHIN = 2.0
"""The factor that `outlast validate` and the guide promise of counts."""
FEW = 2000
"""Operations too few to be a cost."""

CLOSED = {
    "workload.synthetic.rate_iops": None,
    "workload.synthetic.arrival": None,
    "workload.synthetic.duration": "500ms",
}
DEEP = CLOSED | {"workload.synthetic.queue_depth": 64}
LARGE = {"workload.synthetic.size": "128KiB", "workload.synthetic.rate_iops": 3000, "workload.synthetic.duration": "5s"}
ENDED = {"workload.synthetic.requests": 50_000, "workload.synthetic.duration": None}

FAILED = {"workload.synthetic.duration": "2s", "faults": '[{at="1s", device=2, kind="device"}]'}

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "demo": ("demo", {}),
    "demo, reads of one at a time": ("demo", CLOSED | {"workload.synthetic.read_percent": 100}),
    "demo, reads of many at once": ("demo", DEEP | {"workload.synthetic.read_percent": 100}),
    "demo, a mix at full speed": ("demo", DEEP),
    "demo, random writes at full speed": ("demo", DEEP | {"workload.synthetic.read_percent": 0}),
    "demo, few requests": ("demo", ENDED),
    "demo, on a tenth": ("demo", {"workload.synthetic.span": "10%", "precondition.overwrite": "workload"}),
    "demo, fresh": ("demo", {"precondition.fill": "none", "precondition.overwrite": "none"}),
    "demo, 28 % spare": ("demo", {"device.ftl.capacity": "3GiB"}),
    "array-raid5-5": ("array-raid5-5", {}),
    "array-raid5-5 as RAID-6": ("array-raid5-5", {"array.level": "raid6"}),
    "die-repair": ("die-repair", {"faults": []}),
    "flexible-8cards": ("flexible-8cards", {}),
    "peers-32g": ("peers-32g", {"workload.synthetic.requests": 200_000}),
    "serve-drive": ("serve-drive", {}),
    "demo, overwritten by its workload": ("demo", {"precondition.overwrite": "workload"}),
    "demo, large requests": ("demo", LARGE),
    "demo, contents": ("demo", ENDED | {"device.bytes": True}),
    "demo, parity": ("demo", ENDED | {"device.protection.parity": 1, "device.ftl.capacity": "3200MiB"}),
    "array-raid5-5 as RAID-10": ("array-raid5-5", {"array.level": "raid10", "faults": []}),
    "array-raid5-5 as RAID-1": ("array-raid5-5", {"array.level": "raid1", "faults": []}),
}

COSTS: dict[str, tuple[str, dict[str, Any], float]] = {
    "demo": ("demo", {}, 1.0),
    "demo, errors": ("demo", {"device.reliability.chip": "tlc-72-layer"}, 1.2),
    "demo, contents": ("demo", {"device.bytes": True}, 4.1),
    "demo, causes": ("demo", {"run.causes": True}, 1.9),
    "demo, 32 times as large": (
        "demo",
        {"device.geometry.blocks_per_plane": 4096, "device.ftl.capacity": "112GiB"},
        10,
    ),
    "peers-32g": ("peers-32g", {}, 8.0),
    "x25m-80g": ("x25m-80g", {}, 7.9),
    "msapl-128g": ("msapl-128g", {}, 16.0),
    "array-raid5-5": ("array-raid5-5", {}, 3.9),
    "array-raid5-5 as RAID-6": ("array-raid5-5", {"array.level": "raid6", "faults": []}, 3.9),
    "die-repair": ("die-repair", {}, 6.5),
    "all-five": ("all-five", {}, 4.6),
    "pm1643-raid5": ("pm1643-raid5", {}, 1.4),
    "pm1643-raid5, by a rebuild": ("pm1643-raid5", {"array.repair.way": "rebuild"}, 17.0),
    "array-raid5-5, a member fails": ("array-raid5-5", FAILED, 2.6),
}
"""Presets, changes, and the processor time of the run in those of `demo`, as `python tests/estimated.py` printed it."""


def prepared_units(result: Result) -> float:
    """Mapping units programmed while the drive was prepared, by the table of its rounds."""
    settings, units = result.summary["scenario"]["precondition"], result.summary["device"]["units"]
    filled = units * settings["fill_fraction"] if settings["fill"] != "none" else 0.0
    rounds = result.tables["precondition"]
    amounts = np.diff(np.asarray(rounds["drive_writes"], dtype=float), prepend=0.0)
    return float(filled + np.sum(amounts * np.asarray(rounds["write_amplification"])) * units)


@pytest.mark.parametrize("name", CASES)
def test_counts_are_told_within_a_factor_of_two(name: str) -> None:
    preset, changes = CASES[name]
    changes = changes | {"run.warm_up": "0s"}
    told, done = api.estimate(preset, changes), api.run(preset, changes)
    host, flash = done.summary["host"], done.summary["flash"]
    requests = sum(host[key] for key in ("reads", "writes", "trims", "flushes"))
    for what, expected, counted in (
        ("requests", told.requests, requests),
        ("units to prepare", told.prepared_units, prepared_units(done)),
        ("pages read", told.flash_reads, flash["reads"]),
        ("pages programmed", told.flash_programs, flash["programs"]),
    ):
        few = max(expected, counted) < FEW
        assert few or 1 / WITHIN <= expected / max(counted, 1) <= WITHIN, f"{what}: {expected} told, {counted} counted"


@pytest.mark.parametrize("name", COSTS)
def test_what_costs_more_is_told_to_cost_more(name: str) -> None:
    # By ratios, so that no clock decides: how fast this computer is, is in both.
    preset, changes, measured = COSTS[name]
    told = api.estimate(preset, changes).cpu_s / api.estimate("demo").cpu_s
    assert measured / WITHIN <= told <= measured * WITHIN, f"{told:.2f} times told, {measured} times measured"


def test_a_trace_is_told_by_its_beginning(tmp_path: Path) -> None:
    lines = "".join(f"{100 * i} 0 {i * 7919 % 100_000 * 8} 8 {i % 2}\n" for i in range(60_000))
    (tmp_path / "long.txt").write_text(lines)
    trace = {"workload.trace.file": str(tmp_path / "long.txt"), "workload.synthetic": None, "run.warm_up": "0s"}
    told, done = api.estimate("demo", trace), api.run("demo", trace)
    counted = done.host.reads + done.host.writes
    assert counted == 60_000
    assert 1 / WITHIN <= told.requests / counted <= WITHIN


def test_a_request_of_a_trace_is_told_to_cost_more_than_one_that_is_drawn(tmp_path: Path) -> None:
    lines = "".join(f"{100 * i} 0 {i * 7919 % 100_000 * 8} 8 {i % 2}\n" for i in range(60_000))
    (tmp_path / "long.txt").write_text(lines)
    prepared: dict[str, Any] = {"precondition.overwrite": "workload"}
    trace = {"workload.trace.file": str(tmp_path / "long.txt"), "workload.synthetic": None}
    drawn = api.estimate(
        "demo", prepared | {"workload.synthetic.read_percent": 50, "workload.synthetic.span": "400000KiB"}
    )
    read = api.estimate("demo", prepared | trace)
    assert read.prepared_units == pytest.approx(drawn.prepared_units, rel=0.1)
    # 3.5 to 3.8 times were measured.
    assert 3.6 / WITHIN <= read.precondition_cpu_s / drawn.precondition_cpu_s <= 3.6 * WITHIN


def test_twice_the_time_costs_twice_as_much() -> None:
    short, long = (api.estimate("demo", {"workload.synthetic.duration": f"{s}s"}) for s in (50, 100))
    own = [each.cpu_s - each.precondition_cpu_s for each in (short, long)]
    assert own[1] / own[0] == pytest.approx(2, rel=0.05)
    assert short.precondition_cpu_s == long.precondition_cpu_s > 0


def test_what_is_wrong_is_refused_as_by_a_run(tmp_path: Path) -> None:
    with pytest.raises(api.ScenarioError, match=r"device\.geometry\.channels"):
        api.estimate("demo", {"device.geometry.channels": 0})


def test_the_command_says_it(outlast: Outlast) -> None:
    said = outlast("validate", "demo").stdout
    assert said.startswith("demo: ok; needs about ") and said.rstrip().endswith("of processor time")
    table = outlast("validate", "demo", "--estimate").stdout
    found = json.loads(outlast("validate", "demo", "--estimate", "--json").stdout)
    told = api.estimate("demo")
    # Times are those of this moment; all else is of the scenario.
    assert Estimate(**found | {"cpu_s": told.cpu_s, "precondition_cpu_s": told.precondition_cpu_s}) == told
    assert f"{found['prepared_units']:,}" in table and f"{found['flash_reads']:,}" in table
    assert "workload" in json.loads(outlast("validate", "demo", "--json").stdout)
    assert outlast("validate", "demo", "--estimate", "--toml", check=False).returncode == 2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.3, "less than a second"), (2.4, "about 2 s"), (87, "about 90 s"), (100, "about 2 min"), (3000, "about 50 min"),
     (5990, "about 100 min"), (6000, "about 2 h"), (400_000, "about 100 h")],
)  # fmt: skip
def test_times_are_told_by_one_digit(seconds: float, words: str) -> None:
    assert span(seconds) == words
