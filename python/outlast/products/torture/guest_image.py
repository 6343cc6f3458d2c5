"""First file system of a virtual machine: busybox, programs with their libraries, kernel modules."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import TortureError

QEMU = "qemu-system-x86_64"
TOOLS = (QEMU, "depmod", "modprobe", "cpio", "ldd")
SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders of administrators' programs, which are not on every user's PATH."""
FOLDERS = ("bin", "sbin", "lib", "proc", "sys", "dev", "tmp", "mnt", "etc", "root", "host", "layer")


class AbsentError(TortureError):
    """Something that a machine needs is not here."""


@dataclass(frozen=True)
class Contents:
    """Files of a first file system."""

    init: str
    """The script that is the first process."""
    applets: tuple[str, ...]
    """Programs of busybox."""
    modules: tuple[str, ...]
    """Kernel modules; those that they need come with them."""
    programs: tuple[str, ...] = ()
    """Other programs, as they lie in the folder of files (`sbin/mdadm`) or on this system (`/usr/sbin/mke2fs`)."""
    scripts: tuple[Path, ...] = ()
    """Files for the root folder."""


def find_file(files: Path, pattern: str) -> Path:
    """The first file that fits; symbolic links count as what they lead to."""
    path = next(files.glob(pattern), None) or next(files.glob(f"usr/{pattern}"), None)
    if path is None:
        raise AbsentError(f"there is no {pattern} in {files}")
    return path


def kernel(files: Path) -> Path:
    """The kernel among the files."""
    return find_file(files, "boot/vmlinuz-*")


def tool(name: str) -> str:
    """A program of this system."""
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM)))
    if path is None:
        raise AbsentError(f"{name} is not installed")
    return path


def tools() -> None:
    """True if the programs that make and run a machine are here."""
    if platform.machine() != "x86_64":
        raise AbsentError(f"a guest needs an x86-64 processor, and this is {platform.machine()}")
    for name in TOOLS:
        tool(name)


def image(files: Path, contents: Contents, folder: Path) -> Path:
    """A first file system in a new folder, packed as the kernel reads it."""
    tools()
    root, packed = folder / "root", folder / "initrd"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    shutil.copy2(find_file(files, "bin/busybox"), root / "bin/busybox")
    for applet in contents.applets:
        (root / "bin" / applet).symlink_to("busybox")
    # The kernel calls it when a file system is mounted that it has no module of yet.
    (root / "sbin/modprobe").symlink_to("../bin/busybox")
    for name in contents.programs:
        _program(files, root, name)
    _modules(files, root, contents.modules)
    for script in contents.scripts:
        shutil.copy2(script, root / script.name)
    (root / "init").write_text(contents.init)
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with packed.open("wb") as out:
        pack = [tool("cpio"), "-o", "-H", "newc", "--quiet"]
        subprocess.run(pack, input=names.encode(), cwd=root, stdout=out, check=True)
    return packed


def _program(files: Path, root: Path, name: str) -> None:
    """Copies a program and the libraries that it loads."""
    source = Path(name) if name.startswith("/") else find_file(files, name)
    if not source.exists():
        raise AbsentError(f"{name} is not installed")
    shutil.copy2(source, root / "sbin" / source.name)
    listed = subprocess.run([tool("ldd"), source], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if "not found" in line:
            library = find_file(files, f"lib/*/{words[0]}")
            _copy(library, root / "lib" / words[0])
            _libraries(root, library)
        else:
            for word in words:
                if word.startswith("/"):
                    _copy(Path(word), root / word[1:])


def _libraries(root: Path, library: Path) -> None:
    """Libraries that a library from the files loads itself."""
    listed = subprocess.run([tool("ldd"), library], check=True, capture_output=True, text=True).stdout
    for word in listed.split():
        if word.startswith("/"):
            _copy(Path(word), root / word[1:])


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, place)


def _modules(files: Path, root: Path, names: Iterable[str]) -> None:
    """Copies modules and what they need, in the order in which the kernel wants them."""
    version = kernel(files).name.removeprefix("vmlinuz-")
    modules = find_file(files.resolve(), f"lib/modules/{version}")
    base = modules.parents[2]
    for name in names:
        needs = [tool("modprobe"), "-d", str(base), "-S", version, "--show-depends", name]
        listed = subprocess.run(needs, capture_output=True, text=True)
        if listed.returncode != 0:
            raise AbsentError(f"the kernel {version} has no module {name}")
        for line in listed.stdout.splitlines():
            kind, file = line.split()[:2]
            if kind == "insmod":
                _copy(Path(file), root / Path(file).relative_to(base))
    for each in modules.glob("modules.*"):
        if each.name.startswith(("modules.builtin", "modules.order")):
            _copy(each, root / "lib/modules" / version / each.name)
    subprocess.run([tool("depmod"), "-b", root, version], check=True)
