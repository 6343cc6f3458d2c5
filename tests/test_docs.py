"""Do the documentation's examples run, and is every figure documented?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import outlast
from conftest import ROOT
from fenced import blocks, file_of
from forked import forks
from outlast.cli import cli
from outlast.cli.ctl import fault_of
from patience import PATIENCE_S
from tortured import lacks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOUNTS = {"torture"}
"""Pages whose examples mount file systems."""


FAULT = re.compile(r"outlast ctl(?: [\w-]+)? fault ([^`'\n#&]+)")
"""A fault of an example, as words of a command line."""


def test_faults_of_examples_are_named_as_the_command_takes_them() -> None:
    """Most of them are in blocks that do not run."""
    schema = json.loads((ROOT / "python" / "outlast" / "scenario.schema.json").read_text())
    kinds = {kind["const"] for kind in schema["$defs"]["FaultKind"]["oneOf"]}
    fields = set(schema["$defs"]["FaultSpec"]["properties"])
    found = 0
    for page in [*PAGES, *sorted((ROOT / "docs").glob("make_*.py"))]:
        for words in FAULT.findall(page.read_text()):
            found += 1
            kind, *place = [word.strip('")') for word in words.split() if not re.match(r"2?>|\d>", word)]
            place = [word for word in place if re.fullmatch(r"\w+=\w+|\d+", word)]
            assert kind in kinds, f"{page.name}: {words}"
            assert set(fault_of(kind, tuple(place))) <= fields, f"{page.name}: {words}"
    assert found > 5


@pytest.fixture
def program_on_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which `outlast` is this checkout's, forked (tests/forked.py)."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "outlast"
    assert forks().fits()
    script.write_text(forks().program())
    script.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(language in ("sh", "python") for language, _ in blocks(page.read_text()))],
    ids=lambda page: page.stem,
)
def test_examples_run(page: Path, tmp_path: Path, program_on_path: dict[str, str]) -> None:
    if page.stem in MOUNTS and (lack := lacks("ext4")) is not None:
        pytest.skip(lack)
    folder = tmp_path / "work"
    folder.mkdir()
    python: list[str] = []  # blocks that follow each other are one program
    for language, text in [*blocks(page.read_text()), ("sh", "")]:
        if name := file_of(language, text):
            (folder / Path(name).name).write_text(text)
        elif language == "python":
            python.append(text)
        elif language == "sh":
            if python:
                run([sys.executable, "-c", "\n".join(python)], folder, program_on_path)
                python.clear()
            run(["bash", "-eu", "-c", text], folder, program_on_path)


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"


def test_examples_that_are_only_shown_say_what_the_program_says(
    program_on_path: dict[str, str], tmp_path: Path
) -> None:
    shown = [
        text
        for page in PAGES
        for language, text in blocks(page.read_text())
        if language == "console" and "$ outlast" in text and "\nerror:" in text
    ]
    assert shown
    (tmp_path / "mine.toml").write_text('extends = "demo"\n')
    for text in shown:
        command, expected = text.strip().split("\n", 1)
        done = subprocess.run(
            command.removeprefix("$ "), shell=True, cwd=tmp_path, env=program_on_path, text=True, capture_output=True
        )
        assert done.stderr.strip() == expected


def test_code_that_is_shown_is_code_that_is_there() -> None:
    shown = [
        text
        for page in PAGES
        for language, text in blocks(page.read_text())
        if language in ("rust", "c") and text.startswith("// ")
    ]
    assert shown
    for text in shown:
        place, code = text.split("\n", 1)
        assert code.rstrip() in (ROOT / place.removeprefix("// ")).read_text(), place


def test_links_between_pages_hold() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            # Pages of notebooks, and of what the program says itself, are made when the site is (docs/pages.py).
            notebook = ROOT / "examples" / "notebooks" / f"{Path(target).stem}.ipynb"
            made = target.startswith("../notebooks/") and notebook.exists()
            made = made or bool(
                re.fullmatch(r"(\.\./)?reference/(settings[a-z-]*|presets|policies|commands|python)\.md", target)
            )
            assert made or (page.parent / target).exists(), f"{page.name}: {target}"


UNFINISHED = re.compile(
    r"\b[A-Z]{2,3}_[QF]\b|\bTODO\b|\bTBD\b|\bXXX\b|\bFIXME\b"
    r"|\bnot (?:there|in it|supported|implemented|available|done) yet\b|\bcoming soon\b"
    r"|\bnot yet (?:supported|implemented|available)\b",
    re.I,
)
"""Placeholders, and promises that the program may have kept since they were written."""


def help_texts(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command, of its options, and of the commands below it, each with the command's name."""
    context = click.Context(command, info_name=name)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            own = command.get_command(context, below)
            assert own is not None, below
            yield from help_texts(own, f"{name} {below}")


def test_nothing_published_is_unfinished() -> None:
    pages = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    texts = [(str(page.relative_to(ROOT)), page.read_text()) for page in pages if "decisions" not in page.parts]
    texts += [*help_texts(cli, "outlast"), ("the schema of scenarios", json.dumps(outlast.scenario_schema()))]
    assert len(texts) > 100, "pages or commands were not found"
    found = {name: match[0] for name, text in texts for match in UNFINISHED.finditer(" ".join(text.split()))}
    assert not found
