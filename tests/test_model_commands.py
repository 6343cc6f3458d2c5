"""Does `outlast model` print what the closed forms say, and draw it?"""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Outlast
from outlast import models
from test_report import drawn, opened

NAMES = ("uper", "uber", "dlp", "ages", "lifetime", "mttdl", "waf")
EXAMPLE = "uper --n 8192 --k 8 --stripe 8 --parities 0,1,2 --pe 1000:24000:1000".split()


def printed(outlast: Outlast, *arguments: str) -> dict[str, Any]:
    """The JSON of a closed form; nothing else is printed."""
    done = outlast("model", *arguments, "--json")
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_page_error_rates_over_wear(outlast: Outlast) -> None:
    found = printed(outlast, *EXAMPLE)
    cycles = np.arange(1000.0, 24_001.0, 1000.0)
    assert found["x"]["values"] == cycles.tolist()
    assert [curve["parities"] for curve in found["curves"]] == [0, 1, 2]
    for curve in found["curves"]:
        rates = curve["uper"]
        assert all(rate > 0 for rate in rates)
        assert all(a < b for a, b in itertools.pairwise(rates))
        expected = models.uper(models.rber("msapl", cycles), 8192, 8, stripe=8, parities=curve["parities"])
        assert rates == expected.tolist()
        assert curve["log10_uper"] == pytest.approx([math.log10(rate) for rate in rates])
    assert found["curves"][1]["uper"][0] < 1e-60
    assert found["curves"][2]["uper"][0] < 1e-60


def test_rates_too_small_for_a_float_are_shown_by_their_logarithm(outlast: Outlast) -> None:
    found = printed(outlast, "uper", "--rber", "1e-60", "--parities", "2")
    (curve,) = found["curves"]
    assert curve["uper"] == [0.0]
    assert curve["log10_uper"][0] == pytest.approx(models.uper(1e-60, parities=2, log=True) / math.log(10))
    text = outlast("model", "uper", "--rber", "1e-60", "--parities", "2").stdout
    assert re.search(r"\d\.\d+e-9\d\d", text)


def test_wear_of_parity_and_pages_counted(outlast: Outlast) -> None:
    found = printed(outlast, "uper", "--stripe", "16", "--waf", "1,1.2,1.5", "--pe", "14000:22000:500")
    none, one, two = (np.array(curve["uper"]) for curve in found["curves"])
    x = np.array(found["x"]["values"])
    # RAID-6 crosses RAID-0 near 16K, RAID-5 near 20K: the reverse of mSAPL's sentence.
    assert x[np.argmax(two > none)] == 16_000
    assert 19_500 <= x[np.argmax(one > none)] <= 20_500
    pages = printed(outlast, "uper", "--count", "pages", "--pe", "20000", "--k", "40", "--chip", "tlc-72-layer")
    assert pages["curves"][0]["page_loss"] == [models.page_loss(models.rber("tlc-72-layer", 20_000), k=40)]


def test_bit_error_rates(outlast: Outlast) -> None:
    found = printed(outlast, "uber", "--chips", "d-mlc32-1,im-1", "--pe", "5000,10000")
    assert [curve["chip"] for curve in found["curves"]] == ["d-mlc32-1", "im-1"]
    assert found["curves"][0]["uber"][1] == pytest.approx(5.31e-13, rel=0.035)


def test_data_loss_of_diff_raid(outlast: Outlast) -> None:
    found = printed(outlast, "dlp", "--limit", "10000,13000")
    uneven, even = found["curves"]
    assert uneven["ages"][0] == pytest.approx([10_000, 5750, 4312.5, 2875, 1437.5])
    assert even["ages"][0] == [10_000] * 5
    assert (uneven["converges"], even["converges"]) == (True, False)
    assert even["dlp"][0] == pytest.approx(
        models.data_loss([models.uber(models.rber("d-mlc32-1", 10_000))] * 4, 6.4e11)
    )
    assert uneven["dlp"][1] < 1e-3 < even["dlp"][0]
    anyone = printed(outlast, "dlp", "--limit", "10000", "--failed", "any")["curves"]
    assert anyone[0]["dlp"][0] > uneven["dlp"][0]
    # Where all age alike, it does not matter which one has failed.
    assert anyone[1]["dlp"] == pytest.approx(even["dlp"][:1])


def test_ages(outlast: Outlast) -> None:
    found = printed(outlast, "ages", "--replacements", "200")
    assert found["settings"]["steady_ages"] == pytest.approx([5750, 4312.5, 2875, 1437.5, 0])
    assert [curve["age"][-1] for curve in found["curves"]] == pytest.approx([5750, 4312.5, 2875, 1437.5, 0])
    pairs = printed(outlast, "ages", "--parity", "100,100,0,0", "--parities", "2")
    assert pairs["settings"]["converges"] is False
    assert "do not converge" in outlast("model", "ages", "--parity", "100,100,0,0", "--parities", "2").stdout
    own = printed(
        outlast, "ages", "--rates", "1,0.5,0.5", "--limit", "1", "--start", "0.5,0.25,0", "--replacements", "2"
    )
    assert [curve["age"][-1] for curve in own["curves"]] == pytest.approx([0.5, 0.25, 0.0])


def test_lifetime(outlast: Outlast) -> None:
    found = printed(outlast, "lifetime", "--target", "1e-15,1e-18", "--parities", "1", "--retired", "5e-6")
    (curve,) = found["curves"]
    drive = models.Drive(spare=0.5, parities=1, retired_per_cycle=5e-6)
    for end in curve["life"]:
        life = drive.lifetime(end["target"])
        assert end["drive_writes"] == pytest.approx(life.drive_writes)
        assert end["drive_writes_per_day"] == pytest.approx(life.drive_writes / 1825)
        # The curve passes through its end.
        at = np.interp(end["drive_writes"], found["x"]["values"], curve["log10_uper"])
        assert at == pytest.approx(math.log10(end["target"]), abs=0.05)
    assert "errors" in outlast("model", "lifetime").stdout


def test_mean_time_to_data_loss(outlast: Outlast) -> None:
    found = printed(outlast, "mttdl", "--devices", "8", "--parities", "1", "--mttf", "1e6", "--mttr", "10")
    assert found["curves"][0]["mttdl_hours"][0] == pytest.approx((15e-6 + 0.1) / (8e-6 * 7e-6))
    worse = printed(
        outlast, "mttdl", "--devices", "8", "--parities", "1", "--mttf", "1e6", "--mttr", "10", "--uber", "1e-16"
    )
    assert worse["curves"][0]["read_failure"][0] == pytest.approx(models.read_failure(1e-16, 7 * 8 * 32e12))
    assert worse["curves"][0]["mttdl_years"][0] < 0.01 * found["curves"][0]["mttdl_years"][0]


def test_mean_time_to_data_loss_of_mirrors_with_sizes_as_people_write_them(outlast: Outlast) -> None:
    common = (
        "mttdl",
        "--devices",
        "2,8",
        "--parities",
        "1",
        "--copies",
        "2",
        "--parallel",
        "--uber",
        "1e-16",
        "--mttr",
        "10",
    )
    found = printed(outlast, *common, "--device-bytes", "4TB")
    assert found["settings"]["device_bytes"] == 4e12
    assert printed(outlast, *common, "--device-bytes", "4e12") == found
    one, eight = found["curves"][1]["mttdl_hours"]
    rate, repair, read = 1 / 1.5e6, 0.1, models.read_failure(1e-16, 8 * 4e12)
    assert one == pytest.approx((3 * rate + repair) / (2 * rate * (rate + repair * read)))
    assert eight == pytest.approx(one / 4, rel=1e-3)
    # Two devices: one parity is a mirror.
    assert found["curves"][0]["mttdl_hours"][0] == pytest.approx(one)
    table = outlast("model", *common).stdout
    assert "1 parity (years)" in table and "RAID-10, 2 copies (years)" in table
    assert printed(outlast, "waf", "--spare", "7%,28%")["x"]["values"] == [0.07, 0.28]


def test_write_amplification(outlast: Outlast) -> None:
    found = printed(outlast, "waf", "--spare", "0.05,0.28", "--stripe", "8", "--parities", "0,1")
    assert found["curves"][0]["waf"] == pytest.approx(models.waf([0.05, 0.28]).tolist())
    assert found["curves"][1]["waf"][0] is None
    assert found["curves"][1]["waf"][1] == pytest.approx(8 / 7 * models.waf(0.12))
    assert "no spare space is left below a spare factor of 0.1429" in found["notes"][0]


def test_tables_and_help(outlast: Outlast) -> None:
    for name in NAMES:
        assert "Example" in outlast("model", name, "--help").stdout
        text = outlast("model", name).stdout
        assert len(text.splitlines()) > 4


@pytest.mark.parametrize("name", NAMES)
def test_charts_load_nothing(outlast: Outlast, tmp_path: Path, name: str) -> None:
    done = outlast("model", name, "--plot", "page.html")
    assert (done.stdout, done.stderr) == ("", "written: page.html\n")
    page = re.sub(r"<script>.*?</script>", "", (tmp_path / "page.html").read_text(), flags=re.S)
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert 'id="curves"' in page
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])  # type: ignore[index]
    assert all(len(trace["x"]) == len(trace["y"]) > 1 for trace in data["data"])


def test_a_chart_is_drawn(browser: Any, outlast: Outlast, tmp_path: Path) -> None:
    outlast("model", *EXAMPLE, "--plot", "page.html")
    assert opened(browser, tmp_path / "page.html") == []
    assert drawn(browser) == 1


def test_a_second_parity_saves_data_with_one_device_failed(outlast: Outlast) -> None:
    """Compares with Diff-RAID's formula for one parity; for two, of a row of codewords one may be unreadable."""
    one, two = (
        printed(outlast, "dlp", "--parities", m, "--parity", ",".join([f"{20 * int(m)}"] * 5), "--limit", "10000")
        for m in ("1", "2")
    )
    rate = models.uber(models.rber("d-mlc32-1", 10_000.0), 4148, 4, user_bits=4096)
    bad = -math.expm1(4096 * math.log1p(-rate))
    # Four survivors of which two fail, to first order; the rest is smaller by the chance of one.
    lost = 6 * bad**2 * 8 * 80e9 / 4096
    assert two["curves"][0]["dlp"][0] == pytest.approx(lost, rel=1e-3 + 4 * bad)
    assert two["curves"][0]["dlp"][0] < 1e-3 * one["curves"][0]["dlp"][0]


@pytest.mark.parametrize(("parities", "latent"), [("1", False), ("2", False), ("1,2", False), ("1", True)])
def test_the_equation_of_mttdl_is_that_of_its_curves(outlast: Outlast, parities: str, latent: bool) -> None:
    more = ["--latent-mttf", "1e5"] if latent else []
    equation = printed(outlast, "mttdl", "--parities", parities, *more)["equation"]
    assert equation.startswith("((2n−1)·λ + μ)") == (parities == "1" and not latent)
    with_mirrors = printed(outlast, "mttdl", "--parities", parities, "--copies", "2", *more)["equation"]
    assert "RAID-10" in with_mirrors and "RAID-10" not in equation
