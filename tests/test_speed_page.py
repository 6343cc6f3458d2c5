"""Does the page on speed say what was counted?"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from conftest import ROOT


@pytest.fixture
def make_speed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that fills the page in."""
    spec = importlib.util.spec_from_file_location("make_speed", ROOT / "docs" / "make_speed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_speed", module)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_instructions_is_the_committed_one(make_speed: ModuleType) -> None:
    text = make_speed.PAGE.read_text()
    assert make_speed.fill(text, "instructions", make_speed.instructions()) == text, (
        "docs/reference/speed.md is not of crates/bench/instructions.txt: python docs/make_speed.py instructions"
    )
    rows = make_speed.INSTRUCTIONS.read_text().splitlines()[2:]
    assert len(rows) > 20
    assert all(f"| `{row.split()[0]}` |" in text for row in rows)


def test_every_table_of_the_page_is_filled_in(make_speed: ModuleType) -> None:
    text = make_speed.PAGE.read_text()
    for name in ("peers", "mqsim", "small", "wires", "instructions", "scale", "errors", "protection", "traces"):
        filled = text.partition(f"<!-- {name} -->")[2].partition("<!-- end -->")[0]
        assert len(filled.strip().splitlines()) > 3, name
