"""Does what is installed elsewhere have all that the checkout has?"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from outlast.report import bundle

ROOT = Path(__file__).resolve().parent.parent


def maturin(*args: str) -> None:
    """Runs maturin on the checkout; what is built already is not built again."""
    made = subprocess.run([sys.executable, "-m", "maturin", *args], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which nothing but the wheel has been installed."""
    wheels = tmp_path_factory.mktemp("wheels")
    maturin("build", "--locked", "--profile", os.environ.get("PROFILE", "release"), "-o", str(wheels))
    (wheel,) = wheels.glob("*.whl")
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", place, wheel], check=True)
    return place


def outlast(place: Path, *args: str) -> str:
    """Runs the installed program outside the checkout, without plotly, which is an extra."""
    code = (
        "import sys; sys.modules['plotly'] = None; import outlast; "
        f"assert outlast.__file__.startswith({str(place)!r}); from outlast.cli import main; main()"
    )
    env = {**os.environ, "PYTHONPATH": str(place)}
    command = [sys.executable, "-P", "-c", code, *args]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(900)
def test_the_installed_program_reproduces_papers(installed: Path, tmp_path: Path) -> None:
    told = outlast(installed, "reproduce", "flexible/space", "--out", str(tmp_path / "book"))
    assert "statements agree" in told
    assert (tmp_path / "book" / "reproduction.json").is_file()


@pytest.mark.timeout(900)
def test_the_installed_program_has_every_scenario(installed: Path) -> None:
    there = {
        path.relative_to(installed / "outlast" / "scenarios") for path in installed.glob("outlast/scenarios/*/*.*")
    }
    assert there == {path.relative_to(ROOT / "scenarios") for path in (ROOT / "scenarios").glob("*/*.*")}


@pytest.mark.timeout(900)
@pytest.mark.skipif(not bundle.PLACE.is_file(), reason="the small chart library is absent: npm was not there at setup")
def test_the_installed_program_writes_reports_without_plotly(installed: Path, tmp_path: Path) -> None:
    place = tmp_path / "run"
    outlast(installed, "run", "demo", "--set", "workload.synthetic.duration=1s", "--out", str(place), "--quiet")
    page = (place / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 1.6e6
    assert 'type="application/gzip"' in page


def test_the_source_distribution_holds_what_the_build_reads(tmp_path: Path) -> None:
    maturin("sdist", "-o", str(tmp_path))
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        top = archive.name.removesuffix(".tar.gz")
        held = {name.removeprefix(f"{top}/") for name in opened.getnames()}
    presets = {str(path.relative_to(ROOT)) for path in (ROOT / "scenarios" / "presets").rglob("*.toml")}
    assert presets <= held
    assert "crates/scenario/src/presets.rs" in held
    library = bundle.PLACE.relative_to(ROOT)
    assert (str(library) in held) == bundle.PLACE.is_file()
