"""Does what users install work where there is nothing else? Wheel and source distribution in environments made anew.

    python tests/try_packages.py [--python python3.12 ...] [--only wheel]

Packages are built by the Cargo profile that PROFILE names (release). In a folder outside the checkout each one is
installed with what pip brings; then the demo, a paper, a sweep and every preset run. Prints sizes and times.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
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
"""What an installation is to take at most."""


def build(kind: str, into: Path) -> Path:
    """The package, of the checkout."""
    profile = os.environ.get("PROFILE", "release")
    command = ["sdist"] if kind == "sdist" else ["build", "--locked", "--profile", profile]
    made = subprocess.run(
        [sys.executable, "-m", "maturin", *command, "-o", into], cwd=ROOT, capture_output=True, text=True
    )
    if made.returncode != 0:
        sys.exit(made.stderr)
    (package,) = into.iterdir()
    return package


def size_mb(folder: Path) -> float:
    """Of all files below it, in MB, without compiled Python."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in files) / 1e6


def try_out(package: Path, python: str, folder: Path) -> list[str]:
    """Installs it and does what users do; returns lines for the table."""
    clock = Clock(folder)
    clock.step("environment", python, "-m", "venv", "venv")
    before = size_mb(folder / "venv")
    own = folder / "venv" / "bin"
    # What is compiled goes where the checkout's is: crates of others are there already.
    os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    os.environ.setdefault("MATURIN_PEP517_ARGS", f"--profile {os.environ.get('PROFILE', 'release')} --locked")
    clock.step("pip install", own / "python", "-m", "pip", "install", "--quiet", package)
    installed = size_mb(folder / "venv") - before
    told = clock.step("outlast --version", own / "outlast", "--version").strip()
    clock.step("outlast run demo", own / "outlast", "run", "demo", "--out", "out/demo", "--quiet")
    report = (folder / "out" / "demo" / "report.html").stat().st_size / 1e6
    clock.step("outlast reproduce flexible", own / "outlast", "reproduce", "flexible", "--quick", "--out", "out/book")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    clock.step("outlast sweep", own / "outlast", "sweep", "sweep.toml", "--out", "out/sweep", "--quiet")
    shutil.copy(ROOT / "tests" / "logged_presets.py", folder)
    presets = clock.step("every preset", own / "python", "logged_presets.py").strip().splitlines()
    lines = [f"{package.name}, {python}: {told}"]
    lines += [f"  {name:28} {wall:6.1f} s, {cpu:6.1f} s of CPU" for name, wall, cpu in clock.spent]
    lines += [f"  {'package':28} {package.stat().st_size / 1e6:6.1f} MB"]
    beyond = "" if installed <= LIMIT_MB else f" (meant to be at most {LIMIT_MB} MB)"
    lines += [f"  {'installed':28} {installed:6.1f} MB{beyond}"]
    lines += [f"  {place.name:28} {size_mb(place):6.1f} MB" for place in largest(folder / "venv")]
    return [*lines, f"  {'report of the demo':28} {report:6.2f} MB", f"  {'runs of presets':28} {len(presets):4}"]


def largest(venv: Path) -> list[Path]:
    """The packages that take most."""
    (site,) = venv.glob("lib/python*/site-packages")
    return sorted((path for path in site.iterdir() if path.is_dir()), key=size_mb)[:-5:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--only", choices=["wheel", "sdist"])
    asked = parser.parse_args()
    for kind in [asked.only] if asked.only else ["wheel", "sdist"]:
        with tempfile.TemporaryDirectory(prefix="outlast-package.") as made:
            package = build(kind, Path(made))
            for python in asked.python:
                with tempfile.TemporaryDirectory(prefix="outlast-tried.") as folder:
                    print(*try_out(package, python, Path(folder)), sep="\n", flush=True)


main()
