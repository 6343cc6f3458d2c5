"""Does the dry run of a release find what would stop it on a hosted runner, and nothing in this checkout?"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from outlast import __version__

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "release"))

import dry_run  # noqa: E402

FILES = ("Cargo.toml", "CHANGELOG.md", "CITATION.cff", "Containerfile", "Makefile", "action.yml", "rust-toolchain.toml")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files of a release, to be changed."""
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
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
        (".github/workflows/release.yml", "name: aarch64", "name: riscv", "no packages for aarch64"),
    ],
)
def test_what_would_stop_it_is_named(copy: Path, file: str, right: str, wrong: str, says: str) -> None:
    text = (copy / file).read_text()
    assert right in text
    (copy / file).write_text(text.replace(right, wrong, 1))
    assert any(says in line for line in dry_run.problems(copy)), dry_run.problems(copy)


def test_a_tag_is_that_of_the_version() -> None:
    assert dry_run.problems(ROOT, "v9.9.9") == ["tag v9.9.9: the version is 0.1.0, and its tag v0.1.0"]
