"""Are a release's texts right: what it needs of glibc, its notes, its checksums, its bill of materials?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "release"))

import glibc  # noqa: E402
import notes  # noqa: E402
import sbom  # noqa: E402

SYMBOLS = """\
DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*  0000000000000000  GLIBC_2.2.5 memcpy
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.28) fcntl64
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.9) pipe2
0000000000000000  w   D  *UND*  0000000000000000  Base        __cxa_finalize
"""
CHANGES = "# Changelog\n\n## 0.2.0 (2026-12-01)\n\n- new\n- newer\n\n## 0.1.0\n\nThe first.\n\n## 0.0.1\n\n"


def test_the_highest_version_counts_by_its_numbers() -> None:
    assert glibc.needed(SYMBOLS) == (2, 28)
    assert glibc.needed(SYMBOLS.replace("GLIBC_2.9", "GLIBC_2.100")) == (2, 100)
    assert glibc.needed("GLIBCXX_3.4.30 nothing of glibc") == (0,)


@pytest.mark.skipif(not shutil.which("cc") or not shutil.which("objdump"), reason="cc and binutils are not installed")
def test_a_compiled_file_needs_what_it_takes_from_glibc(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    # As every glibc since 2.2.5 has it, and as glibc has it since 2.33.
    source.write_text('#include <sys/stat.h>\nint f(struct stat *s) { return stat("/", s); }\n')
    library = tmp_path / "a.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", "-o", library, source, "-lc"], check=True)
    here = tuple(map(int, subprocess.check_output(["getconf", "GNU_LIBC_VERSION"], text=True).split()[1].split(".")))
    assert glibc.needed_by(library) == ((2, 33) if here >= (2, 33) else (2, 2, 5))


def test_notes_are_the_section_of_the_version() -> None:
    assert notes.section(CHANGES, "0.2.0") == "- new\n- newer"
    assert notes.section(CHANGES, "0.1.0") == "The first."
    with pytest.raises(ValueError, match=r"no heading '## 0\.3\.0'"):
        notes.section(CHANGES, "0.3.0")
    with pytest.raises(ValueError, match=r"says nothing of 0\.0\.1"):
        notes.section(CHANGES, "0.0.1")


def test_sums_are_those_that_coreutils_check(tmp_path: Path) -> None:
    (tmp_path / "x86-64-v3").mkdir()
    (tmp_path / "outlast-1.whl").write_bytes(b"one")
    (tmp_path / "x86-64-v3" / "outlast-1.whl").write_bytes(b"another")
    text = notes.notes(CHANGES, "0.1.0", "0123456789", tmp_path)
    (tmp_path / "SHA256SUMS").write_text(notes.sums(tmp_path))
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=True).stdout.count(b": OK") == 2
    assert "The first." in text and "commit 0123456789" in text
    for line in (tmp_path / "SHA256SUMS").read_text().splitlines():
        digits, name = line.split()
        assert f"| `{name}` | 0.0 MB | `{digits}` |" in text
    (tmp_path / "outlast-1.whl").write_bytes(b"won")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 1


def package(name: str, kind: str = "lib", licence: str = "MIT/Apache-2.0") -> dict[str, Any]:
    """A package as `cargo metadata` has it."""
    return {"id": name, "name": name, "version": "1.0.0", "license": licence, "targets": [{"kind": [kind]}]}


def node(name: str, **needs: str | None) -> dict[str, Any]:
    """Node of cargo's graph with its dependencies: to compile in (None), to build it, or to test it."""
    return {"id": name, "deps": [{"pkg": pkg, "dep_kinds": [{"kind": kind}]} for pkg, kind in needs.items()]}


@pytest.fixture
def small() -> tuple[dict[str, Any], str, str]:
    """An extension of one crate, a macro that uses one, a build script's, a test's, its feature's; and their lock."""
    names = ["outlast-python", "linked", "derive", "parser", "cc", "tester", "featured"]
    packages = [package(name, "proc-macro" if name == "derive" else "lib") for name in names]
    nodes = [
        node("outlast-python", linked=None, derive=None, tester="dev"),
        node("linked", cc="build", featured=None),
        node("derive", parser=None),
        *map(node, ("parser", "cc", "tester", "featured")),
    ]
    lock = "".join(f'[[package]]\nname = "{name}"\nversion = "1.0.0"\nchecksum = "{"ab" * 32}"\n' for name in names[1:])
    lock += '[[package]]\nname = "outlast-python"\nversion = "1.0.0"\n'
    tree = "".join(f"{name} v1.0.0 (proc-macro)\n" for name in names[:5])
    return {"packages": packages, "resolve": {"nodes": nodes}}, tree, lock


def test_what_is_compiled_in_is_required_and_what_builds_is_excluded(small: tuple[dict[str, Any], str, str]) -> None:
    parts, edges = sbom.crates(*small)
    scopes = {part.name: part.scope.value for part in parts if part.scope}
    assert {name for name, scope in scopes.items() if scope == "required"} == {"outlast-python", "linked"}
    assert {name for name, scope in scopes.items() if scope == "excluded"} == {"derive", "parser", "cc"}
    assert edges["pkg:cargo/derive@1.0.0"] == ["pkg:cargo/parser@1.0.0"]


def test_the_bill_is_valid_and_the_same_each_time(small: tuple[dict[str, Any], str, str]) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    parts, edges = sbom.crates(*small)
    project = {"dependencies": ["click"], "optional-dependencies": {"notebook": ["plotly"], "dev": ["pytest"]}}
    when = datetime(2026, 11, 25, tzinfo=UTC)
    text = sbom.bill("1.0.0", "0123456789", when, [*parts, *sbom.python_packages(project)], edges)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    again, edges = sbom.crates(*small)
    assert sbom.bill("1.0.0", "0123456789", when, [*again, *sbom.python_packages(project)], edges) == text
    parts_of = {part["name"]: part for part in json.loads(text)["components"]}
    assert parts_of["click"]["scope"] == "required" and parts_of["plotly"]["scope"] == "optional"
    assert "pytest" not in parts_of
    assert parts_of["linked"]["licenses"] == [{"expression": "MIT OR Apache-2.0"}]
    assert parts_of["linked"]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
