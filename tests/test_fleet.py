"""Does `outlast fleet` find what exact chains, arithmetic and counting find, and refuse what makes no sense?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast import fleet, models
from outlast.fleet.reading import with_changes

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "scenarios" / "fleet"
YEAR = 8760.0


def small(**tables: Any) -> dict[str, Any]:
    """Twenty groups of RS(6,3) on drives of their own, with exponential repair within a day."""
    whole: dict[str, Any] = {
        "years": 1,
        "cluster": {"racks": 9, "nodes": 2, "drives": 10},
        "drive": {"afr": 0.01},
        "code": {"data": 6, "parity": 3},
        "placement": {"kind": "aligned", "apart": "rack"},
        "repair": {"detection_hours": 0, "hours": 24, "distribution": "exponential"},
        "study": {"lives": 3, "elasticities": False},
    }
    for name, table in tables.items():
        whole[name] = {**whole.get(name, {}), **table} if isinstance(table, dict) else table
    return whole


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outlast", "fleet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("mode", "expected"), [("parallel", 1.051855214e-13), ("serial", 6.290161634e-13)])
def test_a_chain_is_used_where_it_is_exact(mode: str, expected: float) -> None:
    result = fleet.study(small(repair={"mode": mode}))
    year = result["loss_by_year"][0]
    assert result["engine"]["losses"] == "exact"
    assert result["fleet"]["groups"] == 20
    assert year["group"]["mean"] == pytest.approx(expected, rel=1e-9)
    assert year["fleet"]["mean"] == pytest.approx(20 * expected, rel=1e-9)
    assert year["fleet"]["kind"] == "groups are independent"


@pytest.mark.parametrize("engine", ["splitting", "biasing"])
def test_rare_methods_agree_with_the_chain(engine: str) -> None:
    exact = fleet.study(small())["loss_by_year"][0]["group"]["mean"]
    found = fleet.study(small(study={"engine": engine}))["loss_by_year"][0]["group"]
    assert found["mean"] == pytest.approx(exact, rel=0.1)
    assert (found["high"] - found["mean"]) <= 0.1 * found["mean"]
    assert found["low"] < found["mean"] < found["high"]


def test_unreadable_data_have_the_share_of_the_chain() -> None:
    said = small(drive={"afr": 0.01, "uber": 1e-16}, code={"data": 6, "parity": 1})
    exact = fleet.study(said)
    found = fleet.study({**said, "study": {"engine": "splitting", "lives": 3, "elasticities": False}})
    bits = exact["fleet"]["piece_bytes"] * 6 * 8
    assert exact["fleet"]["read_failure"] == pytest.approx(models.read_failure(1e-16, bits), rel=1e-9)
    assert found["loss_by_year"][0]["group"]["mean"] == pytest.approx(
        exact["loss_by_year"][0]["group"]["mean"], rel=0.1
    )
    assert found["causes"]["unreadable"] > 0.5


def test_what_no_chain_describes_is_simulated_and_the_reason_is_given() -> None:
    result = fleet.study(small(placement={"kind": "declustered", "pieces": 20, "apart": "node"}))
    assert result["engine"]["losses"] == "splitting"
    assert "groups share drives" in result["engine"]["reason"]
    assert result["loss_by_year"][0]["fleet"]["kind"] == "at most"
    with pytest.raises(outlast.ScenarioError, match="no chain describes this fleet: groups share drives"):
        fleet.study(small(placement={"kind": "declustered"}, study={"engine": "exact"}))


def test_counting_agrees_where_losses_are_frequent() -> None:
    """Drives that fail often: whole fleets are counted, and agree with splitting of single groups."""
    said = small(
        drive={"afr": 0.5},
        code={"data": 4, "parity": 1},
        repair={"hours": 200, "distribution": "fixed"},
        study={"lives": 300, "elasticities": False},
    )
    result = fleet.study(said)
    groups = result["loss_by_year"][0]["groups_lost"]
    counted = result["life"]["groups_lost"] / 300
    assert result["life"]["groups_lost"] > 400
    # Groups that are lost again are counted again: the second loss is as probable as the first.
    assert counted == pytest.approx(groups["mean"], rel=0.15)
    assert result["loss_by_year"][0]["counted"]["with_loss"] > 100


def test_failures_and_traffic_of_a_year() -> None:
    result = fleet.study(small(study={"lives": 200, "elasticities": False}))
    life = result["life"]
    expected = 180 * float(models.failure_rate(0.01)) * YEAR
    assert life["drives_failed_a_year"] == pytest.approx(expected, rel=0.15)
    piece = result["fleet"]["piece_bytes"]
    assert piece == 7e12 and result["fleet"]["user_bytes"] == 20 * 6 * piece
    assert life["rebuild_bytes_a_year"] == pytest.approx(life["drives_failed_a_year"] * 7 * piece, rel=0.05)
    assert sum(life["days_at_level_a_year"]) == pytest.approx(365.0)
    assert life["days_degraded_a_year"] == pytest.approx(expected, rel=0.3)  # a day each


def test_a_cluster_plays_the_same_lives() -> None:
    from distributed import LocalCluster

    said = small(study={"lives": 12, "elasticities": False})
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        assert fleet.study(said, on=cluster.scheduler_address) == fleet.study(said)
        with pytest.raises(outlast.ScenarioError, match=r"study\.lives = 0: must be given: how many"):
            fleet.study(small(study={"lives": 0, "elasticities": False}), on=cluster.scheduler_address)


def test_die_repair_gives_nines() -> None:
    """Half of all failures repaired within minutes: a sixteenth of the losses of four failures, nearly."""
    drive = {"afr": 0.01, "die_share": 0.5, "die_repair_hours": 0.01}
    off = fleet.study(small(drive=drive))
    on = fleet.study(small(drive={**drive, "die_repair": True}))
    assert off["engine"]["losses"] == "exact" and on["engine"]["losses"] == "splitting"
    ratio = off["loss_by_year"][0]["group"]["mean"] / on["loss_by_year"][0]["group"]["mean"]
    # The last failure may be of a die, too: a half to the third power.
    assert ratio == pytest.approx(8.0, rel=0.15)


def test_elasticities_are_those_of_the_chain() -> None:
    """Four failures within three repairs: λ⁴ / μ³."""
    rows = fleet.study(small(study={"lives": 3, "elasticities": True}))["change_first"]
    assert [row["setting"] for row in rows] == ["drive.afr", "repair.hours"]
    assert rows[0]["elasticity"] == pytest.approx(4.0, abs=0.05)
    assert rows[1]["elasticity"] == pytest.approx(3.0, abs=0.05)


def test_cost_adds_up() -> None:
    prices = {"drive": 1000.0, "drive_year": 10.0, "replacement": 100.0, "traffic_tb": 1.0, "lost_tb": 5.0}
    cost = fleet.study(small(prices=prices))["cost"]
    assert cost["a_year"] == pytest.approx(sum(cost["by_part"].values()))
    assert cost["by_part"]["drives"] == pytest.approx(180 * 1000 / 5)
    assert cost["per_user_tb_year"] == pytest.approx(cost["a_year"] / 840)


def test_outages_are_those_of_a_binomial() -> None:
    """Racks that are out 1 % of the time, a piece in each: more than three of nine."""
    from math import comb

    busy = 8760 * 0.01 / 0.99
    result = fleet.study({**small(), "outages": [{"scope": "rack", "per_year": busy, "hours": 1.0}]})
    tail = sum(comb(9, k) * 0.01**k * 0.99 ** (9 - k) for k in range(4, 10))
    assert result["life"]["unavailable_groups"] == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.toml")))
def test_examples_run(name: str) -> None:
    settings = fleet.read(EXAMPLES / name)
    plan = fleet.planned(settings)
    assert plan.plan.drives > 0 and plan.plan.groups > 0


def test_the_command_prints_json_and_repeats(tmp_path: Path) -> None:
    example = str(EXAMPLES / "exact.toml")
    done = run(example, "--json", "--set", "study.lives=3")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["loss_by_year"][0]["group"]["mean"] == pytest.approx(1.051855214e-13, rel=1e-9)
    assert run(example, "--json", "--set", "study.lives=3").stdout == done.stdout
    out = tmp_path / "fleet"
    assert run(example, "--out", str(out)).returncode == 0
    assert json.loads((out / "result.json").read_text())["schema"] == "outlast-fleet/1"
    assert "<html" in (out / "report.html").read_text()
    again = run(example, "--out", str(out))
    assert again.returncode == 2 and "--force" in again.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[drive]\nafr = 2", ":2: drive.afr = 2: must be within 0 to 0.999999"),
        ("[drive]\naffr = 0.1", ":2: drive.affr: unknown setting; did you mean `afr`?"),
        ("[code]\nkind = 'raid'", ":2: code.kind = raid: must be one of rs, copies, lrc, product"),
        ("[cluster]\nracks = 1.5", ":2: cluster.racks = 1.5: must be a whole number"),
        ("years = 0", ":1: years = 0: must be within 1 to 100"),
        ("[drive]\ncapacity = '32XB'", ":2: drive.capacity = 32XB: must be within"),
        ("[placement]\napart = 'rack'", ":2: placement.apart = rack: a group of 9 pieces needs 9 domains"),
        ("[[bursts]]\nscope = 'row'", ":2: bursts[0].scope = row: must be one of node, rack, site"),
        ("preset = 'netap'", "preset = netap: unknown preset; did you mean `netapp`?"),
        ("[placement]\nkind = 'ceph'", "placement.osd_dump = : must name a file"),
        ("[drive]\nages = [1.0]\nafr_by_age = [0.1]", ":2: drive.ages = [1.0]: must begin with 0"),
        ("[repair]\nthreshold = 9", ":2: repair.threshold = 9: must be at most 3"),
        ("nonsense", "fleet.toml: "),
        ("years = 0x" + "F" * 5000, ":1: years = a number too long to be shown: must be within 1 to 100"),
        ('"a\\nb" = 1', "a\\nb: unknown setting"),
        ("[drive]\nretire_years = 1e-12", "study.most_events = 100000000.0: 3 lives of 12 drives over 5 years take"),
        ("[cluster]\nnodes = 30\n[[bursts]]\nper_year = 1e6\nprobability = 1", "events: fewer drives"),
        ("[drive]\nweibull_shape = 1e-300\nweibull_scale = 1", ":2: drive.weibull_shape = 1e-300: must be 0, or 0.05"),
        ("[drive]\nweibull_shape = 20\nweibull_scale = 0.001", ":3: drive.weibull_scale = 0.001: drives would live"),
        ("[drive]\nages = [" + "1," * 241 + "]", "drive.ages = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"),
        ("[[bursts]]\n" * 101, "bursts = 101: must be at most 100 tables"),
        ("#" * (1 << 20) + "#", "fleet.toml: has 1048577 bytes: at most 1048576"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(text)
    done = run(str(file))
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("years.x=3", "--set years.x=3: years is no table of settings"),
        ("drive=5", "drive = 5: must be a table of settings"),
        ("=", "--set =: must be NAME=VALUE"),
        ("drive.afr=NaN", "drive.afr = NaN: must be within"),
    ],
)
def test_changes_that_are_wrong_are_told_in_one_line(tmp_path: Path, change: str, message: str) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text("years = 2\n[drive]\nafr = 0.01\n")
    done = run(str(file), "--out", str(tmp_path / "out"), "--set", change)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_a_change_of_preset_is_one(tmp_path: Path) -> None:
    """Settings of the file itself stay; those of its preset do not."""
    settings = fleet.read({"preset": "netapp", "drive": {"capacity": 10**12}})
    changed = with_changes(settings, ("preset=alibaba",))
    assert [one["scope"] for one in changed["contagion"]] == ["node", "rack"]
    assert (changed["drive"]["capacity"], changed["drive"]["afr"]) == (10**12, 0.007)
    assert len(with_changes(fleet.read({}), ("preset=netapp",))["contagion"]) == 1


def test_what_never_fails_is_never_lost() -> None:
    for engine in ("auto", "exact", "splitting", "biasing", "crude"):
        result = fleet.study(small(drive={"afr": 0.0}, study={"engine": engine, "lives": 3, "elasticities": True}))
        assert result["loss_by_year"][0]["fleet"]["mean"] == 0.0 and result["change_first"] == []


def test_one_drive_without_parity_is_lost_when_it_fails() -> None:
    for code in ({"kind": "copies", "copies": 1}, {"data": 1, "parity": 0}):
        group = fleet.study(small(drive={"afr": 0.02}) | {"code": code})["loss_by_year"][0]["group"]
        assert group["mean"] == pytest.approx(0.02, rel=1e-12)


def test_groups_unlike_each_other_are_all_looked_at() -> None:
    """Groups that have two pieces in a node are lost by its bursts; others are not. Four groups would not tell."""
    said = {
        "years": 3,
        "cluster": {"racks": 4, "nodes": 4, "drives": 3},
        "code": {"data": 2, "parity": 1},
        "drive": {"afr": 0.05},
        "placement": {"kind": "declustered", "pieces": 20},
        "repair": {"hours": 50},
        "bursts": [{"scope": "node", "per_year": 0.1, "probability": 0.5}],
    }
    found = {
        engine: fleet.study({**said, "study": {"engine": engine, "elasticities": False, "lives": 2000}})[
            "loss_by_year"
        ][-1]
        for engine in ("splitting", "crude")
    }
    rare, counted = found["splitting"]["group"], found["crude"]["group"]
    assert counted["high"] - counted["mean"] < 0.05 * counted["mean"]
    assert rare["mean"] == pytest.approx(counted["mean"], rel=0.1)
    # As many bursts as hit two of its drives in a node, or nearly.
    assert rare["mean"] > 0.005


def test_presets_and_settings_are_listed() -> None:
    presets, settings = run("--presets"), run("--settings")
    assert presets.returncode == settings.returncode == 0
    for name, preset in fleet.PRESETS.items():
        assert name in presets.stdout and preset.source in presets.stdout
        assert all("calibration" in note or "assumed" in note or "not met" in note for note in preset.notes)
    assert "afr = 0.01" in settings.stdout
