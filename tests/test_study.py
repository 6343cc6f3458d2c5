"""Does `outlast new study` make a folder that checks itself, and does `outlast docs` have every page of the guide?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, Outlast
from test_bad_input import refused
from test_docs import program_on_path  # noqa: F401 - a fixture

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make absent")


def make(folder: Path, environment: dict[str, str], *targets: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *targets], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_study_checks_its_numbers(
    outlast: Outlast,
    tmp_path: Path,
    program_on_path: dict[str, str],  # noqa: F811
) -> None:
    outlast("new", "study", "own", "--extends", "demo")
    study = tmp_path / "own"
    (study / "scenario.toml").write_text((study / "scenario.toml").read_text().replace('"1s"', '"150ms"'))
    assert "nothing is accepted yet" in make(study, program_on_path, "check").stderr
    done = make(study, program_on_path, "accept")
    assert done.returncode == 0, done.stderr
    assert "the same numbers" in make(study, program_on_path, "check").stdout
    kept = study / "expected" / "points.csv"
    kept.write_text(kept.read_text().replace("greedy,", "greedy,1", 1))
    done = make(study, program_on_path, "check")
    assert done.returncode != 0 and "differ" in done.stdout + done.stderr


def test_a_study_refuses_another_version(outlast: Outlast, tmp_path: Path, program_on_path: dict[str, str]) -> None:  # noqa: F811
    outlast("new", "study", "own")
    made = tmp_path / "own" / "Makefile"
    made.write_text(made.read_text().replace("VERSION := ", "VERSION := 99."))
    done = make(tmp_path / "own", program_on_path)
    assert done.returncode != 0 and "was made with outlast 99." in done.stderr


def test_a_limit_that_is_not_met_fails_each_time(
    outlast: Outlast,
    tmp_path: Path,
    program_on_path: dict[str, str],  # noqa: F811
) -> None:
    """A run that fails its limits leaves nothing that `make` would take for done."""
    outlast("new", "study")
    scenario = tmp_path / "study" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('">= 1"', '">= 1000"'))
    for _ in range(2):
        made = make(tmp_path / "study", program_on_path, "out/run/report.html")
        assert made.returncode == 2 and "not met" in made.stderr


def test_a_preset_that_the_workload_does_not_suit_makes_no_study(outlast: Outlast, tmp_path: Path) -> None:
    refused(outlast, tmp_path, "new", "study", "--extends", "wd-zn540", says=["wd-zn540", "device.zones"])


def test_files_of_a_study_are_valid(outlast: Outlast, tmp_path: Path) -> None:
    outlast("new", "study", "own")
    text = (tmp_path / "own" / "scenario.toml").read_text()
    assert text.startswith("#:schema ./scenario.schema.json\n")
    outlast("validate", "own/scenario.toml")
    assert "$" not in text + (tmp_path / "own" / "sweep.toml").read_text()
    refused(outlast, tmp_path, "new", "study", "own", says=["already exists"])
    refused(outlast, tmp_path, "new", "study", "other", "--extends", "dmo", says=['did you mean "demo"?'])
    refused(outlast, tmp_path, "new", "study", "a b", says=["letters, digits"])


def test_the_guide_is_in_the_package(outlast: Outlast, tmp_path: Path) -> None:
    pages = {path.stem for path in (ROOT / "docs" / "guide").glob("*.md")}
    assert {line.split()[0] for line in outlast("docs").stdout.splitlines()} == pages
    assert outlast("docs", "arrays").stdout == (ROOT / "docs" / "guide" / "arrays.md").read_text()
    found = outlast("docs", "--search", "CAPACITY_scale").stdout.splitlines()
    assert any(line.startswith("choose-a-preset:") for line in found)
    refused(outlast, tmp_path, "docs", "aray", says=['did you mean "arrays"?'])
    assert os.path.lexists(ROOT / "python" / "outlast" / "guide")


@pytest.mark.parametrize("topic", ["ARRAYS", "arrays.md", "guide/arrays.md"])
def test_a_page_is_found_as_links_name_it(outlast: Outlast, topic: str) -> None:
    assert outlast("docs", topic).stdout == outlast("docs", "arrays").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("../../CHANGELOG",), "no page"),
        (("a\nb\x1b[31m",), 'no page "a?b?[31m"'),
        (("x" * 5000,), f'no page "{"x" * 60}…"'),
        (("",), 'no page ""'),
        (("--search", " "), "say what to look for"),
        (("arrays", "--search", "x"), "leave out the topic"),
    ],
    ids=["path", "control", "long", "empty", "nothing", "both"],
)
def test_topics_that_cannot_be_are_refused_in_a_line(outlast: Outlast, arguments: tuple[str, ...], says: str) -> None:
    done = outlast("docs", *arguments, check=False)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 300
