"""Are sweeps over fleet files kept, resumed and read back, and do drives age as policies say?"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import outlast
from outlast import fleet, models, tables
from outlast.fleet import drives, points

YEAR = 8760.0
EXACT = """
years = 2
[cluster]
racks = 9
nodes = 2
drives = 10
[placement]
kind = "aligned"
apart = "rack"
[repair]
detection_hours = 0
hours = 24
distribution = "exponential"
[study]
lives = 3
elasticities = false
"""


def test_points_are_kept_and_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fleet.toml").write_text(EXACT)
    vary: dict[str, list[Any]] = {"code.parity": [2, 3], "repair.mode": ["parallel", "serial"]}
    told: list[tuple[str, int]] = []
    first = fleet.sweep(tmp_path / "fleet.toml", vary, tmp_path / "out", lambda *stage: told.append(stage))
    assert [one["point"] for one in first] == [
        {"code.parity": parity, "repair.mode": mode} for parity in (2, 3) for mode in ("parallel", "serial")
    ]
    assert [number for stage, number in told if stage == "point"] == [0, 1, 2, 3]
    assert first[2]["loss_by_year"][0]["group"]["mean"] == pytest.approx(1.051855214e-13, rel=1e-9)
    assert first[3]["loss_by_year"][0]["group"]["mean"] == pytest.approx(6.290161634e-13, rel=1e-9)
    made: list[Any] = []

    def studied(settings: Any, *_: Any, **__: Any) -> dict[str, Any]:
        made.append(settings)
        return fleet.study(settings)

    monkeypatch.setattr(points, "study", studied)
    files = sorted((tmp_path / "out" / "points").iterdir())
    assert len(files) == 4
    assert fleet.sweep(tmp_path / "fleet.toml", vary, tmp_path / "out") == first and made == []
    # One that was cut off, and one of other settings, are made.
    files[0].write_text(files[0].read_text()[:100])
    assert fleet.sweep(tmp_path / "fleet.toml", vary, tmp_path / "out") == first and len(made) == 1
    (tmp_path / "fleet.toml").write_text(EXACT + "paths = 500\n")
    fleet.sweep(tmp_path / "fleet.toml", vary, tmp_path / "out")
    assert len(made) == 5


def test_a_sweep_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(EXACT)
    results = fleet.sweep(tmp_path / "fleet.toml", {"code.parity": [2, 3]}, tmp_path / "out")
    read = tables.read(tmp_path / "out" / "fleet.parquet")
    assert list(read["code.parity"]) == [2, 2, 3, 3] and list(read["year"]) == [1, 2, 1, 2]
    assert read["group.mean"][2] == results[1]["loss_by_year"][0]["group"]["mean"]
    frame = fleet.frame(results)
    assert frame.shape[0] == 4 and fleet.frame(results[0]).shape[0] == 2
    assert frame["fleet.mean"].to_list() == [float(each) for each in read["fleet.mean"]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,3", [2, 3]),
        ("[0.1,0.2]", [[0.1, 0.2]]),
        ("[0.1,0.2],[0.3]", [[0.1, 0.2], [0.3]]),
        ('{"a":[1,{"b":2}],"c":3},4', [{"a": [1, {"b": 2}], "c": 3}, 4]),
        ('"a,b",c', ["a,b", "c"]),
        (r'"a\",b","]",c', ['a",b', "]", "c"]),
        ('["a]",1],2', [["a]", 1], 2]),
        ('5",7"', ['5"', '7"']),
        ("],1", ["]", 1]),
        ("[0.1,0.2", ["[0.1,0.2"]),
        ("O'Brien,x", ["O'Brien", "x"]),
    ],
)
def test_commas_within_brackets_braces_and_quotes_do_not_separate(text: str, values: list[Any]) -> None:
    assert points.varied([f"name={text}"]) == {"name": values}


def test_numbers_are_columns_of_numbers_whatever_they_are(tmp_path: Path) -> None:
    """Costs that nobody asked for, and rates that are whole numbers."""
    (tmp_path / "fleet.toml").write_text(EXACT)
    types = []
    varied: list[dict[str, list[Any]]] = [{"drive.afr": [0]}, {"drive.afr": [0.01], "prices.drive": [100]}]
    for number, vary in enumerate(varied):
        fleet.sweep(tmp_path / "fleet.toml", vary | {"code.parity": [2]}, tmp_path / str(number))
        types.append(pl.read_parquet_schema(tmp_path / str(number) / "fleet.parquet"))
    texts = {"name", "fleet.kind", "engine"}
    assert all(kind == pl.Float64 for name, kind in types[0].items() if name not in {*texts, "year", "code.parity"})
    assert {"cost_a_year", "cost_per_user_tb_year", "object_nines_a_year", "drive.afr"} < set(types[0])
    assert {name: kind for name, kind in types[1].items() if name != "prices.drive"} == types[0]


def test_an_interrupted_sweep_goes_on(tmp_path: Path) -> None:
    """Ctrl-C ends it in one line; points that were done are there, and only others are made then."""
    (tmp_path / "fleet.toml").write_text(EXACT.replace('distribution = "exponential"', "") + "relative_error = 0.02\n")
    vary = ["--vary", "drive.afr=0.01,0.011,0.012,0.013,0.014,0.015,0.016,0.017", "--out", "out"]
    command = [sys.executable, "-m", "outlast", "fleet", "fleet.toml", *vary]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    folder = tmp_path / "out" / "points"
    while run.poll() is None and not (folder.is_dir() and list(folder.glob("*.json"))):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate()
    assert run.returncode == 130 and "stopped by Ctrl-C" in told and len(told.splitlines()) == 1, told
    done = {path: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert 1 <= len(done) < 8 and not (tmp_path / "out" / "fleet.parquet").exists()
    finished = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(json.loads(finished.stdout)) == len(list(folder.glob("*.json"))) == 8
    assert {path: path.stat().st_mtime_ns for path in done} == done


def test_a_long_life_is_left_at_once(tmp_path: Path) -> None:
    """Ctrl-C within one life of a hundred thousand drives, which takes seconds."""
    text = (
        "years = 100\n[cluster]\nracks = 100\nnodes = 10\ndrives = 100\n[drive]\nafr = 0.3\n[placement]\npieces = 9\n"
    )
    (tmp_path / "fleet.toml").write_text(text + "[study]\nengine = 'crude'\nmost_events = 1e12\n")
    command = [sys.executable, "-m", "outlast", "fleet", "fleet.toml"]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(4)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 130 and told == "error: stopped by Ctrl-C; nothing was written\n"


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("code.parity", "--vary code.parity: must be NAME=VALUE,VALUE"),
        ("code.parity=2,99", "code.parity = 99: must be within 0 to 63"),
        ("code.pariti=2", "code.pariti: unknown setting; did you mean `parity`?"),
        ("years.x=1", "--set years.x=1: years is no table of settings"),
    ],
)
def test_wrong_values_are_refused_before_the_first_study(tmp_path: Path, vary: str, message: str) -> None:
    (tmp_path / "fleet.toml").write_text(EXACT)
    command = [sys.executable, "-m", "outlast", "fleet", "fleet.toml", "--vary", vary, "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def worn(monkeypatch: pytest.MonkeyPatch, **drive: Any) -> fleet.Planned:
    """A fleet of drives that take 500 cycles a year, 3000 of which they endure."""
    summary = {
        "write_amplification": {"total": 1.0},
        "device": {"capacity_bytes": 1.0, "raw_bytes": 1.0},
        "throughput": {"write_mib_s": 0.0},
    }
    monkeypatch.setattr(drives, "_summary", lambda *_: summary)
    whole = {"result": "run", "endurance": 3000.0, "dwpd": 500.0 / 365.0, "wear_afr": 0.9} | drive
    return fleet.planned(
        fleet.read(
            {
                "years": 12,
                "drive": whole,
                "cluster": {"racks": 5, "drives": 20},
                "code": {"data": 4, "parity": 1},
                "placement": {"kind": "aligned", "apart": "rack"},
                "repair": {"hours": 24},
                "study": {"elasticities": True, "lives": 20, "paths": 200},
            }
        )
    )


def test_drives_are_replaced_at_a_share_of_their_wear(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = worn(monkeypatch, retire_wear=0.9)
    assert plan.settings["drive"]["retire_years"] == pytest.approx(0.9 * 6.0)
    assert plan.hazard[0] == [0.0, pytest.approx(6.0 * YEAR)]
    late = worn(monkeypatch, retire_wear=1.5)
    early, late_loss = (fleet.study(one.settings)["loss_by_year"][-1]["group"]["mean"] for one in (plan, late))
    assert late_loss > 100 * early
    with pytest.raises(outlast.ScenarioError, match=r"drive\.retire_wear = 0\.5: needs drive\.result"):
        fleet.planned(fleet.read({"drive": {"retire_wear": 0.5}}))
    with pytest.raises(outlast.ScenarioError, match=r"drive\.retire_years = 3\.0: stands beside retire_wear"):
        worn(monkeypatch, retire_wear=0.5, retire_years=3.0)


def test_ages_apart_keep_members_from_wearing_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drives that are replaced late: of one age, all of a group are worn at once; ages apart, few are."""
    together, apart = (worn(monkeypatch, retire_wear=1.1, ages_apart=flag) for flag in (False, True))
    found = [fleet.study(one.settings)["loss_by_year"] for one in (together, apart)]
    assert found[1][-1]["group"]["mean"] < 0.5 * found[0][-1]["group"]["mean"]
    # The oldest member of every group is replaced every life / 5, so that losses come steadily.
    steady = [found[1][year]["group"]["mean"] - found[1][year - 1]["group"]["mean"] for year in range(1, 12)]
    bursts = [found[0][year]["group"]["mean"] - found[0][year - 1]["group"]["mean"] for year in range(1, 12)]
    assert max(steady) / (sum(steady) / 11) < 0.5 * max(bursts) / (sum(bursts) / 11)


def test_parity_of_diff_raid_wears_the_oldest_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """All parity on the oldest of five: it has half of its wear in the last fifth of its life."""
    plan = worn(monkeypatch, retire_wear=1.0, ages_apart=True, parity_percent=[100, 0, 0, 0, 0])
    assert plan.hazard[0][1] == pytest.approx(6.0 * YEAR)
    # Replaced at 1.2 of its endurance, after 7.2 years: 0.6 in the last 1.44 of them, and worn after 0.4 of these 0.6.
    rates = models.aging_rates([100, 0, 0, 0, 0])
    assert rates[0] / rates.sum() == pytest.approx(0.5)
    plan = worn(monkeypatch, retire_wear=1.2, ages_apart=True, parity_percent=[100, 0, 0, 0, 0])
    assert plan.hazard[0][1] == pytest.approx((7.2 * 0.8 + 7.2 * 0.2 * 0.4 / 0.6) * YEAR)
    with pytest.raises(outlast.ScenarioError, match=r"drive\.parity_percent = \[50\.0\]: "):
        worn(monkeypatch, retire_wear=1.0, ages_apart=True, parity_percent=[50])
