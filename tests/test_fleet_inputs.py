"""Do results of runs, sweeps and fits reach a fleet through their files?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from outlast import fleet, tables
from outlast.fleet.drives import cycles_per_year
from outlast.sweeps import load_sweep

SMALL = {
    "device.geometry.channels": 2,
    "device.geometry.blocks_per_plane": 16,
    "device.ftl.capacity": "48MiB",
    "workload.synthetic.duration": "1s",
}


def outlast_(*arguments: object, folder: Path) -> str:
    command = [sys.executable, "-m", "outlast", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rebuild_times_under_loads_come_from_a_sweep(tmp_path: Path) -> None:
    """Mean hours over the loads, each equally often: the harmonic mean of rates."""
    spec: dict[str, Any] = {
        "scenario": ["array-raid5-5", {"faults": [{"at": "200ms", "device": 2, "kind": "device"}]}],
        "set": SMALL | {"array.background.min_rate": "1MB/s", "workload.synthetic.rate_iops": 100},
        "figures": ["array.rebuild.rate_mib_s"],
        "vary": [{"setting": "array.background.max_rate", "values": ["20MB/s", "10MB/s"]}],
    }
    outlast.sweep(spec, tmp_path / "loads", jobs=1)
    rates = load_sweep(tmp_path / "loads").columns["array.rebuild.rate_mib_s"]
    assert len(rates) == 2 and rates[0] > 1.5 * rates[1] > 0
    (tmp_path / "fleet.toml").write_text("[repair]\nsweep = 'loads'\n[placement]\nkind = 'aligned'\n")
    plan = fleet.planned(fleet.read(tmp_path / "fleet.toml"))
    hours = [7e12 / (rate * 2**20) / 3600.0 for rate in rates]
    assert plan.rebuild_hours == pytest.approx(sum(hours) / 2, rel=1e-9)
    for more in ("hours = 3.0", "drive_mb_s = 50", "result = 'loads'"):
        (tmp_path / "fleet.toml").write_text(f"[repair]\nsweep = 'loads'\n{more}\n")
        with pytest.raises(outlast.ScenarioError, match=r"stands beside repair\.|cannot read a result"):
            fleet.planned(fleet.read(tmp_path / "fleet.toml"))
    (tmp_path / "fleet.toml").write_text("[repair]\nsweep = 'nowhere'\n")
    with pytest.raises(outlast.ScenarioError, match=r"fleet\.toml: repair\.sweep: .*nowhere"):
        fleet.planned(fleet.read(tmp_path / "fleet.toml"))


def test_error_rates_by_age_come_from_a_sweep_and_wear_from_a_run(tmp_path: Path) -> None:
    """The UBER of a drive rises with its cycles: a fleet has the mean over the ages of its years."""
    reads = {
        **{key: value for key, value in SMALL.items() if not key.startswith("array")},
        "device.reliability.chip": "tlc-72-layer",
        "device.reliability.ecc": {"data_bits": 8192, "parity_bits": 1008, "strength": 72},
        "device.reliability.rereads": {"scale_factor": 1.0, "max_retries": 0},
        "workload.synthetic.read_percent": 50,
    }
    outlast.run("demo", reads).write(tmp_path / "run")
    spec: dict[str, Any] = {
        "scenario": "demo",
        "set": reads,
        "figures": ["reliability.uber_exact"],
        "vary": [{"setting": "device.reliability.initial.pe_cycles", "values": [0, 1000, 2000, 3000]}],
    }
    outlast.sweep(spec, tmp_path / "ages", jobs=1)
    ubers = load_sweep(tmp_path / "ages").columns["reliability.uber_exact"]
    assert 0 < ubers[0] < ubers[1] < ubers[2] < ubers[3] < 1e-3
    drive = {"result": str(tmp_path / "run"), "sweep": str(tmp_path / "ages"), "dwpd": 0.5}
    said: dict[str, Any] = {"years": 3, "drive": drive, "placement": {"kind": "aligned"}}
    plan = fleet.planned(fleet.read(said))
    per_year = cycles_per_year(outlast.load(tmp_path / "run").summary, 0.5)
    assert per_year is not None and 3 * per_year < 3000
    ages = np.linspace(0.0, 3.0, 201) * per_year
    logs = np.interp(ages, [0, 1000, 2000, 3000], np.log(np.asarray(ubers, dtype=float)))
    expected = float(np.exp(logs).mean())
    assert plan.settings["drive"]["uber"] == pytest.approx(expected, rel=1e-9)
    assert 0.0 < plan.read_failure <= 1.0
    # Older drives err more, and beyond what was measured nothing is known.
    older = fleet.planned(fleet.read({**said, "drive": {**drive, "age": 1.0}}))
    assert older.settings["drive"]["uber"] > plan.settings["drive"]["uber"]
    with pytest.raises(outlast.ScenarioError, match=r"drive\.sweep = .*ends at 3000 cycles"):
        fleet.planned(fleet.read({**said, "years": 100}))
    with pytest.raises(outlast.ScenarioError, match=r"drive\.sweep = .*needs drive\.result"):
        fleet.planned(fleet.read({**said, "drive": {"sweep": str(tmp_path / "ages")}}))


def test_a_sweep_is_made_again_when_a_result_that_it_reads_has_changed(tmp_path: Path) -> None:
    """The same sweep of a fleet after another run, or another sweep of runs, was written to the same folder."""
    rebuilt: dict[str, Any] = SMALL | {"array.background.min_rate": "10MB/s", "workload.synthetic.rate_iops": 100}
    faults = [{"at": "200ms", "device": 2, "kind": "device"}]
    outlast.run("array-raid5-5", rebuilt | {"faults": faults}).write(tmp_path / "run")
    spec: dict[str, Any] = {
        "scenario": ["array-raid5-5", {"faults": faults}],
        "set": rebuilt,
        "figures": ["array.rebuild.rate_mib_s"],
        "vary": [{"setting": "array.background.max_rate", "values": ["20MB/s", "10MB/s"]}],
    }
    outlast.sweep(spec, tmp_path / "loads", jobs=1)
    base = "[code]\nkind = 'copies'\n[placement]\nkind = 'aligned'\n[study]\nlives = 3\nelasticities = false\n"

    def hours(out: str) -> float:
        (found,) = fleet.sweep(tmp_path / "fleet.toml", {"code.copies": [2]}, tmp_path / out)
        return float(found["fleet"]["rebuild_hours"])

    for place in ("run", "run/result.json"):
        (tmp_path / "fleet.toml").write_text(f"{base}[repair]\nresult = '{place}'\n")
        before = hours("runs")
        file = tmp_path / "run" / "result.json"
        summary = json.loads(file.read_text())
        summary["array"]["rebuild"]["rate_mib_s"] /= 2.0
        file.write_text(json.dumps(summary))
        assert hours("runs") == pytest.approx(2.0 * before, rel=1e-9)
    for place in ("loads", "loads/sweep.json"):
        (tmp_path / "fleet.toml").write_text(f"{base}[repair]\nsweep = '{place}'\n")
        before = hours("sweeps")
        table = tmp_path / "loads" / "sweep.parquet"
        columns = tables.read(table)
        columns["array.rebuild.rate_mib_s"] = [float(rate) / 2.0 for rate in columns["array.rebuild.rate_mib_s"]]
        table.write_bytes(tables.packed(columns))
        assert hours("sweeps") == pytest.approx(2.0 * before, rel=1e-9)


def test_a_fitted_drive_reaches_a_fleet(tmp_path: Path) -> None:
    """`outlast fit`, `outlast run`, `outlast fleet`: write amplification → preset → run → years until wear."""
    rows = ["workload,user_gib,waf", "uniform,372.6,1.11", "uniform,521.7,1.28", "uniform,745.2,1.89"]
    (tmp_path / "measured.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "measured.toml").write_text('name = "a drive"\ncapacity = "800GB"\ncsv = "measured.csv"\n')
    outlast_("fit", "measured.toml", "-o", "drive.toml", folder=tmp_path)
    scale = ["--set", "workload.synthetic.duration=200ms", "--quiet"]
    outlast_("run", "drive.toml", *scale, "--out", "run", folder=tmp_path)
    (tmp_path / "fleet.toml").write_text(
        "years = 3\n[drive]\nresult = 'run'\nendurance = 3000\ndwpd = 3.0\nwear_afr = 0.5\n"
        "[study]\nlives = 3\nelasticities = false\n"
    )
    result = json.loads(outlast_("fleet", "fleet.toml", "--json", folder=tmp_path))
    plan = fleet.planned(fleet.read(tmp_path / "fleet.toml"))
    per_year = cycles_per_year(outlast.load(tmp_path / "run").summary, 3.0)
    assert per_year is not None
    assert plan.hazard[0][1] == pytest.approx(3000 / per_year * 8760.0, rel=1e-9)
    assert result["loss_by_year"][-1]["group"]["mean"] > 0.0
