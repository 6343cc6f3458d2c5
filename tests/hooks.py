"""Hooks of pytest: options, the order in which files begin, and processes kept while tests run."""

from __future__ import annotations

import os
import resource
import sys
from collections import Counter
from collections.abc import Container, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import costs
import forked

LONGEST = ("docs", "fit_stages", "torture_guest", "interrupt_anywhere", "fit", "notebooks")
"""Files that take longest, which begin first: at the end one of two processes would wait for them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single tests."""
    parser.addoption("--kills", type=int, default=2, help="how often test_serve_kill.py kills each server")
    parser.addoption("--costs", type=int, default=0, metavar="N", help="the N files, and tests, that took most CPU")


def pytest_configure(config: pytest.Config) -> None:
    """Keeps what Python compiles where the environment forbids it: a thousand programs would compile the same anew."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        place = str(Path(__file__).resolve().parent.parent / "target" / "pycache")
        os.environ["PYTHONPYCACHEPREFIX"] = place
        sys.pycache_prefix, sys.dont_write_bytecode = place, False
    config.pluginmanager.register(SharedFixtures())


def pytest_unconfigure() -> None:
    """Waits for the process that forked programs, whose time is of the tests."""
    if forked.forks.cache_info().currsize:
        forked.forks().end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders files; the tests of a file keep their order."""
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


_spent = 0.0
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def _spent_s() -> float:
    """CPU time of this process and of what it has begun: programs that ended, and those that still run."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    begun = forked.forks.cache_info().currsize
    forks = forked.forks().cpu_s() if begun else 0.0
    living = _living_s(os.getpid(), {forked.forks().pid} if begun else set())
    return sum(use.ru_utime + use.ru_stime for use in own) + forks + living


def _living_s(process: int, besides: Container[int]) -> float:
    """CPU time of the processes below one that have not ended, and of what those have waited for.

    A browser and a guest outlive the tests that use them: counted at their ends only, they would be the last test's.
    """
    spent, left, seen = 0.0, [process], {process}
    while left:
        above = left.pop()
        # `open`, because tests replace how `Path` reads /proc. What ends meanwhile is not there.
        with suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{above}/task"):  # noqa: PTH208
                with open(f"/proc/{above}/task/{thread}/children", encoding="ascii") as children:  # noqa: PTH123
                    below = [child for child in map(int, children.read().split()) if child not in besides]
                for child in below:
                    if child in seen:
                        continue
                    seen.add(child)
                    left.append(child)
                    with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as stat:  # noqa: PTH123
                        fields = stat.read().rpartition(")")[2].split()
                    spent += sum(map(int, fields[11:15])) / _TICKS_A_SECOND
    return spent


_shared: list[tuple[str, float]] = []
"""Fixtures that several tests share and that were made since the last report, and what each took."""


class SharedFixtures:
    """A plugin by itself: hooks of a conftest.py are not asked about what a whole session shares."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Notes what a shared fixture takes: it is not the cost of the test that happens to be the first one."""
        if fixturedef.scope == "function":
            return (yield)
        before, begun = _spent_s(), len(_shared)
        made = yield
        within = sum(spent for _, spent in _shared[begun:])
        _shared.append((f"{fixturedef.baseid}::{fixturedef.argname}", _spent_s() - before - within))
        return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to the report of each phase of a test what it took, which pytest-xdist hands on."""
    global _spent
    report = yield
    now = _spent_s()
    report.user_properties.append(("cpu_s", max(now - _spent - sum(spent for _, spent in _shared), 0.0)))
    report.user_properties += [("shared", fixture) for fixture in _shared]
    _spent = now
    _shared.clear()
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints what took most, and the tests and shared fixtures that cost more than a case may."""
    files, tests, fixtures = Counter[str](), Counter[str](), dict[str, float]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if name == "cpu_s":
                    files[report.nodeid.partition("::")[0]] += value
                    tests[report.nodeid] += value
                if name == "shared":
                    fixture, spent = value
                    files[report.nodeid.partition("::")[0]] += spent
                    # Each process of tests makes its own.
                    fixtures[fixture] = max(spent, fixtures.get(fixture, 0.0))
    tests.update(fixtures)
    for line in costs.above_budget(tests, "python"):
        terminalreporter.write_line(line)
    most = config.getoption("costs")
    if not most:
        return
    terminalreporter.section(f"CPU-seconds: {sum(files.values()):.0f} in all")
    for found in (files, tests):
        for nodeid, value in found.most_common(most):
            terminalreporter.write_line(f"{value:8.1f}  {nodeid}")
