"""Do sweeps take code of the user's as they take a built-in policy, and keep its points by the code?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import outlast
import own_policies
from conftest import call
from outlast.points.job import key_of
from outlast.policies import View
from test_policies import OWN


def test_points_are_kept_by_the_code_and_its_name(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    shutil.copy(OWN, file)

    def key(name: str) -> str:
        return key_of(outlast.resolve(tiny, {"policies.gc": name}))

    first, other = key(f"{file}:greedy"), key(f"{file}:fifo")
    assert first != other
    copied = tmp_path / "copied.py"
    shutil.copy(file, copied)
    assert key(f"{copied}:greedy") == first
    file.write_text(file.read_text() + "\n# a change\n")
    assert key(f"{file}:greedy") != first


def test_a_sweep_compares_own_policies_with_built_in_ones(tiny: Path, tmp_path: Path) -> None:
    shutil.copy(OWN, tmp_path / "mine.py")
    (tmp_path / "mine.toml").write_text(
        f'scenario = "{tiny}"\nfigures = ["write_amplification.total"]\npareto = []\n'
        '[[vary]]\nsetting = "policies.gc"\nvalues = ["fifo", "mine.py:fifo", "mine.py:greedy"]\n'
    )
    call("sweep", "mine.toml", "--out", "out", "--quiet", cwd=tmp_path)
    values = outlast.load_sweep(tmp_path / "out").table()["write_amplification.total"]
    assert values[0] == values[1] != values[2]


def test_a_sweep_takes_functions_and_classes(tiny: Path, tmp_path: Path) -> None:
    newest = 60

    class Keen:
        """Stands in no module, and remembers."""

        def __init__(self) -> None:
            self.asked = 0

        def __call__(self, view: View) -> int | None:
            self.asked += 1
            old = view.gains & (view.order < view.order.max() - newest)
            return view.least(view.valid, old if old.any() else None)

    spec: dict[str, Any] = {
        "scenario": str(tiny),
        "figures": ["write_amplification.total"],
        "pareto": [],
        "vary": [{"setting": "policies.gc", "values": ["fifo", own_policies.fifo, Keen, "greedy"]}],
    }
    swept = outlast.sweep(spec, tmp_path / "out", jobs=2)
    fifo, own, keen, greedy = (point["figures"]["write_amplification.total"]["mean"] for point in swept.points)
    assert fifo == own
    assert keen == outlast.run(tiny, policies={"gc": Keen}).write_amplification.total
    assert len({fifo, keen, greedy}) == 3
    labels = [next(iter(point["values"].values())) for point in swept.points]
    assert labels == ["fifo", "own fifo", "Keen", "greedy"]
    kept = list((tmp_path / "out" / "policies").iterdir())
    assert [path.suffix for path in kept] == [".pkl"]
    # Nothing is left where a sweep is refused.
    with pytest.raises(outlast.OutlastError, match="greddy"):
        outlast.sweep(spec | {"vary": [{"setting": "policies.gc", "values": [Keen, "greddy"]}]}, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    # What an earlier sweep keeps stays.
    with pytest.raises(outlast.OutlastError, match="greddy"):
        outlast.sweep(spec | {"vary": [{"setting": "policies.gc", "values": [Keen, "greddy"]}]}, tmp_path / "out")
    assert list((tmp_path / "out" / "policies").iterdir()) == kept
