"""What a release brings: its section of CHANGELOG.md, and its files with their checksums."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path


def section(changelog: str, version: str) -> str:
    """What the changelog says of a version, without its heading.

    Raises:
        ValueError: The changelog has no such heading, or nothing below it.

    """
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading.split()[0] == version:
            if not body.strip():
                raise ValueError(f"CHANGELOG.md says nothing of {version}")
            return str(body.strip())
    raise ValueError(f"CHANGELOG.md has no heading '## {version}'")


def checksum(file: Path) -> str:
    """Its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def sums(folder: Path) -> str:
    """A line for each file below a folder, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    return "".join(f"{checksum(file)}  {file.relative_to(folder)}\n" for file in files)


def notes(changelog: str, version: str, commit: str, folder: Path) -> str:
    """The text of a release, in Markdown."""
    rows = [
        f"| `{file.relative_to(folder)}` | {file.stat().st_size / 1e6:.1f} MB | `{checksum(file)}` |"
        for file in sorted(folder.rglob("outlast-*"))
        if file.is_file()
    ]
    table = "\n".join(["| file | size | SHA-256 |", "|---|---|---|", *rows])
    return f"# Outlast {version}\n\nOf commit {commit}.\n\n{section(changelog, version)}\n\n## Files\n\n{table}\n"
