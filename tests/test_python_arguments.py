"""Arguments of the Python interface that make no sense are refused by an error of Outlast's, with the value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import outlast


@pytest.fixture
def drive(tiny: Path) -> outlast.Drive:
    return outlast.Drive(tiny)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda drive: drive.advance(None), "None: a time is a number of seconds"),
        (lambda drive: drive.advance(True), "True: a time is a number of seconds"),
        (lambda drive: drive.read(True, 4096), "offset = True: must be a whole number"),
        (lambda drive: drive.read(0, 4096.0), "length = 4096.0: must be a whole number"),
        (lambda drive: drive.read("0", 4096), "offset = '0': must be a whole number"),
        (lambda drive: drive.trim(0, None), "length = None: must be a whole number"),
    ],
)
def test_a_drive_refuses_what_is_no_place_or_time(
    drive: outlast.Drive, call: Callable[[Any], object], told: str
) -> None:
    with pytest.raises(outlast.DeviceError) as error:
        call(drive)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: outlast.compare(3, 4), "3: a comparison is of results"),  # type: ignore[arg-type]
        (lambda: outlast.repeat("demo", repeats="3"), "repeats = '3': must be within 1 to 1000"),  # type: ignore[arg-type]
        (lambda: outlast.repeat("demo", repeats=True), "repeats = True: must be within 1 to 1000"),
        (lambda: outlast.run("demo", policies=[1]), "policies = [1]: must be a table of decisions"),  # type: ignore[arg-type]
    ],
)
def test_functions_refuse_what_they_cannot_take(call: Callable[[], object], told: str) -> None:
    with pytest.raises(outlast.OutlastError) as error:
        call()
    assert str(error.value).startswith(told)


def test_figures_can_be_copied_and_pickled() -> None:
    figures = outlast.run("demo", {"workload.synthetic.requests": 100}).throughput
    for again in (copy.copy(figures), copy.deepcopy(figures), pickle.loads(pickle.dumps(figures))):
        assert again == figures and again.iops == figures.iops
