"""A virtual machine under QEMU with one disk, and the line on which the agent within is asked."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from outlast.errors import TortureError
from outlast.products.torture import cleanup
from outlast.products.torture.guest_image import QEMU, tool

MEMORY_MIB = 1024
BOOT_S = {"kvm": 15.0, "tcg": 120.0}
"""Time that a machine may take until its agent answers."""
KVM = Path("/dev/kvm")
HARDWARE = (Path("/sys/module/kvm_intel"), Path("/sys/module/kvm_amd"))
"""Hypervisor behind /dev/kvm where it can run any kernel."""
LONGEST_LINE = 1 << 20


class SilentError(Exception):
    """The machine has ended, or does not answer in time."""

    def __init__(self, timed_out: bool, said: str) -> None:
        super().__init__("the guest does not answer" if timed_out else "the guest has ended")
        self.timed_out = timed_out
        self.said = said
        """The end of what its kernel printed."""


def acceleration() -> tuple[str, str]:
    """QEMU's name of how a guest is run here, and in words with the reason."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        reason = "cannot be opened" if KVM.exists() else "is not here"
        return "tcg", f"emulated (TCG), since {KVM} {reason}"
    if not any(path.exists() for path in HARDWARE):
        return "tcg", f"emulated (TCG), since {KVM} is not that of kvm_intel or kvm_amd"
    return "kvm", "by the processor (KVM)"


def nbd_node(uri: str) -> dict[str, Any]:
    """QEMU's client of an NBD drive."""
    parts = urlsplit(uri)
    if parts.scheme == "nbd+unix":
        server = {"type": "unix", "path": parse_qs(parts.query)["socket"][0]}
    elif parts.scheme == "nbd" and parts.hostname is not None:
        server = {"type": "inet", "host": parts.hostname, "port": str(parts.port or 10809)}
    else:
        raise TortureError(f"{uri}: a guest can use only drives at nbd+unix:// or nbd:// addresses")
    return {"driver": "nbd", "server": server, "export": unquote(parts.path.removeprefix("/"))}


def file_node(handle: int) -> dict[str, Any]:
    """An open file, which no other program uses."""
    return {"driver": "file", "filename": f"/dev/fd/{handle}", "locking": "off"}


class Machine:
    """A machine that has booted; to be closed."""

    def __init__(
        self, kernel: Path, initrd: int, accelerator: str, node: dict[str, Any], keep: tuple[int, ...]
    ) -> None:
        ours, theirs = socket.socketpair()
        control, controlled = socket.socketpair()
        self._socket, self._sending = ours, threading.Lock()
        self._said = os.fdopen(os.memfd_create("console", os.MFD_CLOEXEC), "w+b")
        self._received = b""
        self._control = control.makefile("rwb")
        control.close()
        try:
            self._process = subprocess.Popen(
                _command(kernel, initrd, accelerator, node, theirs.fileno(), controlled.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=(*keep, theirs.fileno(), controlled.fileno()),
                # Ctrl-C is this process's; it ends the machine itself.
                start_new_session=True,
            )
        finally:
            theirs.close()
            controlled.close()
        self._watch = cleanup.removed_on_exit("group", self._process.pid)
        self._watch.__enter__()
        try:
            assert self.receive(BOOT_S[accelerator]) == {"ready": True}
            self._reply()
            self.order("qmp_capabilities")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the machine at once."""
        self._process.kill()
        self._process.wait()
        self._watch.__exit__(None, None, None)
        self._socket.close()
        self._control.close()
        self._said.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: dict[str, Any]) -> None:
        """Tells the agent."""
        try:
            with self._sending:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise self._silent(timed_out=False) from error

    def receive(self, seconds: float | None) -> dict[str, Any]:
        """Next message of the agent; waits at most so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._received:
            try:
                self._socket.settimeout(None if end is None else max(end - time.monotonic(), 1e-3))
                more = self._socket.recv(LONGEST_LINE)
            except TimeoutError as error:
                raise self._silent(timed_out=True) from error
            except OSError as error:
                raise self._silent(timed_out=False) from error
            if not more:
                raise self._silent(timed_out=False)
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    @contextmanager
    def drive(self, uri: str) -> Iterator[None]:
        """Meanwhile the disk is an NBD drive, of the same size; after an error the machine is of no use."""
        self.order("blockdev-add", **nbd_node(uri), **{"node-name": "drive", "discard": "unmap"})
        self.order("blockdev-reopen", options=[_disk("drive")])
        yield
        self.order("blockdev-reopen", options=[_disk("first")])
        self.order("blockdev-del", **{"node-name": "drive"})

    def order(self, name: str, **arguments: Any) -> None:
        """Has QEMU do something (QMP)."""
        try:
            self._control.write(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
            self._control.flush()
            answer = self._reply()
        except OSError as error:
            raise self._silent(timed_out=False) from error
        if "error" in answer:
            raise TortureError(f"QEMU: {answer['error']['desc']}")

    def _reply(self) -> dict[str, Any]:
        while line := self._control.readline():
            answer: dict[str, Any] = json.loads(line)
            if "event" not in answer:
                return answer
        raise self._silent(timed_out=False)

    def _silent(self, timed_out: bool) -> SilentError:
        length = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(length - 4096, 0))
        return SilentError(timed_out, self._said.read().decode(errors="replace").replace("\r", ""))


def _disk(file: str) -> dict[str, Any]:
    return {"driver": "raw", "node-name": "disk", "file": file, "discard": "unmap"}


def _command(kernel: Path, initrd: int, accelerator: str, node: dict[str, Any], agent: int, control: int) -> list[str]:
    cpu = "host" if accelerator == "kvm" else "max"
    first = node | {"node-name": "first", "discard": "unmap"}
    return [
        *(tool(QEMU), "-accel", accelerator, "-cpu", cpu, "-m", str(MEMORY_MIB)),
        *("-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(kernel), "-initrd", f"/dev/fd/{initrd}"),
        # A kernel that is in trouble is a finding: it ends, and what it said last is kept.
        *("-append", "console=ttyS0 quiet panic=-1 oops=panic no_timer_check rdinit=/init"),
        *("-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"),
        *("-device", "virtio-9p-pci,fsdev=host,mount_tag=host"),
        *("-chardev", f"socket,id=agent,fd={agent}", "-device", "virtio-serial-pci"),
        *("-device", "virtserialport,chardev=agent,name=agent"),
        *("-chardev", f"socket,id=control,fd={control}", "-mon", "chardev=control,mode=control"),
        *("-blockdev", json.dumps(first), "-blockdev", json.dumps(_disk("first"))),
        # Every request of the guest's kernel reaches the drive: QEMU neither merges nor caches.
        *("-device", "virtio-blk-pci,drive=disk,request-merging=off,write-cache=on"),
    ]
