"""Is a drive that is too warm explained by its heat, and does a Crucial T700 get as warm and as slow as reviewed?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import ROOT, Outlast
from test_explain import WRITES

ENERGY = {"active_watts": 3.0, "idle_watts": 1.0}
HEAT = {
    "controller_to_case": 10.0,
    "case_to_air": 10.0,
    "controller_capacity": 1e-3,
    "case_capacity": 1e-3,
    "every": "1ms",
}
STEP = {"from": 70.0, "until": 65.0, "rate": "1MB/s"}


def test_a_crucial_t700_is_as_warm_and_as_slow_as_reviewed(outlast: Outlast, tmp_path: Path) -> None:
    outlast("reproduce", "heat", "--quick", "--out", tmp_path / "out")
    book = json.loads((tmp_path / "out" / "reproduction.json").read_text(encoding="utf-8"))
    (figure,) = book["papers"][0]["figures"]
    assert [own for own in figure["statements"] if own["verdict"] != "agrees"] == []
    kinds = [own["kind"] for own in figure["statements"]]
    assert kinds.count("calibrated") == 5, "what is fitted, given or assumed does not count as agreement"


def test_the_example_sets_each_setting_and_rests_in_its_pause() -> None:
    run = outlast.run(ROOT / "scenarios" / "examples" / "heat.toml")
    energy = run.summary["energy"]
    parts = ("controller_joules", "die_joules", "channel_joules", "link_joules")
    assert energy["joules"] == pytest.approx(sum(energy[name] for name in parts))
    assert energy["joules"] == pytest.approx(energy["mean_watts"] * run.summary["time"]["simulated_s"], rel=1e-3)
    assert energy["wakes"] == 1
    assert energy["heat"]["throttles"] > 1
    over_time = run.table("energy_over_time")
    # The row that covers the pause: 0.1 s at 1 W, 0.9 s at 0.07 W and 2 s at 0.01 W.
    assert 0.05 < min(over_time["watts"].to_list()) < 0.07
    assert max(over_time["controller_celsius"].to_list()) <= energy["heat"]["hottest_celsius"]


def test_heat_is_named_where_it_limits(tiny: Path) -> None:
    warm = WRITES | {"device.energy": ENERGY, "device.heat": HEAT | {"throttle": [STEP]}, "run.causes": True}
    found = outlast.explain(tiny, warm)
    assert found.limit.name == "heat"
    assert found.sentences[0].text.startswith("Heat limits the rate")
    sentence = next(own for own in found.sentences if own.about == "heat")
    assert sentence.text.startswith("Heat limits the host")
    assert sentence.figures["energy.heat.throttled_share"] > 0.5
    assert sentence.figures["latency_causes.write.mean_ns.throttle"] > 0
    cool = outlast.explain(tiny, WRITES | {"device.energy": ENERGY, "device.heat": HEAT})
    assert cool.limit.name != "heat"
    assert "Heat limits" not in str(cool)
    assert not [own for own in outlast.explain(tiny, WRITES).sentences if own.about == "heat"]


def test_waking_up_is_named_where_most_of_the_time_goes_there(tiny: Path) -> None:
    states = [{"after": "1ms", "watts": 0.1, "exit": "5ms"}]
    slow = {"workload.synthetic.rate_iops": 50, "workload.synthetic.read_percent": 100, "run.causes": True}
    found = outlast.explain(tiny, slow | {"device.energy": ENERGY | {"states": states}})
    sentence = next(own for own in found.sentences if own.about == "heat")
    assert "waking up from rest" in sentence.text


def test_a_run_ends_with_a_message_where_a_drive_keeps_itself_too_warm_to_serve_its_host(tiny: Path) -> None:
    # The map is written 200 times a second, also while the host is kept out: many events, none of which is the host's.
    warm = WRITES | {
        "device.energy": ENERGY | {"die_watts": 1000.0},
        "device.heat": HEAT | {"case_capacity": 10.0, "shutdown": {"from": 60.0, "until": 46.0}},
        "device.ftl.map_flush": {"interval": "5ms", "entry": "8B", "dirty_only": False},
    }
    with pytest.raises(outlast.WorkloadError) as ended:
        outlast.run(tiny, warm)
    assert "none completes" in str(ended.value)
    assert "device.heat.shutdown = { from = 60, until = 46 } keeps the host out all that time" in str(ended.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"device.heat": HEAT}, "device.energy"),
        ({"device.energy": ENERGY | {"idle_watts": 4.0}}, "device.energy.active_watts = 3"),
        ({"device.energy": ENERGY | {"die_watts": -1.0}}, "device.energy.die_watts = -1"),
        ({"device.energy": ENERGY, "device.heat": HEAT | {"every": "1us"}}, "between 100us and 10s"),
        ({"device.energy": ENERGY, "device.heat": HEAT | {"throttle": [STEP, STEP]}}, "device.heat.throttle[1].from"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tiny: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(outlast.ScenarioError) as refused:
        outlast.run(tiny, changes)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
