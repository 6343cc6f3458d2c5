"""Time that a new user needs from `pip install` to a plot of a policy of one's own, in a new environment.

    python tests/first_policy.py dist/*.whl [--out FOLDER]

Nothing of the checkout is used: all happens in a folder elsewhere, with the packages that pip brings.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLICY = '''\
def keen(view):
    """Cost-benefit in which the room that is gained counts twice."""
    valid = view.valid / view.units
    return view.most((1 - valid) ** 2 / valid * (view.age + 1))
'''
"""File policies.py of the user."""

RUN = """\
import outlast
from policies import keen

workload = {"precondition.overwrite": "workload", "workload.synthetic": {"pattern": "zipf", "duration": "5s"}}
for name, policy in (("greedy", "greedy"), ("cost-benefit", "cost-benefit"), ("keen", keen)):
    result = outlast.run("demo", workload | {"name": name}, policies={"gc": policy})
    result.write(f"out/{name}")
    print(f"{name:12} write amplification {result.write_amplification.total:.3f}")
"""
"""The policy beside two that are built in, on the demo's drive of 3.5 GiB under skewed requests."""

PLOT = """\
import outlast

all_three = outlast.Comparison([outlast.load(f"out/{name}") for name in ("greedy", "cost-benefit", "keen")])
all_three.plot.latency("read").write_html("latency.html")
"""
"""A page that needs no network."""


class Clock:
    """Runs the steps of a user in a folder, and keeps how long each took, by the clock and of processors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spent: list[tuple[str, float, float]] = []

    def step(self, name: str, *command: str | Path) -> str:
        """Runs a command, without what the caller's Python would add; returns what it printed."""
        foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        own = {key: value for key, value in os.environ.items() if key not in foreign}
        began, before = time.monotonic(), _processor_s()
        done = subprocess.run(command, cwd=self.folder, env=own, text=True, capture_output=True)
        self.spent.append((name, time.monotonic() - began, _processor_s() - before))
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stdout}{done.stderr}")
        return done.stdout


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_files(folder: Path) -> None:
    """Writes the three files of the user."""
    for name, text in (("policies.py", POLICY), ("run.py", RUN), ("plot.py", PLOT)):
        (folder / name).write_text(text)


def walk(wheel: Path, folder: Path) -> None:
    """Goes from an empty folder to latency.html in it, and prints a table of the seconds."""
    clock, python = Clock(folder), folder / "venv" / "bin" / "python"
    clock.step("python -m venv", sys.executable, "-m", "venv", "venv")
    clock.step("pip install of the wheel", python, "-m", "pip", "install", "--quiet", wheel)
    look = "import outlast; assert 'demo' in outlast.presets(); print(outlast.__file__)"
    place = Path(clock.step("first import, of the core too", python, "-c", look).strip())
    if not place.is_relative_to(folder / "venv"):
        sys.exit(f"{place}: outlast was not taken from {folder / 'venv'}")
    write_files(folder)
    print(clock.step("three runs, one by policies.py", python, "run.py"), end="")
    clock.step("a plot of the three as HTML", python, "plot.py")
    plot = folder / "latency.html"
    print(f"{plot.name}: {plot.stat().st_size / 1e6:.1f} MB\n\n| step | seconds | of a processor |\n|---|---|---|")
    whole = ("in all", sum(step[1] for step in clock.spent), sum(step[2] for step in clock.spent))
    for name, seconds, processor in (*clock.spent, whole):
        print(f"| {name} | {seconds:.1f} | {processor:.1f} |")


def main() -> None:
    """Prints a row for each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "wheel", type=Path, help="the wheel that is installed; of several the newest is taken", nargs="+"
    )
    parser.add_argument("--out", type=Path, help="a folder that is not there yet, to keep what was made")
    asked = parser.parse_args()
    for path in asked.wheel:
        if not path.is_file():
            parser.error(f"{path}: no such wheel")
    wheel = max(asked.wheel, key=lambda path: path.stat().st_mtime).resolve()
    if asked.out is not None:
        asked.out.mkdir(parents=True)
        walk(wheel, asked.out.resolve())
        return
    with tempfile.TemporaryDirectory() as folder:
        walk(wheel, Path(folder).resolve())


if __name__ == "__main__":
    main()
