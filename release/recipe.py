"""The recipe of the conda package: filled in for a release, and held against what `pyproject.toml` says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import notes

PLACE = Path("release") / "conda" / "recipe.yaml"
CONDA_NAMES = {"matplotlib": "matplotlib-base", "prometheus-client": "prometheus_client"}
"""Packages whose name on conda-forge differs from that on PyPI."""
UNKNOWN = "0" * 64


def filled(text: str, sdist: Path) -> str:
    """The recipe with the checksum of a source distribution."""
    if text.count(UNKNOWN) != 1:
        raise ValueError(f"{PLACE}: no place for the checksum")
    return text.replace(UNKNOWN, notes.checksum(sdist))


def problems(root: Path, version: str) -> Iterator[str]:
    """Everything that is wrong with the recipe of the checkout `root`, a line for each thing."""
    text = (root / PLACE).read_text(encoding="utf-8")
    try:
        recipe: dict[str, Any] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        yield f"{PLACE}: not YAML: {' '.join(str(error).split())}"
        return
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    if recipe["context"]["version"] != version:
        yield f"{PLACE}: version {recipe['context']['version']}, not {version}"
    if recipe["context"]["sha256"] != UNKNOWN:
        yield f"{PLACE}: sha256 is filled in by a release, and must be 64 zeros"
    if "${{ version }}" not in recipe["source"]["url"] or recipe["source"]["sha256"] != "${{ sha256 }}":
        yield f"{PLACE}: source must have the version and the checksum of the context"
    for place, wanted in _wanted(project).items():
        found = set(recipe["requirements"][place])
        yield from (f"{PLACE}: requirements.{place}: {each} is missing" for each in sorted(wanted - found))
        others = {each for each in found - wanted if re.search(r"[<>=]", each)}
        yield from (f"{PLACE}: requirements.{place}: {each} is not of pyproject.toml" for each in sorted(others))
    oldest = project["project"]["requires-python"].removeprefix(">=")
    if f'match(python, "<{oldest}")' not in recipe["build"]["skip"]:
        yield f"{PLACE}: build.skip must have Python before {oldest}"
    for file in (each for each in recipe["about"]["license_file"] if each.startswith("LICENSE")):
        if not (root / file).is_file():
            yield f"{PLACE}: license_file {file}: there is no such file"


def _wanted(project: Mapping[str, Any]) -> dict[str, set[str]]:
    """Requirements by the part of the recipe that must have them."""
    extras = project["project"]["optional-dependencies"]
    optional = {each for name, group in extras.items() if name != "dev" for each in group}
    return {
        "host": set(map(_of_conda, project["build-system"]["requires"])),
        "run": set(map(_of_conda, project["project"]["dependencies"])),
        "run_constraints": set(map(_of_conda, optional)),
    }


def _of_conda(requirement: str) -> str:
    """A requirement such as `numpy>=2.2,<3` as conda writes it."""
    found = re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?(.*)", requirement)
    if found is None:
        raise ValueError(f"{requirement}: not a requirement")
    return f"{CONDA_NAMES.get(found[1], found[1])} {found[2]}".strip()
