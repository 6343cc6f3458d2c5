"""Do intervals of fleets hold what they say, and does every study end, or is refused?"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast import fleet
from outlast.fleet import outages
from outlast.fleet.reading import with_changes

SEEDS = 60
CASES: dict[str, dict[str, Any]] = {
    "1e-6": {"drive": {"afr": 0.08}, "code": {"data": 4, "parity": 2}, "repair": {"hours": 60}},
    "1e-12": {"drive": {"afr": 0.01}, "code": {"data": 6, "parity": 3}, "repair": {"hours": 50}},
}


def of_one_group(case: dict[str, Any], **study: Any) -> dict[str, Any]:
    """A group that a chain describes, too."""
    pieces = case["code"]["data"] + case["code"]["parity"]
    return {
        "years": 1,
        **case,
        "cluster": {"drives": pieces},
        "placement": {"kind": "aligned"},
        "repair": case["repair"] | {"detection_hours": 0.0, "distribution": "exponential"},
        "study": {"lives": 3, "elasticities": False} | study,
    }


@pytest.mark.parametrize(("engine", "paths"), [("splitting", 1000), ("biasing", 100)])
@pytest.mark.parametrize("case", CASES)
def test_nine_intervals_of_ten_hold_the_exact_value(case: str, engine: str, paths: int) -> None:
    """The number of paths is decided by what a pilot run finds."""
    exact = fleet.study(of_one_group(CASES[case], engine="exact"))["loss_by_year"][-1]["group"]["mean"]
    assert exact == pytest.approx(float(case), rel=0.7)
    held = narrow = 0
    for seed in range(1, SEEDS + 1):
        said = of_one_group(CASES[case], engine=engine, paths=paths) | {"seed": seed}
        found = fleet.study(said)["loss_by_year"][-1]["group"]
        held += found["low"] <= exact <= found["high"]
        narrow += found["high"] - found["mean"] <= 0.1 * found["mean"]
    assert held >= 0.9 * SEEDS and narrow >= 0.7 * SEEDS, f"{held} held, {narrow} narrow, of {SEEDS}"


WIDE: dict[str, dict[str, Any]] = {
    "frailty": {"drive": {"frailty": 25.0}},
    "retired": {"drive": {"retire_years": 1e-4}},
    "one of 64": {"cluster": {"drives": 64}, "code": {"data": 1, "parity": 63}},
    "wide lrc": {
        "cluster": {"drives": 64},
        "code": {"kind": "lrc", "data": 32, "local": 16, "global": 16},
        "drive": {"afr": 0.5},
    },
    "few events": {"study": {"most_events": 1e3}},
    "many paths": {"study": {"paths": 10**8}},
    "narrow": {"study": {"relative_error": 1e-3}},
}


@pytest.mark.parametrize("engine", ["splitting", "biasing"])
@pytest.mark.parametrize("name", WIDE)
def test_a_study_takes_its_events_at_most_or_is_refused(name: str, engine: str) -> None:
    said: dict[str, Any] = {"years": 5, **WIDE[name]}
    most = 3e5
    said["study"] = {"most_events": most, "lives": 3, "elasticities": False, "engine": engine} | said.get("study", {})
    try:
        result = fleet.study(said)
    except outlast.ScenarioError as error:
        assert name in ("retired", "few events", "one of 64", "wide lrc"), error
        assert f"study.most_events = {said['study']['most_events']}: " in str(error) and "fewer" in str(error)
    else:
        assert 0 < result["engine"]["events"] <= most and result["life"]["events"] <= 3 * most


def test_a_life_that_takes_too_many_events_is_refused() -> None:
    plan = fleet.planned(fleet.read({"cluster": {"drives": 100}, "drive": {"afr": 0.999999}, "repair": {"hours": 1}}))
    assert plan.plan.life(2, 8760.0, 1, 0, 1 << 40) is not None
    assert plan.plan.life(2, 8760.0, 1, 0, 1 << 16) is None
    assert plan.plan.rare("splitting", 10, 1, 8760.0, 1, [0], 10) is None


def unread(code: dict[str, Any], out: float) -> float:
    """Probability that pieces of a group that are each out by themselves make it unreadable, set by set."""
    plan = fleet.planned(fleet.read({"cluster": {"drives": 1, "nodes": 40}, "code": code}))
    width = plan.layout.width
    return sum(
        out**number * (1.0 - out) ** (width - number)
        for number in range(width + 1)
        for pieces in itertools.combinations(range(width), number)
        if plan.plan.is_lost(sum(1 << piece for piece in pieces))
    )


@pytest.mark.parametrize(
    "code",
    [
        {"kind": "lrc", "data": 6, "local": 2, "global": 2},
        {"kind": "product", "rows": 3, "columns": 4, "row_parity": 1, "column_parity": 1},
        {"data": 4, "parity": 2},
    ],
)
def test_outages_use_the_sets_that_a_code_survives(code: dict[str, Any]) -> None:
    said = {
        "cluster": {"drives": 1, "nodes": 40},
        "code": code,
        "outages": [{"scope": "node", "per_year": 8760 * 0.1 / 0.9, "hours": 1.0}],
    }
    assert outages.unavailable(fleet.planned(fleet.read(said))) == pytest.approx(unread(code, 0.1), rel=1e-9)


def test_a_rack_takes_the_pieces_that_it_holds() -> None:
    """Two racks of three nodes, LRC(2,1,1) with nodes apart: the same by adding up all sets of domains that are out."""
    said = {
        "cluster": {"racks": 2, "nodes": 3, "drives": 1},
        "code": {"kind": "lrc", "data": 2, "local": 1, "global": 1},
        "placement": {"pieces": 2, "apart": "node"},
        "outages": [
            {"scope": "node", "per_year": 8760 * 0.1 / 0.9, "hours": 1.0},
            {"scope": "rack", "per_year": 8760 * 0.2 / 0.8, "hours": 1.0},
        ],
    }
    plan = fleet.planned(fleet.read(said))
    layout, total = plan.layout, 0.0
    for group in range(layout.count):
        nodes = [layout.node[drive] for drive in layout.groups[group * 4 : group * 4 + 4]]
        for state in itertools.product((False, True), repeat=8):
            p = 1.0
            for index, is_out in enumerate(state):
                share = 0.1 if index < 6 else 0.2
                p *= share if is_out else 1.0 - share
            missing = [place for place, node in enumerate(nodes) if state[node] or state[6 + layout.rack[node]]]
            total += p * plan.plan.is_lost(sum(1 << place for place in missing))
    assert outages.unavailable(plan) == pytest.approx(total / layout.count, rel=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        "name=" + "x" * 1001,
        "name=a\0b",
        "name=\udcff",
        "drive.result=" + "x" * 5000,
        "drive.afr=" + "9" * 5000,
        "drive.afr=" + "[" * 100_000,
        "drive." + "x" * 100_000 + "=1",
        "drive.afr=1e999",
        'bursts={"scope": "node"}',
        "bursts=[1]",
        "drive.afr={}",
        "study.paths=true",
        "a.b.c=1",
        "\u202edrive.afr=1",
        ".=1",
        "drive.=1",
        ".afr=1",
    ],
    ids=lambda change: ascii(change[:24]),
)
def test_hostile_changes_are_refused_in_one_line(change: str) -> None:
    settings = fleet.read({"years": 1})
    with pytest.raises(outlast.ScenarioError) as refused:
        fleet.planned(with_changes(settings, (change,)))
    said = str(refused.value)
    assert len(said.splitlines()) == 1 and len(said) < 6000 and said.isprintable(), ascii(said[:200])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("years = 3\n".encode("utf-16"), "not UTF-8"),
        ("years = 3\n".encode("utf-16-le"), "fleet.toml: "),
        ("years = 3\n".encode("utf-32"), "not UTF-8"),
        (b"years = 3\n\0", "fleet.toml: "),
        (b'name = "a\0b"\n', "fleet.toml: "),
        (b'name = "a\\u0000b"\n', ":1: name = "),
        (b'name = "' + b"x" * 1001 + b'"\n', ":1: name = xxx"),
        (b"\xff\xfe\xfd", "not UTF-8"),
    ],
)
def test_files_in_other_encodings_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "fleet.toml").write_bytes(data)
    with pytest.raises(outlast.ScenarioError) as refused:
        fleet.read(tmp_path / "fleet.toml")
    said = str(refused.value)
    assert message in said and len(said.splitlines()) == 1 and said.isprintable()


def test_a_path_with_a_zero_byte_is_refused() -> None:
    with pytest.raises(outlast.ScenarioError, match="cannot be read"):
        fleet.read("a\0b.toml")


def test_a_rebuild_is_as_fast_before_the_end_of_the_warm_up_as_after_it(tmp_path: Path) -> None:
    """Bytes and time are both counted from its start; more load makes it no faster."""
    small = {
        "device.geometry.channels": 2,
        "device.geometry.blocks_per_plane": 16,
        "device.ftl.capacity": "48MiB",
        "workload.synthetic.duration": "3s",
    }

    def rebuilt(at: str, iops: int) -> dict[str, Any]:
        fault = {"at": at, "device": 2, "kind": "device"}
        run = outlast.run("array-raid5-5", small | {"workload.synthetic.rate_iops": iops, "faults": [fault]})
        return dict(json.loads(json.dumps(run.summary["array"]["rebuild"])))

    early, late = rebuilt("200ms", 100), rebuilt("1500ms", 100)
    assert early["bytes_written"] == pytest.approx(late["bytes_written"], rel=0.01)
    assert early["rate_mib_s"] == pytest.approx(late["rate_mib_s"], rel=0.03)
    assert rebuilt("200ms", 4000)["rate_mib_s"] < early["rate_mib_s"]


def test_a_fleet_whose_crew_repairs_what_contagion_brings_is_counted() -> None:
    """One group alone does not show which drives its failures bring elsewhere, which the crew repairs first."""
    said: dict[str, Any] = {
        "years": 1,
        "cluster": {"racks": 3, "nodes": 4, "drives": 2},
        "code": {"data": 3, "parity": 1},
        "drive": {"afr": 0.05},
        "placement": {"kind": "declustered", "pieces": 10, "apart": "node"},
        "repair": {"mode": "serial", "hours": 200, "detection_hours": 1},
        "contagion": [{"scope": "node", "probability": 0.4, "window_hours": 0.5}],
        "study": {"lives": 50, "elasticities": False},
    }
    engine = fleet.study(said)["engine"]
    assert engine["losses"] == "crude"
    assert engine["reason"] == "one crew repairs what contagion brings: 50 fleets were played"
    for asked in ("splitting", "biasing"):
        with pytest.raises(outlast.ScenarioError, match=f'study.engine = {asked}: must be "auto" or "crude"'):
            fleet.study(said | {"study": {"engine": asked}})
    # Without either of the two one group stands for all.
    withouts: list[dict[str, Any]] = [{"repair": said["repair"] | {"mode": "parallel"}}, {"contagion": []}]
    for without in withouts:
        quick = {"study": said["study"] | {"relative_error": 0.5}}
        assert fleet.study(said | without | quick)["engine"]["losses"] == "splitting"
