"""Does the dry run of a release find what would stop it on a hosted runner, and nothing in this checkout?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outlast import __version__

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "release"))

import dry_run  # noqa: E402
import notes  # noqa: E402
import recipe  # noqa: E402

FILES = (
    *("Cargo.toml", "CHANGELOG.md", "CITATION.cff", "Containerfile", "LICENSE-APACHE", "LICENSE-MIT", "Makefile"),
    *("action.yml", "pyproject.toml", "rust-toolchain.toml"),
)
RECIPE = "release/conda/recipe.yaml"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files of a release, to be changed."""
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    shutil.copytree(ROOT / "release" / "conda", tmp_path / "release" / "conda")
    return tmp_path


def test_nothing_would_stop_a_release(copy: Path) -> None:
    assert dry_run.problems(ROOT) == []
    assert dry_run.problems(copy) == []
    assert dry_run.problems(ROOT, f"v{__version__}") == []


@pytest.mark.parametrize(
    ("file", "right", "wrong", "says"),
    [
        ("CITATION.cff", "version: 0.1.0", "version: 0.0.9", "CITATION.cff: version 0.0.9, not 0.1.0"),
        ("CHANGELOG.md", "## 0.1.0", "## 0.0.1", "CHANGELOG.md: "),
        ("Containerfile", "rust:1.95-", "rust:1.80-", "Containerfile: Rust 1.80"),
        ("Makefile", "\nrelease: ", "\nreleased: ", "release.yml: make release: no such target"),
        ("action.yml", "--budget", "--budgets", "action.yml: outlast torture check --budgets: no such option"),
        ("action.yml", "${{ inputs.fs }}", "ext4", "action.yml: input fs: is not used"),
        (".github/workflows/test.yml", "actions/checkout@v4", "actions/checkout", "test.yml: uses actions/checkout"),
        (".github/workflows/release.yml", "mkdir packages", "mkdir (packages", "release.yml: script"),
        (RECIPE, 'version: "0.1.0"', 'version: "0.0.9"', f"{RECIPE}: version 0.0.9, not 0.1.0"),
        (RECIPE, "numpy >=2.2,<3", "numpy >=1.26,<3", "requirements.run: numpy >=2.2,<3 is missing"),
        (
            RECIPE,
            "scipy >=1.17,<2",
            "scipy >=1.0",
            "requirements.run_constraints: scipy >=1.0 is not of pyproject.toml",
        ),
        (RECIPE, "maturin >=1.16,<2", "maturin", "requirements.host: maturin >=1.16,<2 is missing"),
        (RECIPE, "LICENSE-MIT", "LICENSE-BSD", "license_file LICENSE-BSD: there is no such file"),
        (RECIPE, "run_constraints:", "  run_constraints:", f"{RECIPE}: not YAML"),
        ("pyproject.toml", '>=3.11"', '>=3.12"', "build.skip must have Python before 3.12"),
        (".github/workflows/release.yml", "name: aarch64", "name: riscv", "no packages for aarch64"),
    ],
)
def test_what_would_stop_it_is_named(copy: Path, file: str, right: str, wrong: str, says: str) -> None:
    text = (copy / file).read_text()
    assert right in text
    (copy / file).write_text(text.replace(right, wrong, 1))
    assert any(says in line for line in dry_run.problems(copy)), dry_run.problems(copy)


def test_it_needs_nothing_that_a_release_builds() -> None:
    """A hosted runner tries it before the extension is there."""
    code = "import sys; sys.modules['outlast'] = None; sys.argv = ['dry_run']; import dry_run; dry_run.main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "release", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_a_tag_is_that_of_the_version() -> None:
    assert dry_run.problems(ROOT, "v9.9.9") == ["tag v9.9.9: the version is 0.1.0, and its tag v0.1.0"]


def test_a_release_fills_in_the_checksum_of_its_source(tmp_path: Path) -> None:
    sdist = tmp_path / "outlast-0.1.0.tar.gz"
    sdist.write_bytes(b"source")
    text = recipe.filled((ROOT / RECIPE).read_text(), sdist)
    assert f'sha256: "{notes.checksum(sdist)}"' in text
    with pytest.raises(ValueError, match="no place for the checksum"):
        recipe.filled(text, sdist)
