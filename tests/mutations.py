"""Does each error of tests/mutations.toml, put into the simulator, make a test fail that is there to find it?

    python tests/mutations.py [--only NAME ...] [--threads N]

The sources are copied to target/mutations/ and compiled once, with all mutations in them: each is a branch that one
variable of the environment switches on. So a mutation costs the run of its tests alone, not a build. First all these
tests run without any mutation and must pass; then each mutation must make one of its tests fail, or never end. Prints a
line for each; ends with an error where one survives that the table does not know to survive, or where the place of one
is not found once in the sources.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests" / "mutations.toml"
OWN = ROOT / "target" / "mutations"
SOURCES = OWN / "sources"
SWITCH = """
/// True if mutation `number` is switched on.
#[allow(dead_code, clippy::all, clippy::pedantic)]
pub(crate) fn mutated(number: u32) -> bool {
    static WHICH: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *WHICH.get_or_init(|| std::env::var("MUTATION").ok().and_then(|value| value.parse().ok()).unwrap_or(0)) == number
}
"""
LEAST_HANG_S = 900
"""Tests under a mutation are given this, or three times what all tests take without any and with the build: those that
have not ended by then never end, and the mutation is found."""
FAILED = 100
"""The exit code of cargo nextest where a test fails; others tell of a build or a filter that is wrong."""


@dataclass(frozen=True)
class Mutation:
    """A line that is changed, and the tests (a filter of cargo nextest) of which one must fail."""

    number: int
    name: str
    old: str
    new: str
    tests: str
    unfound: str = ""
    """Reason why it may survive, as far as it is known."""

    def switched(self) -> str:
        """Both sides behind the switch: statements as they are, an expression in brackets."""
        both = f"if crate::mutated({self.number}) {{ {self.new} }} else {{ {self.old} }}"
        return both if self.old.endswith((";", "}")) else f"({both})"


def mutations() -> list[Mutation]:
    """Mutations of the table."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(number, **row) for number, row in enumerate(rows, 1)]


def sources(planned: list[Mutation]) -> dict[str, bytes]:
    """Files of the checkout by name, with all mutations in them."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name: (ROOT / name).read_bytes() for name in listed.splitlines() if (ROOT / name).is_file()}
    code = {name: text.decode() for name, text in files.items() if re.match(r"crates/[^/]+/src/.*\.rs$", name)}
    lost = []
    for mutation in planned:
        places = [name for name in code for _ in range(code[name].count(mutation.old))]
        if len(places) != 1:
            lost.append(f"{mutation.name}: {len(places)} places have {mutation.old!r}: {sorted(set(places))}")
            continue
        (place,) = places
        code[place] = code[place].replace(mutation.old, mutation.switched())
        root = "/".join(place.split("/")[:3]) + "/lib.rs"
        code[root] = code[root].removesuffix(SWITCH) + SWITCH
    if lost:
        sys.exit("\n".join(lost))
    return files | {name: text.encode() for name, text in code.items()}


def write(files: dict[str, bytes]) -> None:
    """Writes what has changed, so that Cargo compiles that alone, and removes what is no more."""
    for name, content in files.items():
        file = SOURCES / name
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    for file in SOURCES.rglob("*"):
        if file.is_file() and str(file.relative_to(SOURCES)) not in files:
            file.unlink()


def run(which: int, tests: str, threads: str, limit_s: float | None) -> tuple[int, list[str]]:
    """Exit code of the tests under a mutation, and the names of those that failed; -1 where they do not end in time."""
    environment = os.environ | {
        "MUTATION": str(which),
        # What other people wrote is not compiled once more.
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "RUSTC_WORKSPACE_WRAPPER": str(ROOT / "tests" / "rustc_of_tests.sh"),
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        # A case that fails under one mutation is not to be tried first under the next.
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "NEXTEST_STATUS_LEVEL": "none",
        "NEXTEST_FINAL_STATUS_LEVEL": "fail",
    }
    environment.setdefault("PROPTEST_RNG_SEED", "1")
    command = ["cargo", "nextest", "run", "--locked", "--cargo-quiet", "--workspace", "-j", threads]
    process = subprocess.Popen(
        [*command, "-E", tests], cwd=SOURCES, env=environment, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return -1, ["never ended"]
    if process.returncode not in (0, FAILED):
        sys.exit(f"{said}\ncargo nextest ended with {process.returncode}")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    failed = re.findall(r"^\s+(?:FAIL|SIGABRT|SIGKILL|SIGSEGV|TIMEOUT) \[[^\]]*\] (?:\([^)]*\) )?(.*)$", plain, re.M)
    return process.returncode, sorted(set(failed))


def main() -> int:
    """Prints the table; 1 where a mutation survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these mutations alone")
    parser.add_argument("--threads", default="2", help="tests at a time")
    options = parser.parse_args()
    planned = mutations()
    write(sources(planned))
    chosen = [mutation for mutation in planned if mutation.name in options.only or not options.only]
    begun = time.monotonic()
    code, failed = run(0, " | ".join(sorted({mutation.tests for mutation in chosen})), options.threads, None)
    if code != 0:
        sys.exit(f"without a mutation there failed: {failed}")
    limit_s = max(LEAST_HANG_S, 3 * (time.monotonic() - begun))
    survivors = 0
    for mutation in chosen:
        code, failed = run(mutation.number, mutation.tests, options.threads, limit_s)
        survivors += code == 0 and not mutation.unfound
        print(f"{'survived' if code == 0 else 'killed':9}{mutation.name:44}{', '.join(failed[:3])}", flush=True)
        if code == 0 and mutation.unfound:
            print(f"         {mutation.unfound}", flush=True)
    print(f"{survivors} of {len(chosen)} mutations survive that are to be found")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
