"""Which glibc a compiled file needs, by the versions of the symbols that it takes from it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

OLDEST = (2, 28)
"""What wheels of a release run on: RHEL 8, Debian 10, Ubuntu 20.04 (which has 2.31) and later."""

Version = tuple[int, ...]


def needed(symbols: str) -> Version:
    """The highest version of glibc in what `objdump -T` prints; (0,) where there is none."""
    found = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)\b", symbols)
    return max((tuple(map(int, each.split("."))) for each in found), default=(0,))


def needed_by(file: Path) -> Version:
    """The glibc that a shared library or a program needs at least (needs `objdump`, of binutils)."""
    done = subprocess.run(
        [shutil.which("objdump") or "objdump", "-T", file], capture_output=True, text=True, check=True
    )
    return needed(done.stdout)


def needed_by_wheel(wheel: Path) -> Version:
    """The same of a wheel: of what is compiled in it."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        compiled = [archive.extract(name, folder) for name in archive.namelist() if name.endswith(".so")]
        return max(needed_by(Path(file)) for file in compiled)
