"""A release tried without building or uploading anything: what would stop it on a hosted runner is named.

    make release-dry-run [TAG=v0.1.0]

Versions agree everywhere, the changelog has the version's section, every command of the workflows, of the action and of
the container file is one that is there, every foreign action has a version, and the conda recipe requires what the
package does.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import notes
import recipe

ROOT = Path(__file__).resolve().parent.parent
PROCESSORS = {"ubuntu-24.04": "x86-64", "ubuntu-24.04-arm": "aarch64"}
"""Runners that make packages, and the processors that the packages are for."""


def problems(root: Path, tag: str = "") -> list[str]:
    """Everything that would stop a release of the checkout `root`, a line for each thing."""
    version = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    found = [*_versions(root, version, tag), *recipe.problems(root, version)]
    workflows = {path.name: _yaml(path) for path in sorted((root / ".github" / "workflows").glob("*.yml"))}
    targets = set(re.findall(r"^([\w./-]+):(?!=)", (root / "Makefile").read_text(), re.M))
    for name, workflow in workflows.items():
        for step in _steps(workflow):
            found += [f"{name}: {text}" for text in _of_step(step, targets)]
    found += [f"action.yml: {text}" for text in _of_action(_yaml(root / "action.yml"))]
    made = workflows["release.yml"]["jobs"]["packages"]["strategy"]["matrix"]["include"]
    for entry in made:
        if PROCESSORS.get(entry["runner"]) != entry["name"]:
            found.append(f"release.yml: runner {entry['runner']} does not make packages for {entry['name']}")
    if missing := set(PROCESSORS.values()) - {entry["name"] for entry in made}:
        found.append(f"release.yml: no packages for {', '.join(sorted(missing))}")
    return found


def _yaml(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def _versions(root: Path, version: str, tag: str) -> Iterator[str]:
    if tag and tag != f"v{version}":
        yield f"tag {tag}: the version is {version}, and its tag v{version}"
    try:
        notes.section((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    except ValueError as error:
        yield f"CHANGELOG.md: {error}"
    cited = _yaml(root / "CITATION.cff")["version"]
    if str(cited) != version:
        yield f"CITATION.cff: version {cited}, not {version}"
    channel = tomllib.loads((root / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    for image in re.findall(r"/rust:(\S+?)-", (root / "Containerfile").read_text()):
        if not channel.startswith(f"{image}."):
            yield f"Containerfile: Rust {image}, and rust-toolchain.toml has {channel}"


def _steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def _of_step(step: dict[str, Any], targets: set[str]) -> Iterator[str]:
    """Problems of a step: its script, the targets that it makes, the version of a foreign action."""
    if (uses := step.get("uses")) is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+|release/v\d+)", uses):
        yield f"uses {uses}: must have a version"
    script = step.get("run", "")
    # Expressions are replaced before the shell sees them.
    plain = re.sub(r"\$\{\{.*?\}\}", "x", script)
    checked = subprocess.run(
        [shutil.which("bash") or "/bin/bash", "-n"], input=plain, capture_output=True, text=True, check=False
    )
    if checked.returncode:
        yield f"script {script.splitlines()[0]!r}: {checked.stderr.strip()}"
    for line in plain.splitlines():
        words = line.split()
        if words[:1] == ["make"]:
            asked = {word for word in words[1:] if "=" not in word and not word.startswith("-")}
            for target in sorted(asked - targets):
                yield f"make {target}: no such target"


def _of_action(action: dict[str, Any]) -> Iterator[str]:
    """Problems of the composite action: steps, inputs that nothing uses, options that the program has not."""
    steps = action["runs"]["steps"]
    for step in steps:
        yield from _of_step(step, set())
    used = set(re.findall(r"inputs\.(\w+)", str(steps)))
    for name in sorted(set(action["inputs"]) ^ used):
        yield f"input {name}: is {'not used' if name in action['inputs'] else 'not declared'}"
    known = _torture_options()
    for script in (step.get("run", "") for step in steps):
        for name, options in re.findall(r"^\s*outlast torture (\w+) (.*?) -- ", script, re.M):
            for option in sorted(set(re.findall(r"--[\w-]+", options)) - known):
                yield f"outlast torture {name} {option}: no such option"


def _torture_options() -> set[str]:
    """Options of `outlast torture`, from its sources: its import needs the extension, which is built later."""
    folder = ROOT / "python" / "outlast" / "products" / "torture" / "cli"
    return {option for path in folder.glob("*.py") for option in re.findall(r'"(--[a-z-]+)"', path.read_text())}


def main() -> None:
    """Prints what would stop a release, and ends with 1 if anything would."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="", help="the tag of the release, vX.Y.Z")
    found = problems(ROOT, parser.parse_args().tag)
    for line in found:
        print(line)
    if found:
        sys.exit(1)
    print("== nothing would stop a release; `make release` makes its files")


if __name__ == "__main__":
    main()
