"""Measures of the source: ties between files by methods of one type, names of types, and comments, also of Python.

    python tests/structure.py            a table of all measures
    python tests/structure.py --json     the same for machines

A method call needs no `use`, so no picture of imports shows which files of a type depend on each other. This command
does: it reads all `impl` blocks of a type and counts the calls on `self` that leave a file or a folder.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent

OBJECTS = {
    "Ssd": "ssd",
    "FlashCore": "controller",
    "CoreContext": "controller",
    "Ftl": "ftl",
    "FlashSpace": "ftl",
    "PuStates": "ftl",
    "PageTable": "ftl",
    "Array": "array",
    "Flash": "flash",
    "DieContext": "flash",
}
"""Types whose methods are spread over many files, with their crates."""

IMPL = re.compile(r"^impl(?:<[^{]*?>)? (?:[\w:<>, ']+ for )?(\w+)(?:<[^{]*>)?(?:\s+where[^{]*)?\s*\{", re.MULTILINE)
METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:const |unsafe |async )*fn (\w+)", re.MULTILINE)
CALL = re.compile(r"\bself\s*\.\s*(\w+)\s*\(")
TYPE = re.compile(
    r"^(?:    )?(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)|^(?:pub(?:\([^)]*\))? )?type (\w+)",
    re.MULTILINE,
)
"""An indented `type` is one that a trait asks for by name."""
OBLIQUE = re.compile(r"^\s*//[/!] (?:What|Whose|Those|That|It|Whether|Where)\b")
OBLIQUE_OPENING = re.compile(
    r"(?:What|Whose|Who|Whether|Where|When|Which|Why|How|Those|That|It|Its|Of|By|As|At|In|From|For|So|With|Else)\b"
)
"""Words that leave the first noun or verb of a docstring to a later one. A docstring has one opening, unlike the
lines of a Rust comment, so more words can be counted without any that only continue a sentence."""


def sources(crate: str = "*") -> Iterator[Path]:
    """Rust files of `crate`, without those that hold tests alone."""
    folders = ("crates", "products") if crate == "*" else ("crates",)
    for path in sorted(path for folder in folders for path in ROOT.glob(f"{folder}/{crate}/src/**/*.rs")):
        if "tests" not in path.parts and path.name != "tests.rs":
            yield path


def without_tests(text: str) -> str:
    """`text` up to its module of tests, which ends every file that has one."""
    found = re.search(r"#\[cfg\(test\)\]\s*\n(?:#\[[^\n]*\]\s*\n)*\s*mod \w+ \{", text)
    return text[: found.start()] if found else text


def without_comments(text: str) -> str:
    """`text` with comments blanked and strings emptied, so that no brace in them counts; lines stay in place."""
    pieces = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n") if found[0].startswith("/") else '""' + "\n" * found[0].count("\n")

    return pieces.sub(blank, text)


def end_of_block(text: str, opened: int) -> int:
    """The place of the brace that closes the one at `opened`."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(text, opened):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    raise ValueError("a block does not end")


@dataclass
class Spread:
    """Files of the methods of one type, and calls between them."""

    methods: dict[str, str] = field(default_factory=dict)
    """The file of each method."""
    calls: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Calls on `self` from each file to each other file."""

    @property
    def files(self) -> int:
        return len(set(self.methods.values()))

    @property
    def between_files(self) -> int:
        return sum(sum(to.values()) for to in self.calls.values())

    @property
    def between_folders(self) -> int:
        return sum(
            count
            for here, to in self.calls.items()
            for there, count in to.items()
            if Path(here).parent != Path(there).parent
        )

    @property
    def circle(self) -> int:
        """Files of the largest circle in which each calls methods of the next; 0 without one."""
        reach = {file: self._reached(file) for file in set(self.methods.values())}
        circles = [sum(file in reach[other] for other in reach[file]) for file in reach if file in reach[file]]
        return max(circles, default=0)

    def _reached(self, start: str) -> set[str]:
        seen: set[str] = set()
        left = list(self.calls.get(start, ()))
        while left:
            file = left.pop()
            if file not in seen:
                seen.add(file)
                left.extend(self.calls.get(file, ()))
        return seen


def methods_of(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Each method in an `impl` block of type `name`, and its body."""
    for block in IMPL.finditer(text):
        if block[1] != name:
            continue
        inner = text[block.end() : end_of_block(text, block.end() - 1)]
        starts = list(METHOD.finditer(inner))
        ends = [method.start() for method in starts[1:]] + [len(inner)]
        for method, end in zip(starts, ends, strict=True):
            yield method[1], inner[method.end() : end]


def spread(crate: str, name: str) -> Spread:
    """Files of the methods of type `name` in `crate`, and the calls between them."""
    own = Spread()
    bodies: list[tuple[str, str]] = []
    for path in sources(crate):
        text = without_comments(without_tests(path.read_text()))
        file = str(path.relative_to(ROOT / "crates" / crate / "src"))
        for method, body in methods_of(text, name):
            own.methods[method] = file
            bodies.append((file, body))
    for file, body in bodies:
        for called in set(CALL.findall(body)):
            there = own.methods.get(called, file)
            if there != file:
                own.calls[file][there] += 1
    return own


def names() -> dict[str, float]:
    """Names of types: how many are of one word, and how many definitions share their name with another."""
    found: Counter[str] = Counter()
    for path in sources():
        text = without_comments(without_tests(path.read_text()))
        found.update(one or other for one, other in TYPE.findall(text))
    all_types = sum(found.values())
    single = sum(count for name, count in found.items() if len(re.findall(r"[A-Z][a-z0-9]*", name)) == 1)
    shared = sum(count for count in found.values() if count > 1)
    return {
        "types": all_types,
        "one_word_percent": round(100 * single / all_types, 1),
        "shared_percent": round(100 * shared / all_types, 1),
    }


def comments() -> dict[str, float]:
    """Doc lines that begin obliquely, and plain comments inside functions for 1,000 lines of code."""
    docs = oblique = inside = code = 0
    for path in sources():
        for line in without_tests(path.read_text()).splitlines():
            stripped = line.strip()
            if stripped.startswith(("///", "//!")):
                docs += 1
                oblique += bool(OBLIQUE.match(line))
            elif stripped.startswith("//"):
                inside += line.startswith("    ")
            else:
                code += bool(stripped)
    return {
        "code_lines": code,
        "doc_lines": docs,
        "oblique_percent": round(100 * oblique / docs, 2),
        "comments_in_bodies_per_1000": round(1000 * inside / code, 1),
    }


def docstrings(text: str) -> Iterator[str]:
    """Docstrings of a Python module: of the module, classes and functions, and those below variables."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))) if docstring.strip():
                yield docstring.strip()


def opens_obliquely(docstring: str) -> bool:
    """True if a docstring opens with neither a noun nor a verb; a question, which modules of tests have, does."""
    sentence = docstring.split("\n\n")[0]
    return bool(OBLIQUE_OPENING.match(docstring)) and "? " not in f"{sentence} "


def python_docstrings() -> dict[str, float]:
    """Docstrings of the package and of its tests, and how many open obliquely."""
    openings = [
        opens_obliquely(docstring)
        for folder in ("python", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for docstring in docstrings(path.read_text())
    ]
    return {"docstrings": len(openings), "oblique_percent": round(100 * sum(openings) / len(openings), 2)}


def measures() -> dict[str, dict[str, float]]:
    """All measures, by subject."""
    found: dict[str, dict[str, float]] = {}
    for name, crate in OBJECTS.items():
        own = spread(crate, name)
        found[f"{crate}::{name}"] = {
            "methods": len(own.methods),
            "files": own.files,
            "calls_between_files": own.between_files,
            "calls_between_folders": own.between_folders,
            "files_in_circle": own.circle,
        }
    return {**found, "names": names(), "comments": comments(), "python": python_docstrings()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="for machines")
    if parser.parse_args().json:
        print(json.dumps(measures(), indent=2))
        return
    for subject, own in measures().items():
        print(subject)
        for name, value in own.items():
            print(f"    {name:30} {value:>10}")


if __name__ == "__main__":
    main()
