"""Small virtual machines with Debian's kernel, for what asks Linux itself: md, the kernel's NBD client.

A machine boots into a first file system that is made here: busybox, a few programs with the libraries that they load,
kernel modules, and a script as the first process. It needs no root, no block devices and no hardware virtualisation.
`fetch.sh` gets the files that it is made of.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

HERE = Path(__file__).parent
TOOLS = ("qemu-system-x86_64", "depmod", "modprobe", "cpio", "ldd")


class AbsentError(Exception):
    """Something that a machine needs is not here."""


@dataclass(frozen=True)
class Contents:
    """What a first file system holds."""

    init: Path
    """The script that is the first process."""
    applets: tuple[str, ...]
    """Programs of busybox."""
    modules: tuple[str, ...]
    """Kernel modules; those that they need come with them."""
    programs: tuple[str, ...]
    """Other programs, as they lie in the folder of files (`sbin/mdadm`) or on this system (`/usr/sbin/mke2fs`)."""


def found(files: Path, pattern: str) -> Path:
    """The first file that fits; symbolic links count as what they lead to."""
    path = next(files.glob(f"**/{pattern}"), None)
    if path is None:
        raise AbsentError(f"there is no {pattern} in {files}")
    return path


def kernel(files: Path) -> Path:
    """The kernel among the files."""
    return found(files, "boot/vmlinuz-*")


def tools() -> None:
    """Whether the programs are here that make and run a machine."""
    for program in TOOLS:
        if shutil.which(program) is None:
            raise AbsentError(f"{program} is not installed")


def _program(files: Path, root: Path, name: str) -> None:
    """Copies a program and the libraries that it loads."""
    source = Path(name) if name.startswith("/") else found(files, name)
    if not source.exists():
        raise AbsentError(f"{name} is not installed")
    place = root / "sbin" / source.name
    shutil.copy2(source, place)
    listed = subprocess.run(["ldd", source], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if "not found" in line:
            library = found(files, words[0])
            _copy(library, root / "lib" / words[0])
            _libraries(files, root, library)
        else:
            for word in words:
                if word.startswith("/"):
                    _copy(Path(word), root / word[1:])


def _libraries(files: Path, root: Path, library: Path) -> None:
    """What a library from the files loads itself."""
    listed = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    for word in listed.split():
        if word.startswith("/"):
            _copy(Path(word), root / word[1:])


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, place)


def _modules(files: Path, root: Path, names: Iterable[str]) -> None:
    """Copies modules and what they need, in the order in which the kernel wants them."""
    version = kernel(files).name.removeprefix("vmlinuz-")
    modules = found(files.resolve(), f"lib/modules/{version}")
    base = modules.parents[2]
    subprocess.run(["depmod", "-b", base, version], check=True)
    for name in names:
        needs = ["modprobe", "-d", str(base), "-S", version, "--show-depends", name]
        for line in subprocess.run(needs, check=True, capture_output=True, text=True).stdout.splitlines():
            kind, file = line.split()[:2]
            if kind == "insmod":
                _copy(Path(file), root / Path(file).relative_to(base))
    for listed in modules.glob("modules.*"):
        if listed.name.startswith(("modules.builtin", "modules.order")):
            _copy(listed, root / "lib/modules" / version / listed.name)
    subprocess.run(["depmod", "-b", root, version], check=True)


def image(files: Path, contents: Contents, folder: Path) -> Path:
    """A first file system, packed as the kernel reads it."""
    tools()
    root, packed = folder / "root", folder / "initrd"
    for name in ("bin", "sbin", "lib", "proc", "sys", "dev", "tmp", "mnt", "etc"):
        (root / name).mkdir(parents=True)
    shutil.copy2(found(files, "bin/busybox"), root / "bin/busybox")
    for applet in contents.applets:
        (root / "bin" / applet).symlink_to("busybox")
    for name in contents.programs:
        _program(files, root, name)
    _modules(files, root, contents.modules)
    shutil.copy2(HERE / "start.sh", root / "start.sh")
    shutil.copy2(contents.init, root / "init")
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with packed.open("wb") as out:
        pack = ["cpio", "-o", "-H", "newc", "--quiet"]
        subprocess.run(pack, input=names.encode(), cwd=root, stdout=out, check=True)
    return packed


def command(files: Path, initrd: Path, *, words: str = "", options: Iterable[str] = ()) -> list[str]:
    """How to boot; `words` go to the kernel, and from there to the script as its environment."""
    machine = "qemu-system-x86_64 -accel tcg -cpu max -m 1024 -display none -serial stdio -nodefaults -no-reboot"
    boot = ["-kernel", str(kernel(files)), "-initrd", str(initrd)]
    return [*machine.split(), *options, *boot, "-append", f"console=ttyS0 quiet panic=1 rdinit=/init {words}".strip()]


class Machine:
    """A machine that talks over its serial line: the guest asks with a line `== WORDS`, and reads one as the answer."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.said: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        # Reads what is left, closes both ends and waits.
        self._process.communicate()

    def _pipe(self, pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe

    def questions(self) -> Iterator[str]:
        """What the guest asks, until it ends; everything that it says is kept."""
        for line in self._pipe(self._process.stdout):
            self.said.append(line.rstrip())
            if line.startswith("== "):
                yield line.removeprefix("== ").strip()

    def answer(self, words: str = "") -> None:
        """Lets the guest go on."""
        pipe = self._pipe(self._process.stdin)
        pipe.write(words + "\n")
        pipe.flush()

    def value(self, name: str) -> str:
        """What the guest said last as `NAME: VALUE`."""
        for line in reversed(self.said):
            if line.startswith(f"{name}: "):
                return line.removeprefix(f"{name}: ")
        raise AssertionError(f"the machine did not say {name}:\n" + "\n".join(self.said[-40:]))
