"""Does what users install work where there is nothing else? Wheel and source distribution in environments made anew.

    python tests/try_packages.py [--python python3.12 ...] [--only wheel] [--wheel FILE] [--brief]

Packages are built by the Cargo profile that PROFILE names (release). In a folder outside the checkout each one is
installed with what pip brings; then the demo, a paper, a sweep and every preset run, and the wheel is installed by uv
and pipx as well. Of several Pythons the first does all that, the others install the wheel and run the demo. With
--brief presets run under their own loads alone, and the source distribution runs the demo alone and finds the
checkout's crates compiled: Cargo compiles again what has changed or lacks a file. Prints sizes and times; ends with an
error where something fails, or where an installation is larger than it may be.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from first_policy import Clock

ROOT = Path(__file__).resolve().parent.parent
SWEEP = """\
scenario = "demo"
[[vary]]
setting = "device.ftl.gc.policy"
values = ["greedy", "fifo"]
"""
LIMIT_MB = 120
"""Megabytes that an installation may take, with all that runs and reports need."""


def build(kind: str, into: Path) -> Path:
    """The package, of the checkout."""
    command = ["sdist"] if kind == "sdist" else ["build", "--locked", "--profile", profile()]
    made = subprocess.run(
        [sys.executable, "-m", "maturin", *command, "-o", into], cwd=ROOT, capture_output=True, text=True
    )
    if made.returncode != 0:
        sys.exit(made.stderr)
    (package,) = into.iterdir()
    return package


def profile() -> str:
    """Cargo's profile."""
    return os.environ.get("PROFILE", "release")


def size_mb(folder: Path) -> float:
    """Size of all files below a folder, in MB, without compiled Python."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in files) / 1e6


@dataclass(frozen=True)
class Trial:
    """A package under a Python, and how much is tried of it."""

    package: Path
    python: str
    presets: tuple[str, ...] | None
    """Arguments of the runs of all presets; None: the demo alone."""
    target: Path | None = None
    """Folder of compiled crates; `None` without one."""
    installers: bool = False

    def lines(self, folder: Path) -> Iterator[str]:
        """Installs it and does what users do; lines for the table."""
        clock = Clock(folder)
        clock.step("environment", self.python, "-m", "venv", "venv")
        before = size_mb(folder / "venv")
        own = folder / "venv" / "bin"
        compiled = f"CARGO_TARGET_DIR={self.target or folder / 'target'}"
        options = f"MATURIN_PEP517_ARGS=--profile {profile()} --locked"
        pip = (own / "python", "-m", "pip", "install", "--quiet", self.package)
        clock.step("pip install", "env", compiled, options, *pip)
        installed = size_mb(folder / "venv") - before
        told = clock.step("outlast --version", own / "outlast", "--version").strip()
        clock.step("outlast run demo", own / "outlast", "run", "demo", "--out", "out/demo", "--quiet")
        report = (folder / "out" / "demo" / "report.html").stat().st_size / 1e6
        runs = [] if self.presets is None else the_rest(clock, own, self.presets)
        if self.installers:
            by_uv(clock, self.package)
            by_pipx(clock, self.package)
        yield f"{self.package.name}, {self.python}: {told}"
        yield from (f"  {name:28} {wall:6.1f} s, {cpu:6.1f} s of CPU" for name, wall, cpu in clock.spent)
        yield f"  {'package':28} {self.package.stat().st_size / 1e6:6.1f} MB"
        yield f"  {'installed':28} {installed:6.1f} MB"
        yield from (f"  {place.name:28} {size_mb(place):6.1f} MB" for place in largest(folder / "venv"))
        yield f"  {'report of the demo':28} {report:6.2f} MB"
        yield f"  {'runs of presets':28} {len(runs):4}"
        if installed > LIMIT_MB:
            sys.exit(f"{self.package.name} takes {installed:.1f} MB, {LIMIT_MB} MB at most")


def the_rest(clock: Clock, own: Path, presets: tuple[str, ...]) -> list[str]:
    """A paper, a sweep and every preset; returns a line for each run of a preset."""
    clock.step("outlast reproduce flexible", own / "outlast", "reproduce", "flexible", "--quick", "--out", "out/book")
    (clock.folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    clock.step("outlast sweep", own / "outlast", "sweep", "sweep.toml", "--out", "out/sweep", "--quiet")
    shutil.copy(ROOT / "tests" / "logged_presets.py", clock.folder)
    return clock.step("every preset", own / "python", "logged_presets.py", *presets).strip().splitlines()[1:]


def by_uv(clock: Clock, wheel: Path) -> None:
    """Installs it as a tool of uv's, and runs that."""
    place = clock.folder / "uv"
    own = ("env", f"UV_TOOL_DIR={place}", f"UV_TOOL_BIN_DIR={place / 'bin'}")
    uv = (sys.executable, "-m", "uv", "--quiet", "tool", "install")
    clock.step("uv tool install", *own, *uv, "--python", clock.folder / "venv" / "bin" / "python", wheel)
    run_tool(clock, place / "bin" / "outlast")


def by_pipx(clock: Clock, wheel: Path) -> None:
    """Installs it by pipx, and runs that."""
    place, python = clock.folder / "pipx", clock.folder / "venv" / "bin" / "python"
    clock.step("pip install pipx", python, "-m", "pip", "install", "--quiet", "pipx")
    own = ("env", f"PIPX_HOME={place}", f"PIPX_BIN_DIR={place / 'bin'}", f"PIPX_MAN_DIR={place / 'man'}")
    clock.step("pipx install", *own, python, "-m", "pipx", "install", "--quiet", wheel)
    run_tool(clock, place / "bin" / "outlast")


def run_tool(clock: Clock, program: Path) -> None:
    """Runs the program's version and the demo."""
    clock.step("  outlast --version", program, "--version")
    out = program.parent.parent / "demo"
    clock.step("  outlast run demo", program, "run", "demo", "--out", out, "--quiet")
    if not (out / "report.html").is_file():
        sys.exit(f"{program}: no report")


def largest(venv: Path) -> list[Path]:
    """The packages that take most."""
    (site,) = venv.glob("lib/python*/site-packages")
    return sorted((path for path in site.iterdir() if path.is_dir()), key=size_mb)[:-5:-1]


def trials(kind: str, package: Path, pythons: list[str], brief: bool) -> Iterator[Trial]:
    """Installations to try for a package."""
    first, *others = pythons
    if kind == "sdist":
        # The wheel was built there just before, of the same files.
        yield Trial(package, first, None if brief else (), ROOT / "target" if brief else None)
        return
    yield Trial(package, first, ("--own",) if brief else (), installers=not brief)
    yield from (Trial(package, python, None) for python in others)


def main() -> None:
    """Prints a table for each package and Python."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="the first tries all [this one]")
    parser.add_argument("--only", choices=["wheel", "sdist"])
    parser.add_argument("--wheel", type=Path, help="this one, instead of one that is built")
    parser.add_argument("--brief", action="store_true", help="less of both, beside the checkout's crates")
    asked = parser.parse_args()
    if asked.brief and (asked.only or asked.wheel):
        parser.error("--brief tries wheel and source distribution, both of the checkout")
    for kind in [asked.only] if asked.only else ["wheel", "sdist"]:
        with tempfile.TemporaryDirectory(prefix="outlast-package.") as made:
            given = asked.wheel.resolve() if asked.wheel and kind == "wheel" else None
            package = given or build(kind, Path(made))
            for trial in trials(kind, package, asked.python, asked.brief):
                with tempfile.TemporaryDirectory(prefix="outlast-tried.") as folder:
                    for line in trial.lines(Path(folder)):
                        print(line, flush=True)


if __name__ == "__main__":
    main()
