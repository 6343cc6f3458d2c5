"""Values of the wrong kind are refused by an error of Outlast's, in one line, wherever Python hands one over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import outlast
from outlast import fleet, models

SHORT = {"workload.synthetic.duration": None, "workload.synthetic.requests": 100}
HALF = "\ud800"
Calls = dict[str, Callable[[Any], object]]


@pytest.fixture(scope="module")
def result() -> outlast.Result:
    return outlast.run("demo", SHORT)


def _refused(calls: Calls, values: list[Any]) -> None:
    for name, call in calls.items():
        for value in values:
            with pytest.raises(outlast.OutlastError) as error:
                call(value)
            assert "\n" not in str(error.value), name


def test_names_that_are_no_text_are_refused(result: outlast.Result) -> None:
    both = outlast.compare(result, outlast.run("demo", {**SHORT, "seed": 7}))
    calls: Calls = {
        "plot": result.plot,
        "figure_of": result.plot.figure_of,
        "causes": result.plot.causes,
        "plot of a comparison": both.plot,
        "table": result.table,
        "columns": result.columns,
        "table of a comparison": both.table,
        "show_preset": outlast.show_preset,
    }
    _refused(calls, [None, 3, ["distribution"], HALF])


def test_places_that_are_no_path_are_refused(result: outlast.Result, tmp_path: Path) -> None:
    both = outlast.compare(result, outlast.run("demo", {**SHORT, "seed": 7}))
    calls: Calls = {
        "write": result.write,
        "report": result.report,
        "report of a comparison": both.report,
        "snapshot": lambda file: outlast.snapshot("demo", file, SHORT),
        "repeat": lambda out: outlast.repeat("demo", SHORT, repeats=1, out=out),
        "sweep": lambda out: outlast.sweep({"scenario": "demo", "vary": []}, out),
        "explain": lambda folder: outlast.explain(result, trials=True, folder=folder),
        "trace": lambda output: outlast.trace_convert(tmp_path / "none.csv", output, "csv"),
        "trace that is read": lambda file: outlast.trace_convert(file, tmp_path / "out.csv", "csv"),
    }
    _refused(calls, [3, True, b"x", ["x"], {}, np.array([1, 2]), "a\0b", HALF])


def test_answers_that_are_no_yes_or_no_are_refused(tiny: Path) -> None:
    drive = outlast.Drive(tiny)
    calls: Calls = {
        "validate": lambda load: outlast.validate("demo", SHORT, load=load),
        "estimate": lambda load: outlast.estimate("demo", SHORT, load=load),
        "read": lambda limited: drive.read(0, 4096, limited),
        "write": lambda fua: drive.write(0, bytes(4096), fua),
        "run": lambda fua: drive.run("write", 0, 4096, bytes(4096), fua=fua),
        "power_on": drive.power_on,
        "power_cut": drive.power_cut,
    }
    _refused(calls, [None, 1, "yes", [], np.array([1, 2])])
    drive.write(0, bytes(4096), fua=np.bool_(True))  # type: ignore[arg-type]


def test_numbers_and_times_of_the_wrong_kind_are_refused(tiny: Path) -> None:
    drive = outlast.Drive(tiny)
    simulation = outlast.open("demo", SHORT)
    calls: Calls = {
        "jobs of repeats": lambda jobs: outlast.repeat("demo", SHORT, repeats=2, jobs=jobs),
        "seed": lambda seed: outlast.run("demo", SHORT, seed=seed),
        "die_map": simulation.state.die_map,
        "density": simulation.state.density,
        "advance": simulation.advance,
        "advance of a drive": drive.advance,
    }
    _refused(calls, [HALF, [1], {}, timedelta(seconds=-1), np.array([1, 2])])
    with pytest.raises(outlast.ScenarioError):
        outlast.restore("none.snapshot", True)  # type: ignore[arg-type]
    with pytest.raises(outlast.ScenarioError):
        outlast.open("demo", SHORT, progress=True)


@pytest.mark.parametrize("answer", ["no", 3, [], {}])
def test_a_progress_function_that_answers_neither_yes_nor_no_is_refused(answer: object, tmp_path: Path) -> None:
    calls: Calls = {
        "run": lambda tell: outlast.run("peers-32g", progress=tell),
        "snapshot": lambda tell: outlast.snapshot("peers-32g", tmp_path / "s", progress=tell),
        "open": lambda tell: outlast.open("peers-32g", progress=tell).run(),
    }
    for call in calls.values():
        with pytest.raises(outlast.ScenarioError, match="progress: the function gave a value of type") as error:
            call(lambda *_: answer)
        assert "\n" not in str(error.value)
    assert not (tmp_path / "s").exists()


def test_closed_forms_refuse_what_is_no_number_or_answer() -> None:
    rates = [0.4, 0.3, 0.3]
    calls: Calls = {
        "full_stripes": lambda value: models.aging_rates([50, 50], full_stripes=value),
        "steady_ages": lambda value: models.steady_ages(rates, value),
        "replacements": lambda value: models.replacements(rates, value, 3),
        "array_life": lambda value: models.array_life([80, 5, 5, 5, 5], limit=value),
        "count_moves": lambda value: models.array_life([80, 5, 5, 5, 5], count_moves=value),
        "shift": lambda value: models.array_life([80, 5, 5, 5, 5], shift=value),
        "balanced_spaces": lambda value: models.balanced_spaces(value, [3, 4]),
        "acceleration": lambda value: models.acceleration(value, 55),
        "measured": models.measured,
        "activation_energy": lambda value: models.measured("none.csv", activation_energy=value),
        "rber": lambda value: models.rber(value, 3000),
        "classes": models.parity_overhead,
        "patterns": lambda value: models.two_level_uper(1e-3, value),
        "pattern": lambda value: models.two_level_uper(1e-3, [0, value]),
        "log": lambda value: models.uber(1e-4, log=value),
        "mttdl": lambda value: models.mttdl(8, 1, 1e6, 24, parallel_repair=value),
        "loss_by": lambda value: models.loss_by(8760, 8, 1, 1e6, 24, parallel_repair=value),
        "disjoint": lambda value: models.sets_lost(10, 2, 3, 1, 5, disjoint=value),
        "data_loss": lambda value: models.data_loss(value, 8e10),
        "backblaze": lambda value: fleet.backblaze(value, 3),
        "parity": lambda value: fleet.backblaze(0.01, 3, parity=value),
        "ceph": fleet.ceph_rados,
    }
    _refused(calls, [None, "x", [], [None], object()])
    _refused({"frame": fleet.frame}, [None, "x", [None], {}, object()])
    assert models.two_level_uper(1e-3, [0, 0, 0, 0, 1]) == pytest.approx(1e-12 / 4)
