"""What pytest is told: options, the order in which files begin, and what is kept while tests run."""

from __future__ import annotations

import os
import resource
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import forked

LONGEST = ("docs", "fit_stages", "torture_guest", "interrupt_anywhere", "fit", "latency_causes", "placement")
"""Files that take longest, which begin first: at the end one of two processes would wait for them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single tests."""
    parser.addoption("--kills", type=int, default=2, help="how often test_serve_kill.py kills each server")
    parser.addoption("--costs", type=int, default=0, metavar="N", help="the N files, and tests, that took most CPU")


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


_spent = 0.0


def _spent_s() -> float:
    """CPU time of this process and of what has ended of its children."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    forks = forked.forks().cpu_s() if forked.forks.cache_info().currsize else 0.0
    return sum(use.ru_utime + use.ru_stime for use in own) + forks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to the report of each phase of a test what it took, which pytest-xdist hands on."""
    global _spent
    report = yield
    now = _spent_s()
    report.user_properties.append(("cpu_s", now - _spent))
    _spent = now
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints what took most."""
    most = config.getoption("costs")
    if not most:
        return
    files, tests = Counter[str](), Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if name == "cpu_s":
                    files[report.nodeid.partition("::")[0]] += value
                    tests[report.nodeid] += value
    terminalreporter.section(f"CPU-seconds: {sum(files.values()):.0f} in all")
    for found in (files, tests):
        for nodeid, value in found.most_common(most):
            terminalreporter.write_line(f"{value:8.1f}  {nodeid}")
