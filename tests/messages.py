"""Messages and labels of the program, as the sources have them: `python tests/messages.py [AREA ...]`.

A reader goes through them as one text. `test_messages.py` holds the rules that need no reader.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
AREAS = {
    "fit": ["python/outlast/products/fit"],
    "torture": ["python/outlast/products/torture"],
    "policies": [
        "python/outlast/policies",
        "python/outlast/cli/policies.py",
        "crates/decisions/src",
        "crates/plugin/src",
    ],
    "serve": [
        "python/outlast/serving",
        "python/outlast/cli/serve*.py",
        "python/outlast/cli/ctl.py",
        "crates/serve/src",
    ],
    "live": ["python/outlast/serving/assets"],
    "plan": ["python/outlast/planning", "python/outlast/cli/plan.py"],
    "fleet": ["python/outlast/fleet", "python/outlast/cli/fleet.py"],
    # Without mqsim_load.py, which writes jobs of fio with remarks behind a semicolon.
    "imports": ["python/outlast/products/imports/[!m]*", "python/outlast/products/imports/mqsim.py"],
    "sweeps": ["python/outlast/sweeps", "python/outlast/cli/sweep.py", "python/outlast/report/sweep*.py"],
}
"""Places of the sources by what they are about."""
HOLE = "{}"
"""A value within a message."""
LEAST_WORDS = 3
_RUST = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SCRIPT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
_MARKUP = re.compile(r">([^<>{}]+)<")


class Message(NamedTuple):
    """A text that a user may read."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.text}"


def files(area: str) -> Iterator[Path]:
    """The sources of an area."""
    for place in AREAS[area]:
        found = sorted(ROOT.glob(place))
        for each in found:
            inner = sorted(each.rglob("*")) if each.is_dir() else [each]
            kinds = (".py", ".rs", ".js", ".html")
            yield from (path for path in inner if path.suffix in kinds and "tests" not in path.parts[len(ROOT.parts) :])


def messages(path: Path) -> Iterator[Message]:
    """The messages in a source."""
    source = path.read_text(encoding="utf-8")
    found = {".py": _of_python, ".rs": _of_rust, ".js": _of_script, ".html": _of_markup}[path.suffix](source)
    for line, text in found:
        plain = " ".join(text.split())
        words = re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>|\{[^}]*\}", " ", plain))
        if len(words) >= LEAST_WORDS and " " in plain:
            yield Message(path, line, plain)


def _of_python(source: str) -> Iterator[tuple[int, str]]:
    """Texts and formatted texts, without docstrings and without the parts of formatted ones."""
    tree = ast.parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # The docstring of a command is its help.
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(inner) for inner in ast.walk(node) if inner is not node and isinstance(inner, ast.Constant)}
    commands = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.endswith("_command"))
    for command in commands:
        if (help_ := ast.get_docstring(command)) is not None:
            yield command.lineno, help_
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
            yield node.lineno, "".join(str(part) for part in parts)


def _of_rust(source: str) -> Iterator[tuple[int, str]]:
    """Texts outside comments and tests."""
    code = source.partition("#[cfg(test)]\nmod")[0]
    code = re.sub(r"\\\n\s*", "", code)
    for number, line in enumerate(code.splitlines(), 1):
        if not line.lstrip().startswith("//") and "reason =" not in line:
            yield from ((number, match[1]) for match in _RUST.finditer(line.split(" // ")[0]))


def _of_script(source: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.splitlines(), 1):
        if not line.lstrip().startswith("//"):
            texts = (re.sub(r"\$\{[^}]*\}", HOLE, match[1] or match[2] or "") for match in _SCRIPT.finditer(line))
            # What is left of a template within a template is no text.
            yield from ((number, text) for text in texts if "${" not in text)


def _of_markup(source: str) -> Iterator[tuple[int, str]]:
    plain = re.sub(r"<(style|script)[^>]*>.*?</\1>", lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL)
    for number, line in enumerate(plain.splitlines(), 1):
        yield from ((number, match[1]) for match in _MARKUP.finditer(line))


def main() -> None:
    """Prints the messages of the areas that are named, or of all."""
    for area in sys.argv[1:] or AREAS:
        print(f"== {area}")
        for path in files(area):
            for message in messages(path):
                print(message)


if __name__ == "__main__":
    main()
