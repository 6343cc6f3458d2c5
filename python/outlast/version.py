"""Version and commit of this package."""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITTEN = HERE / "_commit.txt"
"""File that `make wheel` writes into packages: the commit that they are made of."""


def commit() -> str | None:
    """The commit, shortened, with a plus sign where files have been changed since; `None` where it is not known."""
    if WRITTEN.is_file():
        return WRITTEN.read_text(encoding="utf-8").strip() or None
    root = HERE.parent.parent
    if not (root / ".git").exists():
        return None
    ask = ["git", "-C", str(root), "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+"]
    try:
        output = subprocess.run(ask, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return output.stdout.strip() or None


def named() -> str:
    """Version and commit, as `outlast --version` tells them."""
    from outlast import __version__

    known = commit()
    return __version__ if known is None else f"{__version__} ({known})"
