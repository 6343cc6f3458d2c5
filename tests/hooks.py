"""What pytest is told: options, the order in which files begin, and what is kept while tests run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import forked

LONGEST = ("interrupt_anywhere", "fit_stages", "fit", "sweep", "torture_record", "torture_mounts")
"""Files that take longest, which begin first: at the end one of two processes would wait for them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single tests."""
    parser.addoption("--kills", type=int, default=2, help="how often test_serve_kill.py kills each server")


def pytest_configure() -> None:
    """Keeps what Python compiles where the environment forbids it: a thousand programs would compile the same anew."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        place = str(Path(__file__).resolve().parent.parent / "target" / "pycache")
        os.environ["PYTHONPYCACHEPREFIX"] = place
        sys.pycache_prefix, sys.dont_write_bytecode = place, False


def pytest_unconfigure() -> None:
    """Waits for the process that forked programs, whose time is of the tests."""
    if forked.forks.cache_info().currsize:
        forked.forks().end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders files; the tests of a file keep their order."""
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))
