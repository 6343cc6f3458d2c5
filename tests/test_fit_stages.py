"""Stages of a fit: the numbers that each determines, and the message where the measurement determines none."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import outlast
from fitted import COUNTED_S, READS_S, drawn, measure, micron
from outlast.fio import requests
from outlast.products.fit import fit, rates
from outlast.products.fit.intervals import QUANTILE
from outlast.products.fit.machine import Machine
from outlast.products.fit.measured import of_text
from outlast.products.fit.parameters import PARAMETERS, STAGES, Theta
from outlast.products.fit.preset import to_toml
from outlast.products.fit.rows import Load
from outlast.products.fit.waits import Busy, tail

pytest.importorskip("scipy")

HEAD = 'capacity = "800GB"\n'
MIXED = ("reads", "floor", "sequential", "uniform", "mixed")


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a third of their length: what the tests find is well clear of what scatters."""
    monkeypatch.setattr(rates, "REQUESTS", 100_000)


@pytest.mark.usefixtures("brief")
def test_suspension_is_found_from_reads_beside_writes(tmp_path: Path) -> None:
    drive = replace(drawn(3), suspension=(40e-6, 150e-6))
    done = fit(measure(drive, tmp_path, wanted=MIXED, reads_s=READS_S), points=tmp_path / "points")
    assert done.found["overhead"].value == pytest.approx(40e-6, rel=0.1)
    assert done.found["progress"].value == pytest.approx(150e-6, rel=0.1)
    assert done.choices["pacing"].taken == "smooth"
    # Below its highest rate a drive whose writes are held to nothing is as even.
    assert done.choices["pacing"].ties == ["none"]
    said = tomllib.loads(to_toml(done))["device"]
    assert said["timing"]["suspend"]["program"] is True
    outlast.resolve(tomllib.loads(to_toml(done)))


@pytest.mark.usefixtures("brief")
def test_bursts_are_told_from_smooth_pacing_and_whole_programs_from_suspended_ones(tmp_path: Path) -> None:
    marks = {"pacing": "burst", "start_free": 4, "stop_free": 12, "host_share": 0.5}
    drive = replace(drawn(3), gc=marks)
    measured = measure(drive, tmp_path, wanted=MIXED, reads_s=READS_S, counted_s=COUNTED_S)
    done = fit(measured, points=tmp_path / "points")
    assert done.choices["pacing"].taken == "burst, host share 0.5"
    assert done.choices["pacing"].ties == []
    assert "the drive does not suspend them" in done.missing["suspend"]
    said = tomllib.loads(to_toml(done))["device"]
    assert said["ftl"]["gc"]["host_share"] == 0.5
    assert "suspend" not in said["timing"]
    outlast.resolve(tomllib.loads(to_toml(done)))


def test_latencies_that_no_pacing_gives_are_explained_by_none(tmp_path: Path) -> None:
    """A median of half a second at a small part of the rate is none of this drive's."""
    file = tmp_path / "m.toml"
    row = '[[row]]\nworkload = "randwrite"\ndepth = 64\nrate = 1000\nwrite_p50 = "500ms"\nwrite_p99 = "900ms"\n'
    # Eight dies, whose small drive is filled in a moment.
    file.write_text(
        HEAD + row + "[known.device]\ngeometry = { channels = 8, chips_per_channel = 1, dies_per_chip = 1 }\n"
    )
    done = fit(file, points=tmp_path / "points")
    assert "none of the choices explains its figures" in done.missing["pacing"]
    assert done.theta["pacing"] == "smooth"


def test_what_no_load_tells_is_said_with_what_to_measure(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text(HEAD + '[[row]]\nworkload = "uniform"\nuser_gib = 372.6\nwaf = 1.11\n')
    done = fit(file, points=tmp_path / "points")
    assert "random reads beside writes" in done.missing["suspend"]
    assert "random writes at 25, 50 and 75 %" in done.missing["pacing"]
    assert done.theta["suspends"] is False
    assert done.theta["pacing"] == "smooth"


def test_the_number_of_superblocks_is_not_told(tmp_path: Path) -> None:
    """Four times as many explain the six fills as well: that it cannot be told is no mere word."""
    missed = []
    for blocks in (256, 1024):
        file = micron(tmp_path, set())
        file.write_text(file.read_text() + f"known.device.geometry.blocks_per_plane = {blocks}\n")
        done = fit(file, points=tmp_path / "points")
        off = [
            (log - math.log(each.figure.value)) / each.sigma
            for each, log in zip(done.seen, done.simulated, strict=True)
        ]
        missed.append(sum(each**2 for each in off))
    assert abs(missed[0] - missed[1]) < QUANTILE


def test_the_wait_for_a_program_is_that_of_the_guide() -> None:
    """Against reads that meet a program at 100 000 evenly spaced times: p + L - u, then L, then the rest."""
    whole, progress, overhead = 700e-6, 100e-6, 40e-6
    theta = {"program": whole, "progress": progress, "overhead": overhead, "suspends": True}
    met = (np.arange(100_000) + 0.5) / 100_000 * whole
    rest = np.minimum(overhead, whole - met)
    waits = np.where(met < progress, progress + overhead - met, rest)
    for busy, percent in ((1.0, 50.0), (0.5, 90.0), (0.3, 99.0), (0.05, 99.9)):
        share = 1 - (1 - percent / 100) / busy
        found = tail(theta, Busy(busy, 0.0, 60e-6), percent)
        assert found == pytest.approx(float(np.quantile(waits, share)), abs=1e-8)
    theta["suspends"] = False
    assert tail(theta, Busy(0.5, 0.0, 60e-6), 90.0) == pytest.approx(0.8 * whole, rel=1e-6)
    assert tail(theta, Busy(0.05, 0.0, 60e-6), 90.0) == 0.0


def test_a_link_that_bounds_reads_is_found_before_dies() -> None:
    """Random reads that the link bounds look like those of fewer dies."""
    names = [stage.name for stage in STAGES]
    assert names.index("link") < names.index("dies")


def test_collection_in_small_drives_is_that_of_long_blocks(tmp_path: Path) -> None:
    """Short blocks, three programs of a die to a superblock, would make the rate of random writes 18 % too low."""
    known = "[known.device]\ngeometry.planes_per_die = 2\nftl.one_shot = 3\n"
    row = '[[row]]\nworkload = "uniform"\niops = 70000\n'
    measured = of_text("m", HEAD + row + known, tmp_path)
    theta: Theta = {each.name: each.start for each in PARAMETERS}
    theta |= {"effective": 1.3 * 800e9, "dies": 16.0, "program": 2e-3}
    theta |= {"policy": "greedy", "pacing": "smooth", "suspends": False}
    small = Machine(measured).scenario(theta, measured.rows[0].load, timed=True)
    longer = outlast.resolve(small)
    longer["device"]["geometry"]["pages_per_block"] *= 3
    longer["device"]["ftl"]["capacity"] = f"{3 * int(small['device']['ftl']['capacity'][:-1])}B"
    longer["device"]["timing"]["erase"] = f"{3 * int(small['device']['timing']['erase'][:-2])}ns"
    rates = [outlast.run(each).summary["throughput"]["iops"] for each in (small, longer)]
    assert rates[0] == pytest.approx(rates[1], rel=0.01)


@pytest.mark.parametrize("rate", [8_000.0, 75_000.0, 400_000.0])
def test_a_rate_that_no_fio_job_gave_is_met(rate: float, tmp_path: Path) -> None:
    """fio cuts gaps off to whole microseconds: one job of 75 000 writes a second makes 80 000."""
    load = Load("randrw", 4096, depth=256, rate=rate, read_percent=25)
    (tmp_path / "a.fio").write_text(rates.job(load, 0.0))
    asked = requests(tmp_path / "a.fio", capacity=1 << 30, latency_s=1e-6, most=40_000)
    assert len(asked) / asked[-1].at == pytest.approx(rate, rel=0.02)
    assert sum(each.op == "read" for each in asked) / len(asked) == pytest.approx(0.25, abs=0.02)


def test_rates_of_a_mix_say_how_much_is_read(tmp_path: Path) -> None:
    """Each direction of a fio job gets its own rate in full, whatever rwmixread says; what was missed is a figure."""
    side = {"total_ios": 6000, "iops": 100.0, "clat_ns": {"mean": 1e5, "percentile": {"50.000000": 1e5}}}
    options = {"rw": "randrw", "bs": "4k", "iodepth": "64", "rwmixread": "10", "rate_iops": "2000,6000"}
    job = {"jobname": "m", "job options": options, "read": side | {"iops": 2000.0}, "write": side | {"iops": 5950.0}}
    file = tmp_path / "a.json"
    for writes, told in ((5950.0, False), (3000.0, True)):
        job["write"] = side | {"iops": writes}
        file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
        (row,) = of_text("m", HEAD + 'fio = "a.json"\n', tmp_path).rows
        assert (row.load.rate, row.load.read_percent) == (8000, 25)
        assert ("iops" in row.figures, row.keeps_up) == (told, not told)
