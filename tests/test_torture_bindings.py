"""Do the few lines of the guide, in each language, mark and wait?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Outlast
from outlast._core import Recording
from patience import PATIENCE_S
from served import needs

GUIDE = (ROOT / "docs" / "guide" / "torture.md").read_text()


def lines(language: str) -> str:
    """The binding of the guide."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)
    text: str = next(block for block in found if "mark(" in block)
    return text


def compiled(folder: Path, name: str, source: str, *command: str) -> list[str]:
    (folder / name).write_text(source)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return ["./program"]


def in_c(folder: Path) -> list[str]:
    heads = "".join(f"#include <{head}.h>\n" for head in ("stdio", "stdlib", "unistd"))
    main = 'int main(void) { mark("one"); mark("two"); return 0; }\n'
    return compiled(folder, "a.c", heads + lines("c") + main, "gcc", "-Wall", "-Werror", "-o", "program", "a.c")


def in_go(folder: Path) -> list[str]:
    head = 'package main\nimport ("fmt"; "os"; "strconv")\n'
    main = 'func main() { mark("one"); mark("two") }\n'
    return compiled(folder, "a.go", head + lines("go") + main, "go", "build", "-o", "program", "a.go")


def in_rust(folder: Path) -> list[str]:
    source = lines("rs") + 'fn main() { mark("one"); mark("two"); }\n'
    return compiled(folder, "a.rs", source, "rustc", "--edition", "2021", "-o", "program", "a.rs")


def in_python(folder: Path) -> list[str]:
    (folder / "a.py").write_text(f'import os, socket\n{lines("py")}\nmark("one")\nmark("two")\n')
    return [sys.executable, "a.py"]


def in_shell(folder: Path) -> list[str]:
    (folder / "a.sh").write_text(f"set -eu\n{lines('bash')}\nmark one\nmark two\n")
    return ["sh", "a.sh"]


@needs("nbdfuse")
@pytest.mark.parametrize(
    ("build", "program"),
    [(in_c, "gcc"), (in_go, "go"), (in_python, "python3"), (in_rust, "rustc"), (in_shell, "sh")],
    ids=["c", "go", "python", "rust", "sh"],
)
def test_the_lines_of_the_guide_mark(
    build: Callable[[Path], list[str]], program: str, outlast: Outlast, tmp_path: Path
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} absent")
    outlast("torture", "record", "--fs", "none", "--out", "run", "--", *build(tmp_path))
    marks = [mark["text"] for mark in json.loads(Recording(str(tmp_path / "run")).facts())["marks"]]
    assert marks == ["outlast:begin", "one", "two", "outlast:end", "outlast:unmounted"]
