"""Runs the cases of cases.toml and writes docs/reference/torture-table.md: `make torture-table`.

Each case records its workload and checks the states that a loss of power may leave. What must be found and what must
not is in cases.toml; where that does not hold, this ends with 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from page import write

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
KINDS = {3: "lost", 4: "corrupt", 5: "ahead"}
"""Meanings of the cases' exit codes: see cases/promise.py."""
STAGES = {"start": "no start", "mount": "no mount", "fsck": "fsck"}


@dataclass(frozen=True)
class Case:
    """A case of cases.toml, where its settings are explained."""

    name: str
    program: str
    because: str
    source: str
    fs: str
    drive: str
    models: list[str]
    finds: list[str]
    may: list[str]
    at_least: int
    states: int
    fsck: bool
    options: list[str] = field(default_factory=list)
    set: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    in_process: str | None = None
    jobs: int | None = None
    setup: bool = False
    only: str = ""
    timeout: str = "30s"

    @property
    def folder(self) -> str:
        """The name of the case's folder."""
        words = [Path(self.program).stem, *self.options, *self.set, self.fs, *self.models]
        return "-".join(word.partition("=")[2] or word for word in words if "{" not in word)

    def missing(self) -> list[str]:
        """Programs and modules that the case needs and that are not installed."""
        return [name for name in self.needs if shutil.which(name) is None and find_spec(name) is None]


@dataclass
class Row:
    """Outcome of a case, shown as a line of the page."""

    case: Case
    missing: list[str] = field(default_factory=list)
    backend: str = ""
    states: int = 0
    """Checked, with a promise to keep or not."""
    promised: int = 0
    """Checked, with a promise to keep."""
    found: dict[str, int] = field(default_factory=dict)
    """Bad states by kind."""
    of_models: dict[str, int] = field(default_factory=dict)
    probability: dict[str, Any] = field(default_factory=dict)
    """Probability that a loss of power at a random instant leaves a bad state, by crash model."""
    rate: float = 0.0
    """States a second."""
    seconds: float = 0.0
    smallest: str = ""
    """Bad state with the fewest lost writes."""
    error: str = ""

    @property
    def wrong(self) -> list[str]:
        """Expectations of cases.toml that the outcome misses."""
        if self.missing:
            return []
        if self.error:
            return [self.error]
        wanted = set(self.case.finds)
        said = [f"must find: {kind}" for kind in sorted(wanted - self.found.keys())]
        said += [f"must not find: {kind}" for kind in sorted(self.found.keys() - wanted - set(self.case.may))]
        if self.promised < self.case.at_least:
            said.append(f"{self.promised} states with a promise to keep, at least {self.case.at_least}")
        return said

    def json(self) -> dict[str, Any]:
        """Entry of torture-table.json."""
        return {**asdict(self), "wrong": self.wrong}


def cases() -> list[Case]:
    """All cases of cases.toml."""
    listed = tomllib.loads((HERE / "cases.toml").read_text())
    return [Case(**{**listed["defaults"], **case}) for case in listed["case"]]


def redb() -> Path:
    """The program of the folder cases/redb, built."""
    target = ROOT / "target" / "torture"
    manifest = HERE / "cases" / "redb" / "Cargo.toml"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(manifest)]
    subprocess.run([*command, "--target-dir", str(target)], check=True)
    return target / "release" / "redb-rows"


def outlast(*words: str) -> subprocess.CompletedProcess[str]:
    """`outlast torture` of this Python, which finds the modules of the cases."""
    path = os.pathsep.join(filter(None, (str(HERE / "cases"), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "outlast", "torture", *words]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, text=True, capture_output=True)


def program(case: Case, what: str) -> list[str]:
    """The case's workload or check as a command."""
    options = [option.format(redb=redb()) if "{redb}" in option else option for option in case.options]
    return [sys.executable, str(HERE / "cases" / case.program), what, *options]


def record(case: Case, path: Path) -> Path:
    """The case's recording, made at `path`."""
    drive = str(HERE / case.drive) if case.drive.endswith(".toml") else case.drive
    words = ["record", "--drive", drive, "--fs", case.fs, "--out", str(path)]
    for setting in case.set:
        words += ["--set", setting]
    if case.setup:
        words += ["--setup", shlex.join(program(case, "setup"))]
    done = outlast(*words, "--", *program(case, "work"))
    if done.returncode:
        raise RuntimeError(f"record ended with {done.returncode}: {last_line(done)}")
    return path


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The last that a program said."""
    return (done.stderr.strip() or done.stdout.strip() or "nothing said").splitlines()[-1]


def check(case: Case, path: Path, folder: Path, asked: argparse.Namespace) -> Row:
    """The case's states, checked."""
    out = folder / "check"
    words = ["check", str(path), "--out", str(out), "--states", str(asked.states or case.states)]
    words += ["--seed", str(asked.seed), "--timeout", case.timeout, *(["--fsck"] if case.fsck else [])]
    words += [word for model in case.models for word in ("--model", model)]
    if asked.budget:
        words += ["--budget", asked.budget]
    jobs = min(filter(None, (case.jobs, asked.jobs)), default=None)
    if jobs:
        words += ["--jobs", str(jobs)]
    if case.in_process:
        done = outlast(*words, "--check-in-process", f"{HERE / 'cases' / case.program}:{case.in_process}")
    else:
        done = outlast(*words, "--", *program(case, "check"))
    if done.returncode > 1:
        raise RuntimeError(f"check ended with {done.returncode}: {last_line(done)}")
    return judged(case, out)


def judged(case: Case, out: Path) -> Row:
    """Row from the folder of a check."""
    row = Row(case)
    for line in (out / "results.jsonl").read_text().splitlines():
        verdict = json.loads(line)
        if verdict["purpose"] == "shrink" or case.only not in verdict["state"]:
            continue
        row.states += 1
        row.promised += bool(verdict["mark"])
        row.of_models[verdict["model"]] = row.of_models.get(verdict["model"], 0) + 1
        if verdict["verdict"] == "bad":
            kind = kind_of(verdict)
            row.found[kind] = row.found.get(kind, 0) + 1
    result = json.loads((out / "result.json").read_text())
    row.backend, row.rate = result["backend"], result["states_per_second"]
    # Of all times together, where a check has gone on.
    row.seconds = row.states / row.rate if row.rate else result["seconds"]
    row.probability = result["probability"]
    if result["failures"]:
        smallest = min((failure["smallest"] for failure in result["failures"]), key=lambda each: int(each["lost"]))
        row.smallest = smallest["state"]
    return row


def kind_of(verdict: dict[str, Any]) -> str:
    """Kind of a bad state, in a word."""
    if verdict["timed_out"]:
        return "timed out"
    if verdict["stage"] != "check":
        return STAGES.get(verdict["stage"], str(verdict["stage"]))
    if verdict["exit"] is not None:
        return KINDS.get(verdict["exit"], f"exit {verdict['exit']}")
    return str(verdict["output"]).split(" ", 1)[0].strip(":")


def run(case: Case, asked: argparse.Namespace) -> Row:
    """A case, recorded and checked: anew, or from where the last time ended."""
    if missing := case.missing():
        return Row(case, missing=missing)
    folder = asked.out / case.folder
    if asked.show:
        done = (folder / "check" / "result.json").exists()
        return judged(case, folder / "check") if done else Row(case, error="not run yet")
    if not asked.resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        path = folder / "run.outlast"
        return check(case, path if path.exists() else record(case, path), folder, asked)
    except RuntimeError as error:
        return Row(case, error=str(error))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--case", action="append", metavar="PATTERN", help="only cases whose name or folder is like this"
    )
    parser.add_argument("--states", type=int, help="at most so many states of each case instead of its own number")
    parser.add_argument("--budget", metavar="TIME", help="at most so long for each case, such as 120s")
    parser.add_argument("--jobs", type=int, help="states checked at a time (default: as many as processors)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "torture", help="folder of recordings and results")
    parser.add_argument("--resume", action="store_true", help="go on with what is in --out")
    parser.add_argument("--show", action="store_true", help="run nothing: what --out has")
    parser.add_argument("--write", action="store_true", help="write the table in docs/reference")
    asked = parser.parse_args()
    rows = []
    for case in cases():
        patterns = asked.case or ["*"]
        if not any(fnmatch.fnmatch(text, pattern) for text in (case.name, case.folder) for pattern in patterns):
            continue
        began = time.monotonic()
        row = run(case, asked)
        rows.append(row)
        what = f"needs {', '.join(row.missing)}" if row.missing else f"{row.states} states, bad: {row.found or 'none'}"
        verdict = f"WRONG: {'; '.join(row.wrong)}" if row.wrong else "as it must be"
        sys.stdout.write(f"{case.name} ({case.fs}): {what}; {verdict}; {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()
    if asked.write:
        write([row.json() for row in rows], ROOT / "docs" / "reference")
    sys.exit(any(row.wrong for row in rows))


if __name__ == "__main__":
    main()
