"""Small virtual machines with Debian's kernel, for what asks Linux itself: md, the kernel's NBD client.

A machine boots into a first file system that `outlast.products.torture.guest_image` makes: busybox, a few programs with
the libraries that they load, kernel modules, and a script as the first process. It needs no root, no block devices and
no hardware virtualisation. `fetch.sh` gets the files that it is made of.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from outlast.products.torture.guest_image import kernel

BASE = Path(__file__).parents[2] / "target" / "guest"
KERNELS = ("files", "files-6.12")
"""Folders with kernels: Debian's own, which `fetch.sh` gets, and that of its backports, by `fetch_newer.sh`."""
DATA = (BASE / "qemu/usr/share/qemu", Path("/usr/share/qemu"), Path("/usr/share/seabios"))
"""What the QEMU that comes with the newer kernel reads."""


def is_newer(files: Path) -> bool:
    """Says whether the kernel of a folder is newer than Linux 6.1."""
    return not kernel(files).name.startswith("vmlinuz-6.1.")


def emulator(files: Path) -> list[str]:
    """QEMU for the kernel of a folder: that of bookworm cannot run Linux 6.12."""
    if not is_newer(files):
        return ["qemu-system-x86_64"]
    return [str(BASE / "qemu/usr/bin/qemu-system-x86_64"), *(word for data in DATA for word in ("-L", str(data)))]


def command(files: Path, initrd: Path, *, words: str = "", options: Iterable[str] = ()) -> list[str]:
    """Command line of qemu; `words` go to the kernel, and from there to the script as its environment."""
    machine = "-accel tcg -cpu max -m 1024 -display none -serial stdio -nodefaults -no-reboot"
    boot = ["-kernel", str(kernel(files)), "-initrd", str(initrd)]
    return [
        *emulator(files),
        *machine.split(),
        *options,
        *boot,
        "-append",
        f"console=ttyS0 quiet panic=1 rdinit=/init {words}".strip(),
    ]


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
        """Questions of the guest until it ends; keeps every line of its output."""
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
        """Value that the guest printed last as `NAME: VALUE`."""
        for line in reversed(self.said):
            if line.startswith(f"{name}: "):
                return line.removeprefix(f"{name}: ")
        raise AssertionError(f"the machine did not say {name}:\n" + "\n".join(self.said[-40:]))
