"""Does the page of a fit say what was promised, what was measured, and what the drive can be trusted for?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from outlast.products.fit import measured, words
from outlast.products.fit.engine import Fit, Found
from outlast.products.fit.intervals import Interval
from outlast.products.fit.machine import Machine
from outlast.products.fit.observe import observations
from outlast.products.fit.page import page
from outlast.products.fit.parameters import PARAMETERS

SHEET = """
capacity = "800GB"
[sheet]
read = 6800
random_read = "530k"
read_latency = 80
"""
MEASURED = 'capacity = "800GB"\n[[row]]\nworkload = "randread"\ndepth = 1\np50 = "80us"\n'


def fitted(text: str, error: float = 0.0) -> Fit:
    """A fit of the drive in a measured.toml whose every figure is missed by `error`."""
    drive = measured.of_text("drive.toml", text, Path.cwd())
    theta = {each.name: each.start for each in PARAMETERS}
    fit = Fit(drive, Machine(drive), theta | {"effective": 860e9}, seen=observations(drive.rows))
    fit.simulated = np.array([np.log(each.figure.value * (1 + error)) for each in fit.seen])
    for each in PARAMETERS:
        stages = {seen.stage for seen in fit.seen}
        if each.name in stages:
            fit.found[each.name] = Found(each.name, each.name, theta[each.name], Interval(None, None), 1)
    return fit


def test_a_promise_is_not_called_measured() -> None:
    shown = [words.given(each) for each in fitted(SHEET).seen]
    assert shown[0] == "6800 MB/s promised, taken as 57.07 k requests a second (+10 %)"
    assert shown[1].startswith("530.0 k promised, taken as 583.0 k (+10 %)")
    assert shown[2] == "80.0 µs promised, taken as 72.7 µs (−9 %)"
    assert [words.given(each) for each in fitted(MEASURED).seen] == ["80.0 µs"]


def test_dies_of_a_data_sheet_rest_on_what_limits_random_reads() -> None:
    fit = fitted(SHEET)
    told = words.fitted_figures(fit.found["dies"], fit)
    assert told.startswith("rate of random reads over depth (1 figure), promised and not measured")
    assert "assumes that dies limit random reads" in told
    fit = fitted(MEASURED)
    assert words.fitted_figures(fit.found["read"], fit) == "median latency of random reads at depth 1 (1 figure)"


@pytest.mark.parametrize(
    ("share", "shown"), [(-0.0004, "0.0 %"), (0.0, "0.0 %"), (0.0123, "+1.2 %"), (-0.0123, "−1.2 %")]
)
def test_no_error_has_no_sign(share: float, shown: str) -> None:
    assert words.percent(share, signed=True) == shown


def test_what_a_drive_can_be_trusted_for_is_said_in_a_sentence() -> None:
    told = words.trust(fitted(MEASURED))
    assert told.startswith("Trust it for the latency of single reads. Do not trust it for sequential reads, ")
    assert words.trust(fitted(SHEET)).startswith("As far as the data sheet holds, trust it for ")
    known = MEASURED + '[known]\n"device.timing.program" = "700us"\n'
    assert "sequential writes" not in words.trust(fitted(known))


def test_the_page_names_each_figure_beside_its_error() -> None:
    shown = page(fitted(SHEET, 0.004))
    assert re.search(r'"categoryarray":\["[^"]*randread, 4 KiB[^"]*: iops"|"[^"]*read, 128 KiB', shown)
    assert '"error_x"' in shown and '"tickformat":"+.1~%"' in shown
    assert '<td class="prose">' in shown
    # The first screen says what the drive is.
    assert shown.index(">dies<") < shown.index("error of fitted figures")
