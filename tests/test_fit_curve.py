"""Are the size of an SLC cache and its phases found in a curve of bandwidth, and nothing in one without a cliff?"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conftest import Outlast
from outlast.products.fit.curve import phases
from test_bad_input import refused


def curve(*parts: tuple[float, float], noise: float = 0.0, seed: int = 1) -> list[tuple[float, float]]:
    """Points every 10 GB of phases that end at so many GB and have so many GB/s."""
    draw, points = random.Random(seed), []
    for gb in range(10, int(parts[-1][0]) + 1, 10):
        rate = next(own for end, own in parts if gb <= end)
        points.append((float(gb), rate * (1 + draw.uniform(-noise, noise))))
    return points


@pytest.mark.parametrize("seed", range(10))
def test_three_phases_are_found_in_a_noisy_curve(seed: int) -> None:
    found = phases(curve((280, 4.6), (500, 2.0), (1000, 0.5), noise=0.15, seed=seed))
    assert [own.end_gb for own in found] == pytest.approx([280, 500, 1000], abs=10)
    assert [own.gb_s for own in found] == pytest.approx([4.6, 2.0, 0.5], rel=0.07)


def test_two_phases_are_two_and_one_is_one() -> None:
    assert [own.end_gb for own in phases(curve((230, 4.0), (1000, 0.1), noise=0.1))] == [230, 1000]
    assert len(phases(curve((1000, 1.9), noise=0.1))) == 1
    assert len(phases(curve((1000, 1.9)))) == 1


def test_the_command_prints_settings_and_refuses_other_files(outlast: Outlast, tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    rows = "".join(f"{gb},{rate}\n" for gb, rate in curve((110, 4.0), (1000, 1.5)))
    file.write_text("gb,gb_s\n" + rows, encoding="utf-8")
    done = outlast("fit", "--curve", file)
    assert 'dynamic_size = "110GB"' in done.stdout
    assert "1.5 GB/s" in done.stdout
    file.write_text("gb,gb_s\n10,1\n5,1\n20,1\n", encoding="utf-8")
    refused(outlast, tmp_path, "fit", "--curve", file, says=["curve.csv:3", "must rise"])
