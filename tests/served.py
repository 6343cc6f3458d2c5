"""A server as a person starts it, and the clients that tests call."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE_S

SYSTEM_PYTHON = "/usr/bin/python3"
"""The one that Debian's python3-libnbd is for."""

SMALL = """\
extends = "demo"
name = "small"

[device]
model = "small 96 MiB"

[device.geometry]
channels = 4
dies_per_chip = 1
blocks_per_plane = 48
pages_per_block = 32

[device.ftl]
capacity = "96MiB"

[device.controller]
write_cache = "volatile"
write_buffer = "1MiB"

[device.protection]
data = 3

[precondition]
fill = "none"
overwrite = "none"
"""
"""A drive of eight planes of 12 MiB of flash with parity over four dies, so that one may fail without loss."""


class Served:
    """A server in a process of its own, on a Unix socket."""

    def __init__(self, process: subprocess.Popen[str], uri: str, folder: Path) -> None:
        self.process, self.uri, self.folder = process, uri, folder

    def run(self, *command: str, check: bool = True, timeout: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """A client; it must succeed."""
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=timeout)
        assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *command: str) -> Any:
        """Runs a client and parses its output as JSON."""
        return json.loads(self.run(*command).stdout)

    def stop(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Ends the server; its exit code and what it said."""
        self.process.send_signal(by)
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The scenario file of a small drive."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def files_of(folder: Path) -> dict[str, str]:
    """Hash of each file in a folder, such as an image."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def start(folder: Path, *arguments: str) -> Served:
    """Starts `outlast serve` with a socket in `folder`, and waits until it serves."""
    command = [sys.executable, "-m", "outlast", "serve", *arguments]
    if "--listen" not in arguments:
        command += ["--listen", f"unix:{folder / 'socket'}"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    uri = process.stdout.readline().strip()
    if not uri:
        _, said = process.communicate(timeout=PATIENCE_S)
        raise AssertionError(f"{command} ended with {process.returncode}: {said}")
    return Served(process, uri, folder)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    """A server for as long as the block lasts, which ends well."""
    served = start(folder, *arguments)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            code, said = served.stop()
            assert code == 0, said


def needs(*programs: str) -> Callable[[Any], Any]:
    """Skips a test, and says so, where a program is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} absent")


def has_libnbd() -> bool:
    """True if the system's Python has libnbd."""
    if not Path(SYSTEM_PYTHON).exists():
        return False
    return subprocess.run([SYSTEM_PYTHON, "-c", "import nbd"], capture_output=True).returncode == 0


needs_libnbd = pytest.mark.skipif(not has_libnbd(), reason="the nbd module of the system's Python is absent")
