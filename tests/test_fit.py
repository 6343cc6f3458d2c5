"""Does a fit find the numbers of a drive, with intervals that hold, and say what is wrong with measurements?"""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

import outlast
from conftest import Outlast
from fitted import READS_S, drawn, measure, micron
from outlast.errors import ScenarioError
from outlast.products.fit import fit
from outlast.products.fit.intervals import QUANTILE, profile, scale_of
from outlast.products.fit.measured import of_text
from outlast.products.fit.preset import to_toml
from outlast.products.fit.rows import Noise, latency_sigmas
from outlast.products.fit.solve import Problem, Surrogate, solve

pytest.importorskip("scipy")


@pytest.mark.parametrize("held", [{521.7, 670.6}, {372.6, 745.2}])
def test_four_fills_of_a_real_drive_predict_the_other_two(held: set[float], tmp_path: Path) -> None:
    done = fit(micron(tmp_path, held), points=tmp_path / "points")
    for seen, log in zip(done.seen, done.simulated, strict=True):
        assert abs(math.exp(log) / seen.figure.value - 1) < 0.02, seen.row.load
    assert done.found["effective"].value / 2**30 == pytest.approx(1079, rel=0.01)
    assert done.found["metadata"].value == pytest.approx(1.037, rel=0.01)


def test_a_preset_says_where_each_number_comes_from_and_runs(outlast: Outlast, tmp_path: Path) -> None:
    micron(tmp_path, set())
    outlast("fit", "measured.toml", "-o", "drive.toml", "--quiet")
    text = (tmp_path / "drive.toml").read_text()
    for line in text.splitlines():
        if "=" in line and not line.startswith("#"):
            assert "  # " in line, line
    assert "fitted to write amplification" in text
    assert "# Not identified: tR" in text
    said = tomllib.loads(text)["device"]
    geometry = said["geometry"]
    dies = geometry["channels"] * geometry["dies_per_chip"]
    of_block = geometry["planes_per_die"] * geometry["pages_per_block"] * 16384
    flash = (geometry["blocks_per_plane"] - 2) * dies * of_block
    assert flash / 2**30 == pytest.approx(1079, rel=0.01)
    outlast("validate", "drive.toml")
    assert "Micron 7450 MAX" in (tmp_path / "drive.html").read_text()
    # What was run is kept: the same fit runs nothing, and gives the same bytes.
    kept = sorted(path.name for path in (tmp_path / "out" / "fit").iterdir())
    told = json.loads(outlast("fit", "measured.toml", "-o", "again.toml", "--quiet", "--json").stdout)
    effective = told["numbers"]["effective"]
    assert effective["value"] / 2**30 == pytest.approx(1079, rel=0.01)
    assert effective["low"] < effective["value"] < effective["high"]
    assert (told["preset"], told["schema"]) == ("again.toml", "outlast-fit/1")
    assert all(math.isfinite(row["given"]) for row in told["figures"])
    assert (tmp_path / "again.toml").read_text() == text
    assert sorted(path.name for path in (tmp_path / "out" / "fit").iterdir()) == kept


def test_a_drive_that_is_known_is_found_again(tmp_path: Path) -> None:
    drive = drawn(1)
    file = measure(drive, tmp_path, wanted=("reads", "floor", "sequential", "uniform"), reads_s=READS_S)
    done = fit(file, points=tmp_path / "points")
    assert done.found["effective"].value == pytest.approx(drive.effective, rel=0.01)
    assert done.found["read"].value == pytest.approx(drive.read, rel=0.05)
    assert done.found["program"].value == pytest.approx(drive.program, rel=0.05)
    assert done.found["host"].value == pytest.approx(drive.host, rel=0.1)
    assert done.found["dies"].value == drive.dies
    assert done.scale < 2, "the drive is missed by more than the noise that it was measured with"
    said = outlast.resolve(tomllib.loads(to_toml(done)))
    assert said["device"]["geometry"]["dies_per_chip"] == drive.dies // 8


def test_what_is_known_is_not_fitted(tmp_path: Path) -> None:
    known = '[known.device]\ntiming.read = "50us"\ncontroller.host_latency = { submit = "1us", complete = "9us" }\n'
    geometry = "geometry = { channels = 16, chips_per_channel = 1, dies_per_chip = 2 }\n"
    rows = '[[row]]\nworkload = "randread"\np50 = 70\n[[row]]\nworkload = "randread"\ndepth = 64\niops = 500000\n'
    file = tmp_path / "m.toml"
    file.write_text(HEAD + known + geometry + rows)
    done = fit(file, points=tmp_path / "points")
    assert set(done.found) == {"command"}
    assert [done.theta[name] for name in ("read", "dies", "host")] == pytest.approx([50e-6, 32, 10e-6])
    text = to_toml(done)
    assert 'read = "50us"  # known: as given' in text
    outlast.resolve(tomllib.loads(text))


def test_space_mapping_finds_the_minimum_of_what_is_simulated() -> None:
    """The closed form is wrong by a factor and a power; the outcome is that of the simulator alone."""
    loads = np.array([1.0, 2.0, 4.0, 8.0])

    def truth(x: np.ndarray) -> np.ndarray:
        return np.asarray(1.1 * x[0] + 0.2 + np.log(1 + loads * np.exp(x[1])))

    def rough(x: np.ndarray) -> np.ndarray:
        return np.asarray(x[0] + np.log(1 + loads * np.exp(x[1])))

    goal = np.array([0.7, -0.4])
    wide = np.full(2, 5.0)
    problem = Problem(truth(goal), np.full(4, 0.01), -wide, wide, rough, truth)
    solution = solve(problem, np.zeros(2))
    assert solution.x == pytest.approx(goal, abs=2e-3)
    assert solution.chi2 < 0.1


def test_a_correction_does_not_grow_beyond_the_steps_it_was_learned_from() -> None:
    """Noise of two near runs must not determine numbers far from both, which nothing measures."""
    flat = Surrogate(lambda _: np.zeros(1), np.full(1, np.nan), np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    flat.learn(np.array([0.0]), np.array([0.0]))
    flat.learn(np.array([0.1]), np.array([0.05]))
    assert flat(np.array([0.2])) == pytest.approx(flat(np.array([4.0])))
    assert abs(float(flat(np.array([4.0]))[0])) < 0.1


def test_the_profile_of_a_straight_line_is_its_standard_error() -> None:
    """y = a + b·x with known scatter: the 90 % interval is 1.645 standard errors to each side."""
    x = np.linspace(-1, 1, 9)
    sigma, y = 0.1, 0.3 + 0.5 * x

    def residuals(theta: np.ndarray) -> np.ndarray:
        return np.asarray((theta[0] + theta[1] * x - y) / sigma)

    wide = np.full(2, 50.0)
    interval = profile(residuals, np.array([0.3, 0.5]), 1, -wide, wide, 1.0)
    half = 1.6449 * sigma / math.sqrt(float(x @ x))
    assert interval.low == pytest.approx(0.5 - half, rel=1e-3)
    assert interval.high == pytest.approx(0.5 + half, rel=1e-3)
    free = profile(lambda theta: residuals(np.array([theta[0], 0.5])), np.array([0.3, 0.5]), 1, -wide, wide, 1.0)
    assert (free.low, free.high) == (None, None), "nothing holds a number that changes nothing"
    # And where the profile is bent: exp(x) - 1 is measured to 0.5.
    bent = profile(lambda theta: np.expm1(theta) / 0.5, np.zeros(1), 0, -wide[:1], wide[:1], 1.0)
    reach = 0.5 * math.sqrt(QUANTILE)
    assert (bent.low, bent.high) == pytest.approx((math.log(1 - reach), math.log(1 + reach)), abs=1e-5)
    assert scale_of(30.0, 12, 2) == 3.0
    assert scale_of(3.0, 12, 2) == 1.0


def test_sampling_errors_of_percentiles_are_those_of_repeated_samples() -> None:
    """Lognormal latencies: the scatter of percentiles over 400 samples of 2000, against the formula."""
    draw = np.random.default_rng(5)
    samples = np.exp(draw.normal(0, 0.5, (400, 2000)))
    percents = [50.0, 90.0, 99.0]
    seen = np.std(np.log(np.percentile(samples, percents, axis=1)), axis=1)
    exact = {each: float(np.exp(0.5 * z)) for each, z in zip(percents, (0.0, 1.2816, 2.3263), strict=True)}
    told = latency_sigmas(exact, 2000, Noise(latency=1e-5))
    for each, scatter in zip(percents, seen, strict=True):
        assert scatter / 2 < told[each] < 2 * scatter, each


HEAD = 'capacity = "800GB"\n'
ROW = HEAD + "[[row]]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "capacity: missing"),
        ('capacity = "800QB"', 'capacity = 800QB: unknown unit "QB"'),
        (HEAD, "nothing was measured"),
        (HEAD + "cvs = 1", 'cvs: unknown; did you mean "csv"?'),
        (HEAD + 'csv = "none.csv"', "none.csv: cannot be read"),
        (HEAD + 'fio = "*.json"', "fio = *.json: there is no such file"),
        (HEAD + "[noise]\niops = 5", "noise.iops = 5: must be between"),
        (HEAD + "[known]\nseed = 1", 'known."seed": must be a setting of the drive'),
        (HEAD + "[known.device]\ngeometry.channels = 'x'", '"device.geometry.channels" = x: must be a whole number'),
        (HEAD + "[known.device]\ngeometry.channels = nan", '"device.geometry.channels" = nan: must be a whole number'),
        (HEAD + "[known.device]\ngeometry.channels.x = 1", "device.geometry.channels is no table"),
        (HEAD + "[known]\n'device.ftl' = 5", 'known."device.ftl" = 5: must be a table, such as device.ftl.one_shot'),
        (
            HEAD + "[known.device]\ngeometry.blocks_per_plane = 2",
            'blocks_per_plane" = 2: must be a whole number from 4',
        ),
        (HEAD + "[known.device]\nftl.mapping_unit = '0.3B'", "= 0.3B: must be from 512 bytes to 1 MiB"),
        (HEAD + "[known.device]\ntiming.program = '1e308s'", "= 1e308s: must be from 1 ns to 1000 s"),
        (HEAD + "[known.device]\ntiming.erase = nan", 'measured.toml: known."device.timing.erase" = nan: not a number'),
        (HEAD + "[waf]\na = 1", "measured.toml: waf.a = 1: no job that measures has this name; fio names no report"),
        (HEAD + "[waf]\na = nan", "measured.toml: waf.a = nan: no job that measures has this name"),
        (HEAD + "[sheet]\nspeed = 1", "sheet.speed: unknown"),
        (HEAD + "[sheet]\nread = 6800\nmargin = 3", "sheet.margin = 3: must be between 0 and 1"),
        (ROW + 'workload = "randwirte"', 'row 1: workload = randwirte: unknown; did you mean "randwrite"?'),
        (ROW + 'workload = "randwrite"', "row 1: nothing was measured"),
        (ROW + 'workload = "uniform"\nwaf = 0.9', "row 1: waf = 0.9: must be at least 1"),
        (ROW + 'workload = "uniform"\nwaf = 1e300', "row 1: waf = 1e+300: must be at least 1, and at most 1000"),
        (ROW + 'workload = "uniform 1e400k"\nwaf = 2', "row 1: workload = 1e400k: must be above 0"),
        (ROW + 'workload = "uniform"\nwaf = 2\nskew = "zipf x"', "row 1: skew = x: not a number"),
        (ROW + 'workload = "uniform"\nwaf = 1.0\ndepth = 128', "nothing was collected yet"),
        (ROW + 'workload = "uniform"\nwaf = 2\ndrive_writes = 0.5', "drive_writes = 0.5: the drive was not worn in"),
        (ROW + 'workload = "uniform"\nwaf = 2\nuser_gib = 800', "user_bytes = 8.59e+11: more than the drive's"),
        (ROW + 'workload = "randread"\ndepth = 1\niops = 9000', "row 1: no p50"),
        (ROW + 'workload = "randread"\np50_min = 3', 'p50_min: unknown unit "min"; there are ns, us, ms and s'),
        (ROW + 'workload = "randread"\np50 = "3 lightyears"', 'unknown unit "lightyears"'),
        (ROW + 'workload = "randread"\np50 = -3', "p50 = -3: must be above 0"),
        (ROW + 'workload = "randread"\np50 = 80\np99 = 70', "percentiles of reads fall"),
        (ROW + 'workload = "randrw"\niops = 5', "read_percent: randrw needs one between 0 and 100"),
        (ROW + 'workload = "randrw"\nread_percent = 50\np50 = 5', "p50: of reads or of writes?"),
        (ROW + 'workload = "two-zone"\nwaf = 2', "parameter: two-zone needs one above 0 and below 1"),
    ],
)
def test_bad_input_is_told_by_file_and_field(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        of_text("measured.toml", text, tmp_path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lines_of_a_csv_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# a remark\nworkload,iops\nrandread,9000\nrandread,many\n")
    with pytest.raises(ScenarioError, match=r"a\.csv, line 4: iops = many: not a number"):
        of_text("m", HEAD + 'csv = "a.csv"', tmp_path)
    (tmp_path / "a.csv").write_text("workload,iosp\nrandread,9000\n")
    with pytest.raises(ScenarioError, match=r'a\.csv, line 1: iosp: unknown column; did you mean "iops"'):
        of_text("m", HEAD + 'csv = "a.csv"', tmp_path)


def test_a_column_that_a_csv_has_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("workload,waf,waf\nuniform,2,3\n")
    with pytest.raises(ScenarioError, match=r"a\.csv, line 1: waf: the header has it 2 times"):
        of_text("m", HEAD + 'csv = "a.csv"', tmp_path)


@pytest.mark.parametrize(
    ("rows", "known", "says"),
    [
        (
            "uniform,372,4\nuniform,447,6",
            "",
            ["fitted to h.csv, line 2: waf = 4; h.csv, line 3: waf = 6,", "device.ftl.capacity = ", "below the raw"],
        ),
        ("uniform,372,4", 'known."device.ftl.gc.policy" = "no"', ['device.ftl.gc.policy = "no": unknown choice']),
    ],
)
def test_a_preset_that_is_no_drive_is_refused_and_not_written(
    outlast: Outlast, tmp_path: Path, rows: str, known: str, says: list[str]
) -> None:
    (tmp_path / "h.toml").write_text(f'{HEAD}csv = "h.csv"\n{known}\n')
    (tmp_path / "h.csv").write_text(f"workload,user_gib,waf\n{rows}\n")
    done = outlast("fit", "h.toml", "-o", "h2.toml", check=False)
    assert done.returncode == 2
    for each in ("error: h.toml: the drive that ", *says):
        assert each in done.stderr
    assert not list(tmp_path.glob("h2*"))


def test_random_writes_as_fast_as_sequential_ones_are_of_a_fresh_drive(tmp_path: Path) -> None:
    rows = '[[row]]\nworkload = "write"\nmb_s = 1400\n[[row]]\nworkload = "randwrite"\ndepth = 128\nmb_s = 1390\n'
    with pytest.raises(ScenarioError, match="row 2: 1390 MB/s of random writes, as many as sequential ones"):
        of_text("m", HEAD + rows, tmp_path)
    assert len(of_text("m", HEAD + rows + "steady = true\n", tmp_path).rows) == 2


def test_a_data_sheet_alone_is_enough_to_begin_with(tmp_path: Path) -> None:
    sheet = 'read = 6800\nwrite = 1400\nrandom_read = "530k"\nrandom_write = "145k"\nread_latency = 80\n'
    file = tmp_path / "sheet.toml"
    file.write_text(HEAD + "[sheet]\n" + sheet)
    done = fit(file, points=tmp_path / "points")
    # A promise of 80 us, bettered by 10 %, less what the host, the link and the bus take.
    beside = done.theta["host"] + done.theta["command"] + 4096 / done.theta["link"] + 4096 / 1.6e9
    assert done.found["read"].value + beside == pytest.approx(80e-6 / 1.1, rel=0.005)
    link = done.found["link"]
    assert link.value == pytest.approx(1.1 * 6.8e9, rel=0.01)
    # 1.645 standard deviations of 10 % over √3: nine tenths of what lies between the promise and 20 % more.
    assert link.interval.low == pytest.approx(6.8e9, rel=0.01)
    assert {"read", "dies", "link", "program", "effective"} <= set(done.found)
    assert "too few figures (1)" in done.missing["dies"]
