"""Do Python's tests run also where a test of Rust's has failed, and is the last line of `make test` true?"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from run_both import counts

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "tests" / "run_both.py"

NEXTEST = """\
────────────
 Nextest run ID 0ae68c07-291c-4a97-a967-c75162893c5f with nextest profile: default
    Starting 420 tests across 4 binaries
        FAIL [   0.295s] outlast-ssd livelock
────────────
     Summary [   0.295s] 420 tests run: 417 passed (1 slow), 2 failed, 1 timed out, 125 skipped
"""
PYTEST = """\
== Python tests
SKIPPED [1] tests/test_guest.py:3: 12 passed
\x1b[31m==== \x1b[1m1 failed\x1b[0m, 900 passed, 3 skipped, 1 error in 93.01s (0:01:33)\x1b[0m ====\x1b[0m
"""
CARGO = """\
test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.10s
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
"""


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (NEXTEST, {"passed": 417, "failed": 3, "skipped": 125}),
        (PYTEST, {"passed": 900, "failed": 2, "skipped": 3}),
        (CARGO, {"passed": 10, "failed": 2, "skipped": 1}),
        ("error: could not compile `outlast-ssd`\n", {}),
    ],
)
def test_what_runners_print_is_counted(said: str, found: dict[str, int]) -> None:
    assert dict(counts(said)) == found


def both(tmp_path: Path, *halves: tuple[str, int]) -> subprocess.CompletedProcess[str]:
    """The program, with two halves that print a text and end with a code."""
    commands = []
    for number, (said, code) in enumerate(halves):
        (tmp_path / f"half-{number}").write_text(said)
        commands.append(f"cat {shlex.quote(str(tmp_path / f'half-{number}'))}; exit {code}")
    return subprocess.run([sys.executable, PROGRAM, "run", *commands], capture_output=True, text=True)


GOOD_RUST = NEXTEST.replace("2 failed, 1 timed out, ", "").replace("417", "420")
GOOD_PYTHON = "==== 903 passed, 3 skipped in 93.01s ====\n"


def test_python_tests_run_where_a_rust_test_has_failed(tmp_path: Path) -> None:
    done = both(tmp_path, (NEXTEST, 100), (GOOD_PYTHON, 0))
    assert done.stdout.splitlines()[-1] == (
        "== Tests: Rust 417 passed, 3 failed, 125 skipped; Python 903 passed, 0 failed, 3 skipped. Rust FAILED"
    )
    assert done.returncode == 1


@pytest.mark.parametrize(("codes", "says", "code"), [((0, 0), "All is well", 0), ((0, 1), "Python FAILED", 1)])
def test_either_half_that_fails_fails_both(tmp_path: Path, codes: tuple[int, int], says: str, code: int) -> None:
    done = both(tmp_path, (GOOD_RUST, codes[0]), (GOOD_PYTHON, codes[1]))
    assert done.stdout.splitlines()[-1].endswith(says)
    assert done.returncode == code


def test_a_half_that_does_not_compile_is_said_to_have_run_nothing(tmp_path: Path) -> None:
    done = both(tmp_path, ("error: could not compile\n", 101), (GOOD_PYTHON, 0))
    assert "Rust did not get as far as its tests; Python 903 passed" in done.stdout
    assert done.returncode == 1


def test_make_test_runs_both_halves_by_this_program() -> None:
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^test: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    assert "tests/run_both.py run" in recipe[1]
    assert recipe[1].index("test-rust") < recipe[1].index("test-python")
