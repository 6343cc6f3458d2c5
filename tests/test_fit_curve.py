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


def measured(step: float, *parts: tuple[float, float]) -> list[tuple[float, float]]:
    """Points every so many GB, wherever the phases end: bytes over time of each."""
    points: list[tuple[float, float]] = []
    for number in range(1, int(parts[-1][0] / step) + 1):
        took, at = 0.0, step * (number - 1)
        for end, rate in parts:
            part = max(min(end, step * number) - at, 0.0)
            took, at = took + part / rate, at + part
        points.append((step * number, step / took))
    return points


DRIVES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((113, 4.0), (1000, 1.5)),
    ((48, 4.7), (2000, 1.5)),
    ((200, 5.2), (1600, 3.6), (2000, 1.5)),
    ((22, 2.2), (500, 0.6)),
    ((231, 4.0), (1000, 0.1)),
    ((280, 4.6), (500, 2.0), (1000, 0.5)),
)


@pytest.mark.parametrize("step", [1.0, 5.0, 7.3, 20.0])
@pytest.mark.parametrize("drive", DRIVES)
def test_a_cliff_within_a_point_is_no_phase_and_lies_where_its_bandwidth_says(
    drive: tuple[tuple[float, float], ...], step: float
) -> None:
    found = phases(measured(step, *drive))
    assert len(found) == len(drive)
    for own, (end, rate) in zip(found, drive, strict=True):
        # A point less than a quarter off a phase is taken into it: then the cliff is off by less than half a point.
        assert own.end_gb == pytest.approx(end, abs=step / 2 if end != drive[-1][0] else step)
        assert own.gb_s == pytest.approx(rate, rel=0.05)


def test_a_log_of_many_hours_is_as_clear_as_one_of_minutes() -> None:
    found = phases(measured(0.1, (113.04, 4.0), (3000, 1.5)))
    assert [own.end_gb for own in found] == pytest.approx([113.04, 3000], abs=1.5)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("2," + "9" * 200_000, "field larger than field limit"),
        ("2,1e-320", "gb_s = 9.99989e-321: must be from 1e-06 to 1e+06"),
        ("1e308,1", "gb = 1e+308: must rise from above 0, to 1e+09 at most"),
        ("2,nan", "gb_s = nan: must be from"),
        ("2", "curve.csv:3: gb and gb_s must be numbers"),
    ],
)
def test_figures_that_no_drive_has_are_refused(outlast: Outlast, tmp_path: Path, row: str, says: str) -> None:
    file = tmp_path / "curve.csv"
    file.write_text(f"gb,gb_s\n1,2\n{row}\n", encoding="utf-8")
    refused(outlast, tmp_path, "fit", "--curve", file, says=[says])


def test_a_curve_that_a_spreadsheet_saved_is_read(outlast: Outlast, tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    rows = "".join(f"{gb};{rate}\n".replace(";", " , ") for gb, rate in curve((110, 4.0), (1000, 1.5)))
    file.write_text("\ufeffgb , gb_s\r\n" + rows, encoding="utf-8")
    assert 'dynamic_size = "110GB"' in outlast("fit", "--curve", file).stdout


def test_the_command_prints_settings_and_refuses_other_files(outlast: Outlast, tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    rows = "".join(f"{gb},{rate}\n" for gb, rate in curve((110, 4.0), (1000, 1.5)))
    file.write_text("gb,gb_s\n" + rows, encoding="utf-8")
    done = outlast("fit", "--curve", file)
    assert 'dynamic_size = "110GB"' in done.stdout
    assert "1.5 GB/s" in done.stdout
    file.write_text("gb,gb_s\n10,1\n5,1\n20,1\n", encoding="utf-8")
    refused(outlast, tmp_path, "fit", "--curve", file, says=["curve.csv:3", "must rise"])
