"""Does `outlast model` print what the closed forms say, draw it, and refuse what has no answer?"""

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
from test_bad_input import refused
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("uper --pe 1000:24000", ['"1000:24000"', "from:to:step"]),
        ("uper --pe 24000:1000:10", ["ends before it begins"]),
        ("uper --pe 0:1e9:1", ["more than 100000"]),
        ("uper --rber 1e-9:1e-3:x1", ["factor above 1"]),
        ("uper --parities 0.5", ["0.5", "whole"]),
        ("uper --parities 8", ["parities = 8", "0 to 7"]),
        ("uper --chip qlc", ["qlc", "there are"]),
        ("uper --rber 2", ["rber = 2"]),
        ("uper --waf 1,2", ["--waf", "2 values", "3 curves"]),
        ("dlp --parity 50,20,20", ["sum of parity_percent = 90"]),
        ("ages --rates 1,0.5 --parity 50,50", ["not both"]),
        ("ages --limit -1", ["limit = -1"]),
        ("lifetime --target 2", ["target = 2"]),
        ("lifetime --years 0", ["--years = 0"]),
        ("mttdl --mttr -1", ["mttr = -1"]),
        ("mttdl --scrub 0", ["--scrub = 0"]),
        ("mttdl --device-bytes 4XB", ["4XB", "4TB"]),
        ("mttdl --copies 1", ["copies = 1"]),
        ("lifetime --spare 7%%", ["7%%", "7%"]),
        ("waf --hot-space 0.2", ["belong together"]),
        ("waf --plot . --spare 0.1", ["is a folder"]),
        ("wafe", ["wafe"]),
    ],
)
def test_nonsense_is_refused(outlast: Outlast, tmp_path: Path, arguments: str, says: list[str]) -> None:
    refused(outlast, tmp_path, "model", *arguments.split(), says=says)


# For each option that changes a result: what it is given, and what it needs beside it.
CHANGES = {
    "uper": "--n 9000 --k 9 --codewords 2 --stripe 9 --parities 3 --rber 1e-4 --pe 5000 --waf 2 --chip mlc-2y-nm "
    "--days 9:--chip=mlc-2y-nm --reads 9e5:--chip=mlc-2y-nm --count pages",
    "uber": "--n 5000 --k 5 --user-bits 2048 --chips im-2 --rber 1e-4 --pe 5000",
    "dlp": "--parity 90,5,5,0,0 --parities 2 --full-stripes 0.5 --limit 9000 --chip im-2 --failed any "
    "--device-bytes 1e9 --n 5000 --k 5 --user-bits 2048",
    "ages": "--parity 60,10,10,10,10 --rates 1,0.5 --parities 2:--parity=90,45,25,20,20 --full-stripes 0.5 "
    "--limit 9000 --replacements 9 --start 9,8,7,6,5",
    "lifetime": "--n 9000 --k 9 --codewords 2 --stripe 9 --parities 2 --spare 0.6 --waf 2 --retired 1e-6 --target 1e-9 "
    "--years 3 --chip mlc-2y-nm --days 9:--chip=mlc-2y-nm --reads 9e5:--chip=mlc-2y-nm",
    "mttdl": "--devices 8 --parities 3 --copies 2 --mttf 1e6 --mttr 9 --parallel --uber 1e-16 "
    "--device-bytes 1e12:--uber=1e-16 --latent-mttf 1e5 --scrub 99:--latent-mttf=1e5",
    "waf": "--spare 0.3 --stripe 9:--parities=1 --parities 1 --unusable 0.1 --hot-space 0.2:--hot-writes=0.9 "
    "--hot-writes 0.8:--hot-space=0.2",
}


TOGETHER = {("waf", "--hot-space"), ("waf", "--hot-writes"), ("ages", "--parities")}


def _given(model: str) -> list[tuple[list[str], list[str]]]:
    """Of each option, its own words and those that it needs."""
    found = []
    for part in f" {CHANGES[model]}".split(" --")[1:]:
        own, _, need = part.partition(":")
        found.append((f"--{own}".split(), need.split()))
    return found


@pytest.mark.parametrize("model", NAMES)
def test_every_option_of_a_closed_form_changes_its_result(outlast: Outlast, model: str) -> None:
    from outlast.cli.model import model_command

    def result(words: list[str]) -> list[Any]:
        found = printed(outlast, model, *words)
        return [found["x"]["values"], *found["curves"]]

    options = _given(model)
    known = {own.opts[0] for own in model_command.commands[model].params} - {"--json", "--plot", "--help"}
    assert {own[0] for own, _ in options} == known
    for own, need in options:
        # Options that belong together have no result of one alone.
        without = [] if (model, own[0]) in TOGETHER else need
        assert result([*need, *own]) != result(without), own


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("uper --rber 1e-4 --pe 1000", "--rber gives"),
        ("uper --rber 1e-4 --waf 2", "--rber gives"),
        ("uper --rber 1e-4 --chip msapl", "--rber gives"),
        ("uper --days 9", "chip msapl do not depend on it"),
        ("lifetime --reads 9", "chip msapl do not depend on it"),
        ("uper --parities 0 --stripe 9", "no curve has parity"),
        ("waf --stripe 9", "no curve has parity"),
        ("lifetime --parities 0 --stripe 9", "no curve has parity"),
        ("uber --rber 1e-4 --chips im-2", "--rber gives"),
        ("ages --rates 1,0.5 --parities 2", "any workload"),
        ("ages --rates 1,0.5 --full-stripes 0.5", "any workload"),
        ("mttdl --scrub 9", "--latent-mttf"),
        ("mttdl --device-bytes 1e9", "--uber"),
        ("mttdl --parities 1 --parallel", "one parity"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    outlast: Outlast, tmp_path: Path, arguments: str, why: str
) -> None:
    refused(outlast, tmp_path, "model", *arguments.split(), says=["changes nothing", why])


def test_a_second_parity_saves_data_with_one_device_failed(outlast: Outlast) -> None:
    """By Diff-RAID's formula of one parity, and by hand for two: of a row of codewords one may be unreadable."""
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
