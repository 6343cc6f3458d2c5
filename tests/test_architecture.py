"""Does ARCHITECTURE.md say what the checkout holds: crates and what they use, files, and no more than one can read?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
GROUND = {"units", "no-schema", "persist", "persist-derive", "tables"}
"""Crates that any other may use."""
TOPS = ("crates", "products", "python", "tests", "docs", "fuzz", "scenarios")
MADE = {"result.json"}
"""Files that the program writes."""


def test_it_can_be_read_at_a_sitting() -> None:
    assert len(TEXT.split()) <= 2500


def test_crates_use_those_in_their_row() -> None:
    rows = re.findall(r"^\| `((?:crates|products)/[a-z-]+)/` \| [^|]+ \| ([^|]+) \|$", TEXT, re.MULTILINE)
    assert len(rows) > 15
    for name, listed in rows:
        manifest = tomllib.loads((ROOT / name / "Cargo.toml").read_text())
        ours = {crate for crate in manifest.get("dependencies", {}) if crate.startswith("outlast-")}
        used = {crate.removeprefix("outlast-") for crate in ours} - GROUND
        assert listed == "any" or set(listed.split(", ")) - {"none"} == used, f"{name} uses {', '.join(sorted(used))}"


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_it_names_exist(page: str) -> None:
    """The first folders of a path may be left out, as in `host/link.rs`, and NAME is any name."""
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*.*")] + list(ROOT.iterdir())
    files = [f"/{path.relative_to(ROOT)}" for path in paths]
    named = set(re.findall(r"`([\w./-]+\.(?:rs|py|toml|txt|md|json))`", (ROOT / page).read_text())) - MADE
    assert len(named) > 5
    missing = [
        name for name in sorted(named) if "NAME" not in name and not any(path.endswith(f"/{name}") for path in files)
    ]
    assert not missing, f"{page} names files that are gone: {', '.join(missing)}"
