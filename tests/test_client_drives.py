"""Do simulated client drives fill as reviewers saw them, and are caches that cannot be refused in one line?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import ROOT, Outlast
from outlast import api
from test_bad_input import refused
from test_explain import WRITES

CLIENT = ROOT / "scenarios" / "presets" / "client"
PRESETS = sorted(CLIENT.glob("*.toml"))


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: file.stem)
def test_a_preset_is_a_sixteenth_of_its_drive(file: Path) -> None:
    whole = api.resolve(str(file))
    assert api.resolve(file.stem) == whole
    full = {"1t": 1_000_204_886_016, "2t": 2_000_398_934_016}["2t" if "2t" in file.stem else "1t"]
    summary = outlast.run(file, {"workload.synthetic.requests": 2000}).summary
    assert summary["device"]["capacity_bytes"] * whole["run"]["capacity_scale"] == pytest.approx(full, rel=2e-3)
    assert summary["slc_cache"]["cached_share"] > 0.9
    assert summary["write_amplification"]["total"] == 1


def test_curves_are_the_reviewers(outlast: Outlast, tmp_path: Path) -> None:
    outlast("reproduce", "client-drives", "--quick", "--out", tmp_path / "out")
    book = json.loads((tmp_path / "out" / "reproduction.json").read_text(encoding="utf-8"))
    (figure,) = book["papers"][0]["figures"]
    found = {own["verdict"] for own in figure["statements"]}
    assert found == {"agrees"}, [own for own in figure["statements"] if own["verdict"] != "agrees"]
    assert len([own for own in figure["statements"] if own["kind"] == "simulation"]) >= 7


@pytest.mark.parametrize(
    ("setting", "value", "limit"),
    [
        ("bits_per_cell", 3, "below the 3 bits"),
        ("native_bits_per_cell", 9, "between 2 and 8"),
        ("static_size", "2TiB", "at most the raw capacity"),
        ("static_size", "12MiB", "lower the capacity"),
        ("dynamic_share", 1.5, "between 0 and 1"),
        ("fold_from", 0.0, "above 0"),
        ("fold_after_idle", "1us", "at least 100us"),
        ("endurance", 0, "at least 1"),
        ("program", "2s", "at most 1s"),
    ],
)
def test_a_cache_that_cannot_be_is_refused(
    outlast: Outlast, tiny: Path, tmp_path: Path, setting: str, value: Any, limit: str
) -> None:
    cache = {"dynamic_share": "0.5", "native_bits_per_cell": "3", "read": "25us", "program": "100us"}
    changes = [f"device.slc_cache.{name}={own}" for name, own in (cache | {setting: value}).items()]
    sets = [part for own in changes for part in ("--set", own)]
    says = [limit] if "capacity" in limit else [f"device.slc_cache.{setting} = ", limit]
    refused(outlast, tmp_path, "validate", tiny, *sets, says=says)


def test_folding_is_named_where_writes_wait_for_it(tiny: Path) -> None:
    cache = {"dynamic_share": 1.0, "when_full": "fold", "read": "25us", "program": "100us"}
    changes = WRITES | {"device.slc_cache": cache, "precondition.fill": "none", "precondition.overwrite": "none"}
    found = outlast.explain(tiny, changes)
    sentence = next(own for own in found.sentences if own.about == "cache")
    assert "folding limits the host" in sentence.text
    assert sentence.figures["write_amplification.fold"] > 0.2
    burst = outlast.explain(tiny, changes | {"workload.synthetic.duration": None, "workload.synthetic.requests": 2000})
    sentence = next(own for own in burst.sentences if own.about == "cache")
    assert "folded" not in sentence.text
    assert "folding limits" not in sentence.text
    # All of it is in the cache, a part of it in superblocks that are not full.
    short = {"workload.synthetic.duration": None, "workload.synthetic.requests": 700, "run.warm_up": "0s"}
    sentence = next(own for own in outlast.explain(tiny, changes | short).sentences if own.about == "cache")
    assert sentence.figures["slc_cache.cached_share"] < 0.98
    assert "took at least 97.1 %" in sentence.text and "all bits" not in sentence.text
    direct = outlast.explain(
        tiny, changes | {"device.slc_cache": cache | {"dynamic_size": "4MiB", "when_full": "direct"}}
    )
    sentence = next(own for own in direct.sentences if own.about == "cache")
    assert "all bits of a cell at once" in sentence.text and "at least" not in sentence.text
    assert not [own for own in outlast.explain(tiny, WRITES).sentences if own.about == "cache"]
