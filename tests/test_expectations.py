"""Do limits of [expect] judge a result by its figures in their units, and are limits that cannot be judged refused?"""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import outlast
from conftest import Outlast
from outlast.expectations import Expectation, expectations, outcomes
from test_bad_input import refused

SHORT = "\n[workload.synthetic]\nduration = '100ms'\n"
P99, IOPS = "latency_us.read.p99", "throughput.iops"


@pytest.fixture
def expecting(tmp_path: Path, tiny: Path) -> Path:
    """A scenario of a drive with limits that it keeps, and one that it does not."""
    file = tmp_path / "expecting.toml"
    file.write_text(
        f'extends = "tiny.toml"\nname = "expecting"\n{SHORT}[expect]\n'
        f'"{P99}" = "> 1us and < 1s"\n"{IOPS}" = "> 1M"\n"write_amplification.total" = ">= 1"\n'
    )
    return file


def test_a_limit_that_is_not_met_is_exit_code_1_and_said(outlast: Outlast, expecting: Path, tmp_path: Path) -> None:
    done = outlast("run", expecting, "--junit", "junit.xml", "--json", check=False)
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    lines = [line for line in done.stderr.splitlines() if line.startswith("not met")]
    assert len(lines) == 1
    assert lines[0].startswith(f"not met: {IOPS} = ")
    assert lines[0].endswith("expected > 1M")
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [f"{IOPS} > 1M"]
    assert summary["throughput"]["iops"] < 1e6


def test_limits_that_are_met_are_exit_code_0(outlast: Outlast, expecting: Path) -> None:
    done = outlast("run", expecting, "--set", f"expect.{IOPS}=> 1", "--quiet")
    assert "not met" not in done.stderr


def test_outcomes_have_the_figures_of_the_result(expecting: Path) -> None:
    result = outlast.run(expecting)
    found = {each.figure: each for each in outcomes(result)}
    assert found[P99].value == result.latency_us.read.p99
    assert {name: each.met for name, each in found.items()} == {
        P99: True,
        IOPS: False,
        "write_amplification.total": True,
    }


def test_a_figure_that_the_result_lacks_is_not_met_and_says_why(tiny: Path) -> None:
    result = outlast.run(tiny, {"workload.synthetic.read_percent": 0, f"expect.{P99}": "< 1ms"})
    (found,) = outcomes(result)
    assert not found.met
    assert "absent: no run served such a request with time" in found.message


@pytest.mark.parametrize(
    ("figure", "said", "limit"),
    [
        (P99, "< 1ms", 1000.0),
        (P99, "<2", 2.0),
        (P99, "< 1500ns", 1.5),
        ("array.degraded_s", "< 2min", 120.0),
        (IOPS, "> 45k", 45_000.0),
        ("throughput.read_mib_s", "> 1GiB/s", 1024.0),
        ("throughput.read_mib_s", "> 1048576 B/s", 1.0),
        ("wear.mean_pe", "< 3_000", 3000.0),
        ("endurance.tbw_bytes", "> 1TB", 1e12),
    ],
)
def test_limits_are_in_the_unit_of_the_figure(figure: str, said: str, limit: float) -> None:
    (found,) = expectations({"expect": {figure: said}})
    assert [number for _, number in found.limits] == [pytest.approx(limit, rel=1e-12)]


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_value_keeps_limits_as_arithmetic_says(value: float, low: float, high: float) -> None:
    assume(low < high)
    (found,) = expectations({"expect": {"throughput.iops": f">= {low!r} and < {high!r}"}})
    assert found.is_met(value) == (low <= value < high)
    assert not found.is_met(None)
    assert isinstance(found, Expectation)


@pytest.mark.parametrize(
    ("figure", "said", "message"),
    [
        ("latency_us.reed.p99", "< 1ms", 'no such figure; did you mean "latency_us.read.p99"?'),
        (P99, "1ms", "must be <, <=, > or >= and a number"),
        (P99, "< 1GB", 'unit "GB": the figure is in µs'),
        (P99, "< 1ms and", "must be <, <=, > or >= and a number"),
        (P99, "< 1e400ms", "must be <, <=, > or >= and a number"),
        (P99, "", "must be <, <=, > or >= and a number"),
        (P99, "< 1_ms", 'unit "_ms": the figure is in µs'),
        (P99, "< 1__0ms", "must be <, <=, > or >= and a number"),
        (P99, "<١ms", "must be <, <=, > or >= and a number"),
        (P99, "> 5ms and < 1ms", "no number meets these limits together"),
        (P99, "< 2 and >= 2", "no number meets these limits together"),
    ],
)
@pytest.mark.parametrize("command", ["run", "validate"])
def test_limits_that_cannot_be_judged_are_refused_before_the_run(
    outlast: Outlast, tmp_path: Path, tiny: Path, command: str, figure: str, said: str, message: str
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(f'extends = "tiny.toml"\n[expect]\n"{figure}" = "{said}"\n')
    refused(outlast, tmp_path, command, file, says=[figure, message])


def test_the_outcome_is_not_written_over_the_scenario(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    refused(outlast, tmp_path, "run", tiny, "--junit", tiny.name, says=[tiny.name, "is read by this command"])


@pytest.mark.parametrize("name", ["result.json", "scenario.toml", "latency.parquet"])
def test_the_outcome_is_not_written_over_a_file_of_the_result(
    outlast: Outlast, tmp_path: Path, tiny: Path, name: str
) -> None:
    says = [name, "of the result in out"]
    for option in ("--junit", "--report"):
        refused(outlast, tmp_path, "run", tiny, "--out", "out", option, f"./out/{name}", says=says)


def test_the_outcome_on_standard_output_is_all_of_it(outlast: Outlast, tmp_path: Path, expecting: Path) -> None:
    done = outlast("run", expecting, "--junit", "-", check=False)
    assert done.returncode == 1
    assert ElementTree.fromstring(done.stdout).get("failures") == "1"
    assert not (tmp_path / "-").exists()
    says = ["--json and --junit - both print on standard output"]
    refused(outlast, tmp_path, "run", expecting, "--junit", "-", "--json", says=says)
    refused(outlast, tmp_path, "run", expecting, "--report", "-", says=["-: this is not written to standard output"])
