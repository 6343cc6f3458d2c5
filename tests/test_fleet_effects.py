"""Has every setting of a fleet file an effect, or is it refused, and are those near their limits studied to the end?"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast
from outlast import fleet
from outlast.fleet import plan as plan_module
from outlast.fleet.keys import TABLES
from outlast.fleet.reading import with_changes, without_effect


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"code": {"copies": 2}}, "code.copies = 2: has no effect with code.kind = rs"),
        ({"code": {"kind": "copies", "data": 4}}, "code.data = 4: has no effect with code.kind = copies"),
        ({"code": {"kind": "lrc", "parity": 4}}, "code.parity = 4: has no effect with code.kind = lrc"),
        ({"placement": {"scatter": 9}}, "placement.scatter = 9: has no effect with placement.kind = declustered"),
        ({"placement": {"osd_dump": "osd.json"}}, "placement.osd_dump = osd.json: has no effect with placement.kind"),
        (
            {"placement": {"kind": "ceph", "osd_dump": "a", "pg_dump": "b"}, "cluster": {"racks": 3}},
            "cluster.racks = 3: has no effect with placement.kind = ceph",
        ),
        ({"drive": {"endurance": 3000}}, "drive.endurance = 3000.0: has no effect without drive.result"),
        ({"drive": {"dwpd": 1}}, "drive.dwpd = 1.0: has no effect without drive.result"),
        ({"drive": {"weibull_scale": 5}}, "drive.weibull_scale = 5.0: has no effect without drive.weibull_shape"),
        (
            {"drive": {"weibull_shape": 2, "weibull_scale": 5, "afr": 0.5}},
            "drive.afr = 0.5: has no effect beside drive.weibull_shape",
        ),
        (
            {"drive": {"ages": [0.0], "afr_by_age": [0.1], "afr": 0.9}},
            "drive.afr = 0.9: has no effect beside drive.afr_by_age",
        ),
        ({"drive": {"scrub_days": 7}}, "drive.scrub_days = 7.0: has no effect without drive.latent_per_year"),
        ({"drive": {"die_repair": True}}, "drive.die_repair = true: has no effect without drive.die_share"),
        ({"repair": {"hours": 3, "drive_mb_s": 9}}, "repair.drive_mb_s = 9.0: has no effect beside repair.hours"),
        ({"bursts": [{"probability": 0.5}]}, "bursts[0].per_year = absent: must be given"),
        ({"bursts": [{"per_year": 0.5}]}, "bursts[0].probability = absent: must be given"),
        ({"contagion": [{"scope": "rack"}]}, "contagion[0].probability = absent: must be given"),
        ({"outages": [{"scope": "rack"}]}, "outages[0].per_year = absent: must be given"),
    ],
)
def test_a_setting_without_effect_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(outlast.ScenarioError, match=re.escape(message)):
        fleet.read(said)


def test_what_is_off_needs_nothing() -> None:
    said = {
        "drive": {"die_repair": False, "endurance": 0.0, "dies": 64, "die_repair_hours": 0.5},
        "repair": {"hours": 3, "rack_mb_s": 0.0, "contention": False},
    }
    assert fleet.read(said)["repair"]["hours"] == 3.0


def test_a_change_must_have_an_effect_and_may_take_that_of_others() -> None:
    settings = fleet.read({"code": {"data": 4, "parity": 2}, "repair": {"drive_mb_s": 20}})
    changed = with_changes(settings, ("code.kind=copies", "code.copies=2", "repair.hours=3"))
    assert changed["code"]["copies"] == 2
    with pytest.raises(outlast.ScenarioError, match=r"code\.copies = 2: has no effect with code\.kind = rs"):
        with_changes(settings, ("code.copies=2",))


def test_a_sweep_needs_an_effect_at_one_point() -> None:
    said = {
        "years": 1,
        "drive": {"afr": 0.01},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 24, "distribution": "exponential"},
        "study": {"lives": 3, "elasticities": False},
    }
    results = fleet.sweep(said, {"code.kind": ["copies", "rs"], "code.copies": [2, 3]})
    means = [one["loss_by_year"][0]["group"]["mean"] for one in results]
    assert means[0] > 100 * means[1] and means[2] == means[3]
    with pytest.raises(outlast.ScenarioError, match=r"code\.copies: has no effect .* in no point of the sweep"):
        fleet.sweep(said, {"code.copies": [2, 3]})


def test_conditions_name_settings_that_there_are() -> None:
    """Every condition can be looked up, in a table of defaults."""
    tables = {table: {name: key.default for name, key in keys.items()} for table, keys in TABLES.items()}
    for table, keys in TABLES.items():
        for name, key in keys.items():
            given = {**tables, table: {**tables[table], name: 1}}
            for condition in key.when:
                place, _, wanted = condition.removeprefix("!").partition("=")
                other, _, setting = place.partition(".")
                choices = TABLES[other][setting].choices
                assert all(value in choices for value in wanted.split("|") if wanted), condition
            assert isinstance(without_effect(given, f"{table}.{name}"), str)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"drive": {"afr": 0.9}}, {"drive.afr"}),
        ({"drive": {"die_share": 1.0, "die_repair": True, "die_repair_hours": 9}}, {"drive.die_share"}),
        (
            {"contagion": [{"scope": "node", "probability": 0.9, "window_hours": 9.0}], "drive": {"afr": 0.001}},
            {"contagion[0].probability"},
        ),
    ],
)
def test_a_setting_near_its_limit_has_an_elasticity(said: dict[str, Any], expected: set[str]) -> None:
    """A quarter more would be beyond it: the elasticity is that towards less."""
    whole = {
        "years": 1,
        "cluster": {"drives": 12},
        "code": {"data": 2, "parity": 1},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 24},
        "study": {"lives": 3, "paths": 200},
        **said,
    }
    rows = {row["setting"]: row["elasticity"] for row in fleet.study(whole)["change_first"]}
    assert expected <= set(rows), rows
    if "drive.afr" in expected:
        assert 0.2 < rows["drive.afr"] < 40.0


def test_lazy_repair_reads_once_for_all_that_a_group_misses() -> None:
    """RS(6,3): seven pieces move for one that is rebuilt, or nine for three."""

    def moved(threshold: int) -> float:
        said = {
            "years": 20,
            "cluster": {"racks": 9, "nodes": 2, "drives": 10},
            "drive": {"afr": 0.3},
            "placement": {"kind": "aligned", "apart": "rack"},
            "repair": {"hours": 1, "detection_hours": 0, "threshold": threshold},
            "study": {"engine": "crude", "lives": 40, "elasticities": False},
        }
        result = fleet.study(said)
        pieces = result["life"]["rebuild_bytes_a_year"] / result["fleet"]["piece_bytes"]
        return float(pieces / result["life"]["drives_failed_a_year"])

    assert moved(1) == pytest.approx(7.0, rel=0.01)
    # Some wait at the end of the twenty years.
    assert moved(2) == pytest.approx(4.0, rel=0.03)
    assert moved(3) == pytest.approx(3.0, rel=0.05)


def test_a_global_parity_is_rebuilt_from_all_data() -> None:
    """Azure's LRC(12,2,2): fourteen pieces from six others each, two from twelve."""
    said = {"code": {"kind": "lrc", "data": 12, "local": 2, "global": 2}, "cluster": {"drives": 20}}
    assert fleet.planned(fleet.read(said)).read_pieces == (14 * 6 + 2 * 12) / 16


@pytest.mark.parametrize("more", [[], ["--vary", "code.parity=2,3"]])
@pytest.mark.parametrize("out", ["taken", "taken/below", "/proc/nowhere"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_study(
    outlast: Outlast, tmp_path: Path, out: str, more: list[str]
) -> None:
    (tmp_path / "taken").write_text("")
    (tmp_path / "fleet.toml").write_text("years = 1\n")
    done = outlast("fleet", "fleet.toml", "--out", out, *more, check=False)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "cannot be written" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fleet.toml", "taken"]


def test_a_file_names_the_line_of_a_setting_without_effect(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text("years = 2\n[code]\ncopies = 2\n")
    with pytest.raises(outlast.ScenarioError, match=r"fleet\.toml:3: code\.copies = 2: has no effect with"):
        fleet.read(tmp_path / "fleet.toml")


def test_causes_of_a_chain_are_those_of_splitting() -> None:
    """Unreadable data lose a stripe, failures a group: the bytes expected to be lost follow from the shares."""
    said: dict[str, Any] = {
        "years": 1,
        "drive": {"afr": 0.02, "uber": 3e-19, "die_share": 0.25},
        "code": {"data": 6, "parity": 2},
        "placement": {"kind": "aligned"},
        "repair": {"detection_hours": 0, "hours": 24, "distribution": "exponential"},
    }
    exact, found = (
        fleet.study(said | {"study": {"engine": engine, "lives": 3, "elasticities": False}})
        for engine in ("exact", "splitting")
    )
    assert exact["causes"].keys() == found["causes"].keys() == {"drives", "die", "unreadable"}
    for name, share in exact["causes"].items():
        assert found["causes"][name] == pytest.approx(share, abs=0.04), name
    assert 0.1 < exact["causes"]["unreadable"] < 0.9
    assert found["expected_bytes_lost"] == pytest.approx(exact["expected_bytes_lost"], rel=0.15)


@pytest.mark.parametrize(
    ("drive", "names"),
    [
        ({"weibull_shape": 1.0, "weibull_scale": 3.0}, [f"drives in year {year}" for year in (1, 2, 3, 4)]),
        (
            {"ages": [0.0, 0.25, 3.0], "afr_by_age": [0.3, 0.1, 0.5]},
            ["drives from 0 years", "drives from 0.25 years", "drives from 3 years"],
        ),
    ],
)
def test_causes_by_age_are_told_in_years(drive: dict[str, Any], names: list[str]) -> None:
    said = {
        "years": 4,
        "drive": drive,
        "cluster": {"drives": 90},
        "code": {"data": 2, "parity": 1},
        "placement": {"kind": "aligned"},
        "repair": {"hours": 99},
        "study": {"engine": "crude", "lives": 60, "elasticities": False},
    }
    causes = fleet.study(said)["causes"]
    assert set(causes) == set(names) and sum(causes.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"repair": {"hours": 1e-300, "detection_hours": 0}},
            "repair.hours = 1e-300: makes a repair last 1e-300 h:",
        ),
        ({"repair": {"detection_hours": 0}, "drive": {"capacity": 1}}, "repair.drive_mb_s = 50.0: makes a repair last"),
    ],
)
def test_repairs_shorter_than_moments_can_tell_are_refused(said: dict[str, Any], message: str) -> None:
    """They would be over when they begin, and losses 0."""
    with pytest.raises(outlast.ScenarioError, match=re.escape(message)):
        fleet.planned(fleet.read(said))


def test_too_many_lives_are_refused_before_losses_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("losses were looked for")

    monkeypatch.setattr(importlib.import_module("outlast.fleet.study"), "losses", never)
    with pytest.raises(outlast.ScenarioError, match=r"study\.most_events = .*: 10000000 lives of 12 drives"):
        fleet.study({"study": {"lives": 10**7}})


@pytest.mark.parametrize(("frailty", "batches"), [(1e-6, 20), (0.1, 20), (1.0, 20), (1.0, 3), (4.0, 100), (25.0, 200)])
def test_batches_differ_by_the_variance_that_is_said(frailty: float, batches: int) -> None:
    """Whatever the seed, drives fail as often in the mean as their rate says."""
    said = {"cluster": {"drives": 200}, "drive": {"frailty": frailty, "batches": batches}}
    found = [plan_module._batches(fleet.read({"seed": seed, **said}), 200) for seed in (1, 2)]
    for factors, batch in found:
        assert sum(factors) / batches == pytest.approx(1.0, rel=1e-12)
        spread = sum((each - 1.0) ** 2 for each in factors) / batches
        assert spread == pytest.approx(frailty, rel=1e-3) and min(factors) >= 0.0
        assert len(set(batch)) == batches == len(factors)
    assert found[0][0] != found[1][0] and sorted(found[0][0]) == sorted(found[1][0])


def test_batches_cannot_differ_more_than_so_few_can() -> None:
    factors, _ = plan_module._batches(fleet.read({"drive": {"frailty": 25.0}}), 12)
    assert sum(factors) == pytest.approx(12.0) and max(factors) == pytest.approx(12.0, rel=1e-3)
