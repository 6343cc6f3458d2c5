"""Does the time of every request go where results, the report and the log of requests say, and does it add up?"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import outlast
from conftest import call
from logged_presets import KINDS, PRESETS, logged
from outlast import _core
from outlast.causes import LATENCY
from outlast.errors import OutlastError
from outlast.report.causes import COLOURS, band_name, finding, stacked

ROOT = Path(__file__).parent.parent
PARTS = [f"{cause.name}_ns" for cause in LATENCY]


def test_the_parts_of_every_row_sum_to_its_latency(causes_result: Path) -> None:
    rows = pl.read_parquet(causes_result / "requests.parquet")
    assert rows.columns == ["submitted_ns", "completed_ns", "kind", "lba", "bytes", "queue", "outcome", *PARTS]
    latency = rows["completed_ns"] - rows["submitted_ns"]
    assert (rows.select(pl.sum_horizontal(PARTS)).to_series() == latency).all()
    assert rows["completed_ns"].is_sorted()
    # Those that complete after the warm-up are those that the result counts.
    measured = rows.filter(pl.col("completed_ns") >= 20_000_000)
    summary = json.loads((causes_result / "result.json").read_text())
    for kind in ("read", "write"):
        own, counted = measured.filter(kind=kind), summary["latency_causes"][kind]
        assert len(own) == counted["count"] == summary["latency_us"][kind]["count"] > 0
        for name, mean in counted["mean_ns"].items():
            assert mean == pytest.approx(own[f"{name}_ns"].mean(), rel=1e-9)
        slowest = counted["bands"][-1]
        most = (own["completed_ns"] - own["submitted_ns"]).top_k(round(slowest["requests"]))
        assert slowest["latency_ns"] == pytest.approx(most.mean(), rel=1 / 64)
    assert set(rows["outcome"].unique()) == {"ok"}


def test_one_list_of_causes() -> None:
    names = [cause.name for cause in LATENCY]
    assert set(COLOURS) == set(names)
    guide = (ROOT / "docs" / "guide" / "where-time-goes.md").read_text()
    assert re.findall(r"^\| `(\w+)` \| [a-z]", guide, re.M)[: len(names)] == names
    rust = (ROOT / "crates" / "device" / "src" / "latency.rs").read_text()
    assert re.findall(r"^ +[A-Z]\w+ = \"(\w+)\",", rust, re.M) == names
    kinds, outcomes = _core.request_names()
    assert (kinds[0], outcomes[0]) == ("read", "ok")


def test_the_report_shows_what_the_slowest_wait_for(causes_result: Path) -> None:
    page = (causes_result / "report.html").read_text()
    assert 'id="causes-read"' in page
    assert 'id="causes-write"' in page
    causes = outlast.load(causes_result).summary["latency_causes"]
    figure = stacked(causes, "read")
    assert figure is not None
    bands = causes["read"]["bands"]
    for position in range(len(bands)):
        assert sum(trace["y"][position] for trace in figure.data) == pytest.approx(1)
    assert figure.data[0]["x"][0] == "0–50 %"
    assert figure.data[0]["x"][-1].startswith("above ")


def test_a_sentence_names_the_large_causes() -> None:
    band: dict[str, Any] = {"from": 99.0, "to": 100.0, "requests": 10.0, "latency_ns": 1e6}
    band["mean_ns"] = {"sensing": 1e5, "die_program": 8e5, "channel": 1e5 - 1, "link": 1.0}
    said = finding({"read": {"bands": [band]}, "write": None})
    assert "die: programs 80 %" in said
    assert "host and link" not in said
    assert band_name(band) == "above 99 %"
    assert stacked({"read": None}, "read") is None


def test_the_log_goes_where_it_is_told(tiny: Path, tmp_path: Path) -> None:
    log = tmp_path / "apart" / "all.parquet"
    log.parent.mkdir()
    short = {"workload.synthetic.duration": "50ms", "run.log": str(log)}
    result = outlast.run(tiny, short)
    rows = pl.read_parquet(log)
    host = result.summary["host"]
    assert len(rows) >= host["reads"] + host["writes"] > 0
    assert result.log is not None
    assert result.log.scan().collect().equals(rows)
    assert pl.DataFrame(result.log.columns()).equals(rows)
    # A result that is read back has it, as long as it is there.
    result.write(tmp_path / "kept")
    again = outlast.load(tmp_path / "kept")
    assert again.log is not None
    assert again.log.scan().collect().equals(rows)
    log.rename(tmp_path / "elsewhere.parquet")
    assert outlast.load(tmp_path / "kept").log is None
    assert PARTS[0] not in rows.columns
    # Beside the result; without a folder for it, here.
    call(
        "run",
        str(tiny),
        "--set",
        "workload.synthetic.duration=50ms",
        "--set",
        "run.log=r.parquet",
        "--quiet",
        cwd=tmp_path,
    )
    assert pl.read_parquet(tmp_path / "r.parquet").equals(rows)
    assert not list(tmp_path.rglob(".outlast-log*"))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"run.causes": True, "run.timing": "none"}, "run.causes = true: must be false where run.timing is none"),
        (
            {"run.log": "x.parquet", "run.timing": "none"},
            "run.log = x.parquet: must be absent where run.timing is none",
        ),
        ({"run.log": "x.csv"}, "must be the name of a file that ends in .parquet"),
        ({"run.log": "../x.parquet"}, "must not leave the folder of the result"),
        ({"run.log": "latency.parquet"}, "is the name of a table"),
        ({"run.log": "/no/such/folder/x.parquet"}, "there is no folder"),
    ],
)
def test_what_cannot_be_is_refused(tiny: Path, settings: dict[str, object], what: str) -> None:
    with pytest.raises(OutlastError, match=re.escape(what)):
        outlast.run(tiny, settings)


def test_sweeps_are_refused(tiny: Path, tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.toml"
    vary = '[[vary]]\nsetting = "device.ftl.capacity"\nvalues = ["22MiB", "24MiB"]\n'
    sweep.write_text(f'scenario = "{tiny.name}"\nset = {{ run.log = "x.parquet" }}\n{vary}')
    refused = call("sweep", sweep.name, cwd=tmp_path, check=False)
    assert refused.returncode == 2
    assert "run.log = 'x.parquet': must be absent in a sweep" in refused.stderr


@pytest.mark.parametrize("preset", PRESETS)
def test_the_parts_sum_to_the_latency_on_every_preset(preset: str, tmp_path: Path) -> None:
    kinds: set[str] = set()
    for run in logged(preset, tmp_path):
        assert run.off() == 0
        kinds |= run.kinds().keys()
        latency = run.rows["completed_ns"] - run.rows["submitted_ns"]
        for kind, counted in run.summary["latency_us"].items():
            if kind not in KINDS:
                continue
            own = np.sort(latency[np.array(run.rows["kind"]) == kind]) / 1e3
            if counted is None:
                assert not len(own)
                continue
            # Histograms have three digits.
            assert counted["count"] == len(own)
            assert counted["mean"] == pytest.approx(own.mean(), rel=1e-3)
            assert counted["max"] == pytest.approx(own.max(), rel=1e-3)
            for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
                assert counted[name] == pytest.approx(own[math.ceil(share * len(own)) - 1], rel=1e-3)
    # What writes zones only writes, and its jobs would be refused.
    assert kinds == ({"write"} if "zones" in outlast.resolve(preset)["device"] else set(KINDS))
