"""Do the helpers of the guide send marks, wait for them, and fail when one is refused?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import ROOT
from outlast.products.torture.marks import Marks

GUIDE = (ROOT / "docs" / "guide" / "torture.md").read_text()
ONE_DIGIT = "import os, sys; os.dup2(int(sys.argv[1]), 5); os.execvp(sys.argv[2], sys.argv[2:])"
"""Runs a program with the descriptor as number 5: some shells can redirect to none of two digits."""
PATIENCE_S = 60
"""Seconds for a compiler on a busy computer; a helper that hangs ends a test all the same."""


@contextmanager
def recorder(folder: Path) -> Iterator[tuple[dict[str, str], int, list[str]]]:
    """Takes marks; the environment, the descriptor to be inherited, and what was recorded."""
    noted: list[str] = []
    with Marks(lambda _: None) as taker:
        yield taker.listen(noted.append, folder / "marks"), taker.kept, noted


def helper(language: str, fence: str) -> str:
    """The code that stands in the guide below the name of a language."""
    found = re.search(rf"\*\*{language}\*\*\n\n```{fence}\n(.*?)```", GUIDE, re.S)
    assert found is not None, language
    return found[1]


def script(name: str, text: str) -> tuple[list[list[str]], dict[str, str]]:
    """A program of a shell, with `set -e` as the guide has it."""
    return [[name, "program.sh"]], {"program.sh": f"set -eu\n{text}"}


def shell(name: str) -> tuple[list[list[str]], dict[str, str]]:
    return script(name, helper("Shell", "bash") + 'for each; do mark "$each"; done\n')


def first_shell(name: str) -> tuple[list[list[str]], dict[str, str]]:
    """The one of the first example."""
    found = re.search(r"^mark\(\) .*$", GUIDE, re.M)
    assert found is not None
    return script(name, found[0] + '\nfor each; do mark "$each"; done\n')


def program(kind: str) -> tuple[list[list[str]], dict[str, str]]:
    """Commands that build and run a program that marks its arguments, and its files."""
    if kind in ("sh", "dash", "bash"):
        return shell(kind)
    if kind == "sh, first example":
        return first_shell("sh")
    if kind == "C":
        text = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n" + helper("C", "c")
        text += "int main(int n, char **all) { for (int i = 1; i < n; i++) mark(all[i]); return 0; }\n"
        return [["cc", "-o", "program", "program.c"], ["./program"]], {"program.c": text}
    if kind == "go":
        text = 'package main\n\nimport (\n"fmt"\n"os"\n"strconv"\n)\n' + helper("Go", "go")
        text += "func main() { for _, each := range os.Args[1:] { mark(each) } }\n"
        return [["go", "build", "-o", "program", "program.go"], ["./program"]], {"program.go": text}
    if kind == "rustc":
        text = helper("Rust", "rs") + "fn main() { std::env::args().skip(1).for_each(|each| mark(&each)); }\n"
        return [["rustc", "-o", "program", "program.rs"], ["./program"]], {"program.rs": text}
    text = "import os, socket, sys\n" + helper("Python", "py") + "for each in sys.argv[1:]: mark(each)\n"
    return [[sys.executable, "program.py"]], {"program.py": text}


KINDS = ["sh", "dash", "bash", "sh, first example", "C", "go", "rustc", "Python"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_helper_of_the_guide_fails_when_its_mark_is_refused(tmp_path: Path, kind: str) -> None:
    commands, files = program(kind)
    if any(shutil.which(command[0], path=f"{os.environ['PATH']}:{tmp_path}") is None for command in commands[:1]):
        pytest.skip(f"{commands[0][0]} is absent")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for build in commands[:-1]:
        own = os.environ | {"GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        subprocess.run(build, cwd=tmp_path, env=own, check=True, capture_output=True, timeout=10 * PATIENCE_S)
    for marks, is_good in ((["one", "two words"], True), (["one", "outlast:begin", "never"], False)):
        folder = tmp_path / str(is_good)
        folder.mkdir()
        with recorder(folder) as (env, kept, noted):
            done = subprocess.run(
                [sys.executable, "-c", ONE_DIGIT, str(kept), *commands[-1], *marks],
                cwd=tmp_path,
                env=os.environ | env | {"OUTLAST_MARK_FD": "5"},
                pass_fds=(kept,),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE_S,
            )
        assert (done.returncode == 0) == is_good, (done.returncode, done.stdout, done.stderr)
        assert noted == (marks if is_good else ["one"])


def test_every_language_of_the_guide_is_tried() -> None:
    section = GUIDE.partition("## Marks")[2].partition("## The recording")[0]
    assert re.findall(r"^\*\*(\w+)\*\*$", section, re.M) == ["C", "Go", "Python", "Rust", "Shell"]
