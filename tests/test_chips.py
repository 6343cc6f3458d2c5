"""Do chips, published or of one's own, do what is said of them?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import outlast
from outlast import api, models
from outlast.cli import cli
from outlast.errors import ScenarioError
from outlast.points import key_of

LAW = {"form": "power-law", "epsilon": 4e-4, "alpha": 2e-9, "k": 1.6, "beta": 4e-7, "m": 0.8, "n": 0.45}
LAW |= {"gamma": 3e-9, "p": 0.3, "q": 1.1}
CYCLES, DAYS, READS = (200, 1000, 2000, 3000), (1, 10, 90, 365), (1000, 10_000, 100_000)
CONDITIONS = [
    *((c, t, 0) for c in CYCLES for t in (0, *DAYS)),
    *((c, 0, r) for c in CYCLES for r in READS),
]


def rate(c: float, t: float, r: float) -> float:
    return float(models.rber(LAW, c, t, r))


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    """Rates of a known power law, without noise."""
    file = tmp_path / "mine.csv"
    rows = [f"{c},{t},{r},{rate(c, t, r)!r}" for c, t, r in CONDITIONS]
    file.write_text("\n".join(["pe_cycles,retention_days,reads,rber", *rows]) + "\n")
    return file


def called(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def with_chip(tiny: Path, file: Path | str, **more: Any) -> list[Any]:
    return [tiny, {"device": {"reliability": {"chip": str(file)} | more}}]


def test_every_chip_says_what_it_is_and_where_it_is_known() -> None:
    for name, chip in models.chips().items():
        assert chip.name == name
        assert chip.title
        assert chip.source
        assert 1 <= chip.bits_per_cell <= 4
        assert chip.range.cycles is not None
        # The end of life that the source names lies where it knows the rates.
        assert chip.range.cycles[0] <= chip.end_of_life_cycles <= chip.range.cycles[1]


def test_the_list_and_each_chip_are_shown(tmp_path: Path) -> None:
    known = models.chips()
    listed = called("chips")
    assert listed.exit_code == 0
    as_json = json.loads(called("chips", "--json").stdout)
    assert [chip["name"] for chip in as_json] == list(known)
    for name in known:
        shown = called("chips", name, "--json")
        assert shown.exit_code == 0, shown.output
        sheet = json.loads(shown.stdout)
        for curve in sheet["curves"]:
            expected = models.rber(name, np.asarray(sheet["x"]["values"]), curve["days"])
            assert curve["rber"] == pytest.approx(np.asarray(expected), rel=1e-12)
    page = tmp_path / "tlc.html"
    assert called("chips", "tlc-72-layer", "--plot", str(page)).exit_code == 0
    assert "plotly" in page.read_text().lower()


def test_a_file_is_fitted_and_its_residuals_shown(chip: Path) -> None:
    found = models.measured(chip)
    assert found.rms_log10 < 1e-5
    for name in ("k", "m", "n", "q"):
        assert found.model[name] == pytest.approx(LAW[name], abs=2e-3)
    assert models.rber(found, 1500, 30, 5000) == pytest.approx(rate(1500, 30, 5000), rel=1e-3)
    sheet = json.loads(called("chips", str(chip), "--json").stdout)
    curve = sheet["curves"][0]
    assert sorted(curve["line"]) == list(range(2, 2 + len(CONDITIONS)))
    ratios = np.asarray(curve["rber"]) / np.asarray(sheet["x"]["values"])
    assert curve["ratio"] == pytest.approx(ratios)
    rms = math.sqrt(float(np.mean(np.log10(ratios) ** 2)))
    assert sheet["settings"]["rms_log10"] == pytest.approx(rms, rel=1e-6)
    text = called("chips", str(chip)).stdout
    assert "ratio" in text
    assert "RMS of log10" in text


def test_an_interpolated_chip_meets_every_row(chip: Path) -> None:
    found = models.measured(chip, fit="interpolate")
    assert all(row["fitted"] == pytest.approx(row["measured"], rel=1e-11) for row in found.rows)


def test_a_run_uses_the_file(tiny: Path, chip: Path) -> None:
    """A power law given by hand and the file of its rates make the same errors, within what the fit leaves."""
    state = {"initial": {"pe_cycles": 2000, "age": "90d"}, "ecc": {"strength": 72}}
    by_hand = outlast.run([tiny, {"device": {"reliability": {"model": LAW} | state}}])
    of_file = outlast.run(with_chip(tiny, chip, **state))
    assert of_file.reliability.rber.mean == pytest.approx(by_hand.reliability.rber.mean, rel=1e-4)
    grid = outlast.run(with_chip(tiny, chip, fit="interpolate", **state))
    # At the wear of a row, and at its age: what differs is the wear of the run itself.
    assert grid.reliability.rber.mean == pytest.approx(by_hand.reliability.rber.mean, rel=0.02)


def test_a_resolved_scenario_needs_the_file_no_more(tiny: Path, chip: Path) -> None:
    resolved = api.resolve(with_chip(tiny, chip))
    before, key = outlast.run(resolved), key_of(resolved)
    text = chip.read_text()
    chip.unlink()
    again = outlast.run(resolved)
    assert key_of(resolved) == key
    assert again.reliability.rber.mean == before.reliability.rber.mean
    # What the file says is part of the key.
    chip.write_text(text.replace("pe_cycles", "# of another chip\npe_cycles"))
    assert key_of(api.resolve(with_chip(tiny, chip))) == key
    chip.write_text("pe_cycles,rber\n1000,1e-3\n")
    assert key_of(api.resolve(with_chip(tiny, chip))) != key


def test_temperature_makes_time_count_for_more(tiny: Path, chip: Path) -> None:
    factor = models.acceleration(30, 52)
    assert 8760 / factor == pytest.approx(500, rel=0.03)  # JESD218: 500 hours at 52 °C for a year at 30 °C

    def rates(age: str, **more: Any) -> Any:
        # What the run itself writes would be younger than that.
        reads_only = {"workload.synthetic.read_percent": 100}
        initial = {"pe_cycles": 2000, "age": age}
        return outlast.run(with_chip(tiny, chip, reference_temperature=30, initial=initial, **more), reads_only)

    longer = f"{round(100 * factor * 3600)}s"
    warm, cool, off = rates("100h", temperature=52), rates(longer, temperature=30), rates(longer)
    assert warm.reliability.rber.mean == pytest.approx(cool.reliability.rber.mean, rel=1e-5)
    assert off.reliability.rber.mean == cool.reliability.rber.mean


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["1000,2e-3", "2000,0.7"], "mine.csv:3: rber = 0.7: must be a number between 0 and 0.5"),
        (["1000,2e-3", "2000"], "mine.csv:3: cells = 1: must be 2, as the header has"),
        (["x,2e-3"], "mine.csv:2: pe_cycles = x: must be a number between 0 and 10000000"),
    ],
)
def test_what_is_wrong_is_one_line(tiny: Path, tmp_path: Path, rows: Sequence[str], expected: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(["pe_cycles,rber", *rows]))
    with pytest.raises(models.ModelError) as of_models:
        models.measured(file)
    with pytest.raises(ScenarioError) as of_scenario:
        api.resolve(with_chip(tiny, file))
    for error in (of_models, of_scenario):
        assert expected in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("option", "value", "limit"),
    [
        ("--activation-energy", "nan", "0 and 3 eV"),
        ("--activation-energy", "-1", "0 and 3 eV"),
        ("--reference-temperature", "nan", "-100 and 300 °C"),
        ("--reference-temperature", "-300", "-100 and 300 °C"),
    ],
)
def test_what_converts_times_has_limits(chip: Path, option: str, value: str, limit: str) -> None:
    refusal = called("chips", str(chip), option, value).exception
    name = option.removeprefix("--").replace("-", "_")
    assert isinstance(refusal, models.ModelError)
    assert f"{name} = {value}: must be between {limit}" in str(refusal)


def test_a_file_that_is_not_there_is_one_line(tiny: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.csv"
    for call in (lambda: models.measured(gone), lambda: api.resolve(with_chip(tiny, gone))):
        with pytest.raises(outlast.OutlastError, match=r"gone\.csv: cannot be read: No such file"):
            call()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--plot", "x.html"], "--plot needs a chip"),
        (["im-2", "--fit", "interpolate"], "--fit is for files of measurements"),
        (["x.csv", "--days", "3"], "--days is for published chips"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: list[str], expected: str) -> None:
    done = called("chips", *arguments)
    assert done.exit_code == 2
    assert expected in done.stderr


def test_an_unknown_chip_is_answered_with_a_near_one() -> None:
    with pytest.raises(models.ModelError, match=r'did you mean "tlc-72-layer"\?'):
        models.rber("tlc-72", 0)


def test_what_is_beyond_the_range_is_told_once(tiny: Path, chip: Path, tmp_path: Path) -> None:
    within = outlast.run(with_chip(tiny, chip, initial={"pe_cycles": 3000, "age": "365d"}))
    assert "beyond_range" not in within.summary
    scenario = tmp_path / "worn.toml"
    scenario.write_text(
        f'extends = "{tiny}"\n[device.reliability]\nchip = "mine.csv"\ninitial = {{ pe_cycles = 9000, age = "400d" }}\n'
    )
    done = called("run", str(scenario), "--json", "--quiet")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["beyond_range"]
    assert [sentence.split(" = ")[0] for sentence in told] == [
        "device.reliability.initial.pe_cycles",
        "device.reliability.initial.age",
    ]
    assert "beyond the 200 to 3000 P/E cycles" in told[0]
    assert [line for line in done.stderr.splitlines() if "warning" in line] == [f"warning: {line}" for line in told]
    assert all(f"warning: {line}" in called("validate", str(scenario)).stderr for line in told)
    page = tmp_path / "worn.html"
    outlast.run(scenario).report(page)
    assert "beyond the 200 to 3000 P/E cycles" in page.read_text()
