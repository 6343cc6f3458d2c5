"""Folders of studies: what an artifact needs, made from templates of the package."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from string import Template

from outlast import __version__, api
from outlast.errors import OutputError, ScenarioError
from outlast.output import cannot_write, write_file
from outlast.schemas import scenario_schema

TEMPLATES = Path(__file__).parent
SUFFIX = ".template"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def write(folder: Path, preset: str) -> list[str]:
    """Writes a new study into a new folder; returns its files, sorted.

    Raises `OutputError` where the folder is there or its name cannot be a study's, and `ScenarioError` for a preset
    that is not there.
    """
    name = folder.absolute().name
    if not _NAME.fullmatch(name):
        raise OutputError(f"{folder}: the name of a study has letters, digits, dots, dashes and underscores")
    api.show_preset(preset)
    if folder.exists():
        raise OutputError(f"{folder}: already exists; name another folder, or remove it")
    words = {"name": name, "preset": preset, "version": __version__}
    files = {"scenario.schema.json": json.dumps(scenario_schema(), indent=2) + "\n"}
    for template in TEMPLATES.glob(f"*{SUFFIX}"):
        files[template.name.removesuffix(SUFFIX)] = _filled(template, words)
    try:
        api.validate(tomllib.loads(files["scenario.toml"]))
    except ScenarioError as error:
        raise OutputError(f"a study of {preset}: its workload does not run on this preset: {error}") from error
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    for file, text in files.items():
        write_file(folder / file, text)
    return sorted(files)


def _filled(template: Path, words: dict[str, str]) -> str:
    """A template with its words; `$$` stands for a dollar."""
    return Template(template.read_text(encoding="utf-8")).substitute(words)
