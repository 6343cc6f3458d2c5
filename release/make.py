"""A release for processors of this machine's kind: wheels, source distribution, bill of materials, notes, checksums.

    make release [PROFILE=ci] [ARGS="--out FOLDER --baseline --only-texts"]

Wheels are linked by Zig against the symbols of an old glibc, which `glibc.py` checks afterwards; on x86-64 there is
one for any processor and one, in x86-64-v3/, for Haswell, Zen and later. Texts are the same for the same packages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from datetime import datetime
from pathlib import Path

from cyclonedx.model.component import ComponentScope

import glibc
import notes
import recipe
import sbom

ROOT = Path(__file__).resolve().parent.parent
CHART_LIBRARY = ROOT / "python" / "outlast" / "report" / "assets" / "plotly-cartesian.min.js"
LEVEL = ROOT / "python" / "outlast" / "_level.txt"
"""Says in a wheel which level of x86-64 it needs; there while that wheel is made."""


def told(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def wheel(out: Path, level: str | None) -> Path:
    """Builds a wheel for an old glibc, and checks that it is for one."""
    policy = f"manylinux_{glibc.OLDEST[0]}_{glibc.OLDEST[1]}"
    environment = os.environ | {"MATURIN_ARGS": f"--zig --compatibility {policy}"}
    if level is not None:
        LEVEL.write_text(level + "\n", encoding="utf-8")
    try:
        asked = ["crates/bench/guided.sh", "wheel", str(out), *([level] if level else [])]
        subprocess.run(asked, cwd=ROOT, env=environment, check=True)
    finally:
        LEVEL.unlink(missing_ok=True)
    (made,) = out.glob("*.whl")
    needs = glibc.needed_by_wheel(made)
    if needs > glibc.OLDEST:
        sys.exit(f"{made.name} needs glibc {'.'.join(map(str, needs))}, newer than {policy} says")
    print(f"== {made.relative_to(out.parent)}: needs glibc {'.'.join(map(str, needs))}")
    return made


def bill_of_materials(version: str, commit: str) -> str:
    """Of what this checkout is built from, and what is installed beside it."""
    sys.path.insert(0, str(ROOT / "python"))
    from outlast.report import bundle

    host = next(line.split()[1] for line in told("rustc", "-vV").splitlines() if line.startswith("host:"))
    metadata = told("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host)
    what = ("--package", sbom.EXTENSION, "--target", host, "--edges", "normal,build", "--prefix", "none")
    tree = told("cargo", "tree", "--locked", *what)
    rust, edges = sbom.crates(json.loads(metadata), tree, (ROOT / "Cargo.lock").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    charts = sbom.component("npm", bundle.PACKAGE, bundle.VERSION, "MIT", ComponentScope.REQUIRED, bundle.SHA256)
    when = datetime.fromisoformat(told("git", "show", "-s", "--format=%cI"))
    return sbom.bill(version, commit, when, [*rust, *sbom.python_packages(project), charts], edges)


def write_texts(out: Path, version: str, commit: str) -> None:
    """The bill of materials, the conda recipe, the notes and the checksums of a folder of packages."""
    (out / f"outlast-{version}.cdx.json").write_text(bill_of_materials(version, commit), encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for sdist in out.glob("*.tar.gz"):
        text = recipe.filled((ROOT / recipe.PLACE).read_text(encoding="utf-8"), sdist)
        (out / "recipe.yaml").write_text(text, encoding="utf-8")
    (out / "NOTES.md").write_text(notes.notes(changelog, version, commit, out), encoding="utf-8")
    (out / "SHA256SUMS").write_text(notes.sums(out), encoding="utf-8")


def main() -> None:
    """Makes the folder of a release, and prints what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder of the release [dist/outlast-VERSION]")
    parser.add_argument("--only-texts", action="store_true", help="of the packages that lie in the folder already")
    parser.add_argument("--baseline", action="store_true", help="without the wheel for x86-64-v3")
    asked = parser.parse_args()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    commit = told("git", "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+")
    out = (asked.out or ROOT / "dist" / f"outlast-{version}").resolve()
    # Before minutes of building.
    notes.section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if not asked.only_texts:
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    if not asked.only_texts:
        wheel(out, None)
        if platform.machine() == "x86_64" and not asked.baseline:
            wheel(out / "x86-64-v3", "x86-64-v3")
        subprocess.run([sys.executable, "-m", "maturin", "sdist", "-o", out], cwd=ROOT, check=True)
    write_texts(out, version, commit)
    for file in sorted(path for path in out.rglob("*") if path.is_file()):
        print(f"{file.stat().st_size:>12,}  {file.relative_to(out)}")


if __name__ == "__main__":
    main()
