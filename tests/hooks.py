"""What pytest is told: options, and the order in which files begin."""

from __future__ import annotations

import pytest

LONGEST = ("interrupt_anywhere", "fit_stages", "fit", "sweep", "torture_record", "torture_mounts")
"""Files that take longest, which begin first: at the end one of two processes would wait for them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single tests."""
    parser.addoption("--kills", type=int, default=2, help="how often test_serve_kill.py kills each server")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders files; the tests of a file keep their order."""
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))
