"""Does the same scenario with the same seed give the same bytes?"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from conftest import Outlast
from outlast.differences import VARYING


def without_cost(folder: Path) -> str:
    """The text of result.json with the figures taken out that tell what the run cost."""
    summary = json.loads((folder / "result.json").read_text())
    for name in VARYING:
        group, figure = name.split(".")
        summary[group].pop(figure)
    return json.dumps(summary)


def test_same_seed_same_bytes(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        outlast("run", "tiny.toml", "--out", name, "--quiet", anew=True)
    assert without_cost(tmp_path / "a") == without_cost(tmp_path / "b")
    assert (tmp_path / "a" / "scenario.toml").read_bytes() == (tmp_path / "b" / "scenario.toml").read_bytes()
    tables = sorted(path.name for path in (tmp_path / "a").glob("*.parquet"))
    assert tables
    for table in tables:
        one, two = (pl.read_parquet(tmp_path / name / table) for name in ("a", "b"))
        assert one.equals(two, null_equal=True) or str(one.to_dict(as_series=False)) == str(
            two.to_dict(as_series=False)
        ), table


def test_another_seed_other_figures(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        outlast("run", "tiny.toml", "--out", seed, "--seed", seed, "--quiet")
    assert without_cost(tmp_path / "1") != without_cost(tmp_path / "2")
