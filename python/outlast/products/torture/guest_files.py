"""The files that a guest is made of, Debian's kernel and busybox: where they are, and getting them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from outlast.products.torture.guest_image import AbsentError, find_file, kernel, tool

VARIABLE = "OUTLAST_GUEST_FILES"
"""Names another folder than the usual one."""
KERNEL = "linux-image-amd64"
"""The package that depends on the present kernel. Debian's kernel for clouds is smaller, but has no 9p."""
BUSYBOX = "busybox-static"
HINT = "`outlast torture guest-files` gets them on Debian"

UNUSED = ("drivers/gpu", "drivers/media", "drivers/net/ethernet", "drivers/net/wireless", "drivers/staging", "sound")
"""Modules of devices that no guest has: half of the package."""


def folder() -> Path:
    """The folder of the files: what `OUTLAST_GUEST_FILES` says, or one in this user's cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "outlast" / "guest"


def absent(files: Path) -> str | None:
    """Missing file, in a few words; `None`: all are there."""
    try:
        kernel(files)
        find_file(files, "lib/modules/*")
        find_file(files, "bin/busybox")
    except AbsentError as lack:
        return f"{lack}: {HINT}"
    return None


def fetch(files: Path) -> str:
    """Gets the files into a folder, which must be new or empty, from Debian's packages; the version of the kernel.

    Nothing is installed, and no root is needed.
    """
    if files.is_dir() and any(files.iterdir()):
        raise AbsentError(f"{files}: is not empty")
    try:
        apt, unpack, modules = tool("apt-get"), tool("dpkg"), tool("depmod")
        depends = _output([tool("apt-cache"), "depends", KERNEL])
    except AbsentError as lack:
        raise AbsentError(
            f"{lack}: elsewhere than on Debian, fill {files} yourself with boot/vmlinuz-VERSION, "
            "lib/modules/VERSION and a static bin/busybox"
        ) from lack
    words = [line.split()[-1] for line in depends.splitlines() if "Depends: linux-image" in line]
    if not words:
        raise AbsentError(f"apt knows no package {KERNEL}: `apt-get update` may help; on Debian it is in main")
    files.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".guest-", dir=files.parent) as name:
        packages, made = Path(name, "packages"), Path(name, "files")
        packages.mkdir()
        _output([apt, "download", "-qq", words[0], BUSYBOX], packages)
        for package in packages.glob("*.deb"):
            _output([unpack, "-x", str(package), str(made)])
        version = kernel(made).name.removeprefix("vmlinuz-")
        for unused in UNUSED:
            shutil.rmtree(find_file(made, f"lib/modules/{version}") / "kernel" / unused, ignore_errors=True)
        _output([modules, "-b", str(made), version])
        made.chmod(0o755)
        made.replace(files)
    return version


def _output(command: list[str], place: Path | None = None) -> str:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode != 0:
        raise AbsentError(f"{Path(command[0]).name} failed: {' '.join(done.stderr.split()[-40:])}")
    return done.stdout
