"""Is the source as CONTRIBUTING.md promises: files and functions that one can read, plain words, nothing unfinished?"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXCEPTIONS = tomllib.loads((ROOT / "tests" / "tidy.toml").read_text())

LONGEST_FILE = 300
"""Lines of a source file, unless tests/tidy.toml says why it has more."""
LONGEST_EXCEPTION = 800
"""Lines of any source file."""
LONGEST_FUNCTION = 70
"""Lines of a function, unless tests/tidy.toml says why it has more."""

ARCHAIC = {
    "be had": "say what gives it, or that it is there",
    "lest": "so that ... not",
    "but for": "except for, without",
    "nor this": "say what is not, once more",
}
"""Turns of phrase that a reader stumbles over, and what to write instead."""

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\b(todo|unimplemented|dbg)!|\bfor now\b(?! in\b)")
"""Marks of work that is left to be done."""


def sources(*suffixes: str) -> Iterator[Path]:
    """All files of the project with one of `suffixes`, as paths from its root."""
    for folder in ("crates", "products", "python", "tests", "release", "fuzz/fuzz_targets", "docs", "scenarios"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "target" not in path.parts and not path.is_symlink():
                yield path.relative_to(ROOT)
    for path in sorted(ROOT.glob("*.md")):
        if path.suffix in suffixes:
            yield path.relative_to(ROOT)


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return (ROOT / path).read_text().splitlines()


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are for people, with their numbers."""
    for number, line in enumerate(lines(path), 1):
        text = line
        if path.suffix == ".rs":
            _, _, text = line.partition("//")
        elif path.suffix in (".toml", ".py"):
            text = line.partition("#")[2] if path.suffix == ".toml" else line
        if text:
            yield number, text


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a file, by name, and how many lines each has."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                yield node.name, node.end_lineno - node.lineno + 1
        return
    text = lines(path)
    for start, line in enumerate(text):
        # rustfmt puts the end of a function where its beginning is.
        found = re.match(r"( *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?fn (\w+)", line)
        if found and not line.rstrip().endswith(("}", ";")):
            end = next(at for at in range(start, len(text)) if text[at] in (f"{found[1]}}}", f"{found[1]});"))
            yield found[2], end - start + 1


def judge(found: dict[str, int], excepted: dict[str, str], limit: int, what: str) -> None:
    """Every one of `found` above `limit` has a reason, and every reason is of one that is above it."""
    above = {name: size for name, size in found.items() if size > limit}
    unexplained = [f"{name}: {size} lines, at most {limit}" for name, size in above.items() if name not in excepted]
    assert not unexplained, f"split these {what}, or say why not in tests/tidy.toml:\n" + "\n".join(unexplained)
    stale = sorted(set(excepted) - set(above))
    assert not stale, f"these {what} need no exception any more: take them out of tests/tidy.toml\n" + "\n".join(stale)
    assert all(len(reason.split()) >= 3 for reason in excepted.values()), "an exception has a reason"


def test_files_can_be_read_at_a_sitting() -> None:
    sizes = {str(path): len(lines(path)) for path in sources(".rs", ".py")}
    assert len(sizes) > 300, "the files were not found"
    judge(sizes, EXCEPTIONS["files"], LONGEST_FILE, "files")
    huge = {name: size for name, size in sizes.items() if size > LONGEST_EXCEPTION}
    assert not huge, f"no reason is good enough for more than {LONGEST_EXCEPTION} lines: {huge}"


def test_functions_fit_on_a_screen() -> None:
    sizes: dict[str, int] = {}
    for path in sources(".rs", ".py"):
        for name, size in functions(path):
            key = f"{path}::{name}"
            sizes[key] = max(size, sizes.get(key, 0))
    assert len(sizes) > 3000, "the functions were not found"
    judge(sizes, EXCEPTIONS["functions"], LONGEST_FUNCTION, "functions")


def test_words_are_plain() -> None:
    found = []
    for path in sources(".rs", ".py", ".md", ".toml"):
        if path.name in ("test_tidy.py", "tidy.toml"):
            continue
        for number, text in prose(path):
            for phrase, instead in ARCHAIC.items():
                if re.search(rf"\b{phrase}\b", text, re.IGNORECASE):
                    found.append(f'{path}:{number}: "{phrase}": {instead}')
    assert not found, "\n".join(found)


def test_nothing_is_left_for_later() -> None:
    found = []
    for path in sources(".rs", ".py", ".md", ".toml"):
        if path.name != "test_tidy.py":
            found += [
                f"{path}:{number}: {line.strip()}"
                for number, line in enumerate(lines(path), 1)
                if UNFINISHED.search(line)
            ]
    assert not found, "\n".join(found)


def test_the_test_sees_what_it_looks_for(tmp_path: Path) -> None:
    body = "\n".join(f"    let a{index} = {index};" for index in range(80))
    (tmp_path / "long.rs").write_text(f"pub(crate) fn long() {{\n{body}\n}}\nfn short() {{\n}}\n// lest it be had\n")
    path = tmp_path / "long.rs"
    assert dict(functions(path)) == {"long": 82, "short": 2}
    assert [text.strip() for _, text in prose(path)] == ["lest it be had"]
    assert UNFINISHED.search("// good enough for now") and UNFINISHED.search("todo!()")


@pytest.mark.parametrize(
    ("folder", "crates", "choosers"),
    [("nbd", {"nbd"}, {"instant.rs", "server.rs"}), ("nvme", {"nvme", "nvme-tcp"}, {"server.rs"})],
)
def test_one_folder_of_serve_knows_a_protocol(folder: str, crates: set[str], choosers: set[str]) -> None:
    """Another protocol is another folder: the rest of serve is neutral."""
    serve, place = Path("crates/serve/src"), Path("crates/serve/src") / folder
    users, makers = set(), set()
    for path in sources(".rs"):
        text = (ROOT / path).read_text()
        if path.parts[2] == "src" and path.parts[1] not in crates and f"outlast_{folder}" in text:
            users.add(path)
        if serve in path.parents and place not in path.parents and "tests" not in path.parts:
            makers |= {path.name} if re.search(rf"\b{folder}::", text) else set()
    assert users, "the folder has moved"
    assert not [path for path in users if place not in path.parents]
    assert makers == choosers, "these choose the protocol, and nobody else"


def test_every_file_of_rust_tests_is_in_its_crates_program() -> None:
    listed = 0
    for whole in sorted([*ROOT.glob("crates/*/tests/all.rs"), *ROOT.glob("products/*/tests/all.rs")]):
        modules = set(re.findall(r"^mod (\w+);$", whole.read_text(), re.MULTILINE))
        files = {path.stem for path in whole.parent.glob("*.rs")} - {"all"}
        assert files <= modules, f"{whole.relative_to(ROOT)} lacks {', '.join(sorted(files - modules))}"
        listed += len(files)
    assert listed > 100


def test_crates_depend_only_on_those_below_them() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    # A row that begins with a folder of tests has a crate for them, which may use all others.
    room, ours = re.compile(r"(?:crates|products)/([a-z-]+)/"), ("`crates/", "`products/")
    order = [name for row in rows if row.startswith(ours) for name in room.findall(row)]
    free = {name for row in rows if not row.startswith(ours) for name in room.findall(row)}
    files = [*ROOT.glob("crates/*/Cargo.toml"), *ROOT.glob("products/*/Cargo.toml")]
    manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in files}
    assert set(manifests) == set(order) | free, "ARCHITECTURE.md has a row for each crate"
    arrows = 0
    for name in order:
        used = {crate.removeprefix("outlast-") for crate in manifests[name].get("dependencies", {})} & set(order)
        above = {other for other in used if order.index(other) < order.index(name)}
        assert not above, f"ARCHITECTURE.md has {', '.join(sorted(above))} above {name}, which depends on it"
        arrows += len(used)
    assert arrows > 100


def test_scenarios_are_read_without_the_machines() -> None:
    reached, ahead = set[str](), ["scenario"]
    while ahead:
        name = ahead.pop()
        reached.add(name)
        used = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text()).get("dependencies", {})
        ahead += {crate.removeprefix("outlast-") for crate in used if crate.startswith("outlast-")} - reached
    assert "settings" in reached
    machines = {"flash", "ftl", "ssd", "array", "engine"} & reached
    assert not machines, f"a line in {', '.join(sorted(machines))} compiles scenario anew"
