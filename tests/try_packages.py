"""Does what users install work where there is nothing else? Wheel and source distribution in environments made anew.

    python tests/try_packages.py [--python python3.12 ...] [--only wheel] [--brief]

Packages are built by the Cargo profile that PROFILE names (release). In a folder outside the checkout each one is
installed with what pip brings; then the demo, a paper, a sweep and every preset run. With --brief the source
distribution, which pip makes the same package of, runs the demo alone. Prints sizes and times; ends with an error where
something fails, or where an installation is larger than it may be.
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
"""What an installation may take, with all that runs and reports need."""


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


def try_out(package: Path, python: str, folder: Path, brief: bool) -> list[str]:
    """Installs it and does what users do, or the demo alone; returns lines for the table."""
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
    presets = [] if brief else the_rest(clock, own)
    lines = [f"{package.name}, {python}: {told}"]
    lines += [f"  {name:28} {wall:6.1f} s, {cpu:6.1f} s of CPU" for name, wall, cpu in clock.spent]
    lines += [f"  {'package':28} {package.stat().st_size / 1e6:6.1f} MB"]
    lines += [f"  {'installed':28} {installed:6.1f} MB"]
    lines += [f"  {place.name:28} {size_mb(place):6.1f} MB" for place in largest(folder / "venv")]
    lines += [f"  {'report of the demo':28} {report:6.2f} MB", f"  {'runs of presets':28} {len(presets):4}"]
    if installed > LIMIT_MB:
        sys.exit("\n".join([*lines, f"{package.name} takes {installed:.1f} MB, {LIMIT_MB} MB at most"]))
    return lines


def the_rest(clock: Clock, own: Path) -> list[str]:
    """A paper, a sweep and every preset; returns a line for each run of a preset."""
    clock.step("outlast reproduce flexible", own / "outlast", "reproduce", "flexible", "--quick", "--out", "out/book")
    (clock.folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    clock.step("outlast sweep", own / "outlast", "sweep", "sweep.toml", "--out", "out/sweep", "--quiet")
    shutil.copy(ROOT / "tests" / "logged_presets.py", clock.folder)
    return clock.step("every preset", own / "python", "logged_presets.py").strip().splitlines()[1:]


def largest(venv: Path) -> list[Path]:
    """The packages that take most."""
    (site,) = venv.glob("lib/python*/site-packages")
    return sorted((path for path in site.iterdir() if path.is_dir()), key=size_mb)[:-5:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--only", choices=["wheel", "sdist"])
    parser.add_argument("--brief", action="store_true", help="of the source distribution, the demo alone")
    asked = parser.parse_args()
    for kind in [asked.only] if asked.only else ["wheel", "sdist"]:
        with tempfile.TemporaryDirectory(prefix="outlast-package.") as made:
            package = build(kind, Path(made))
            for python in asked.python:
                with tempfile.TemporaryDirectory(prefix="outlast-tried.") as folder:
                    print(
                        *try_out(package, python, Path(folder), asked.brief and kind == "sdist"), sep="\n", flush=True
                    )


main()
