"""Paths of control sockets: `$XDG_RUNTIME_DIR/outlast/NAME.ctl`, or in the user's own temporary folder."""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from outlast.errors import ControlError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

LONGEST_PATH = 107
"""Bytes of a Unix socket's path on Linux, without the zero behind them; other systems have 103."""


def socket_folder() -> Path:
    """Folder of control sockets, which only this user can enter; made if it does not exist."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    place = Path(runtime) / "outlast" if runtime else Path(tempfile.gettempdir()) / f"outlast-{os.getuid()}"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.lstat()
    except OSError as error:
        raise ControlError(f"{place}: no folder for control sockets: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ControlError(f"{place}: must be a folder of your own that nobody else can enter (mode 700)")
    return place


def socket_path(name: str) -> Path:
    """Path of the control socket of the server `name`."""
    if not _NAME.fullmatch(name):
        raise ControlError(
            f'name "{name}": must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or digit'
        )
    path = socket_folder() / f"{name}.ctl"
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise ControlError(f"{path}: longer than the {LONGEST_PATH} bytes that the path of a socket may have")
    return path


def paths_for(export: str) -> Iterator[Path]:
    """Paths of control sockets named after an export, without end, with dashes for letters that a name may not have."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", export).lstrip("._-")[:60] or "machine"
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return map(socket_path, names)


class Place:
    """Address to listen at: the one given, or a socket in a folder that is removed afterwards."""

    def __init__(self, listen: str | None) -> None:
        self._listen = listen
        self._folder: str | None = None

    def __enter__(self) -> str:
        if self._listen is not None:
            return self._listen
        self._folder = tempfile.mkdtemp(prefix="outlast-", dir=os.environ.get("XDG_RUNTIME_DIR") or None)
        return f"unix:{Path(self._folder) / 'nbd'}"

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def check_port(port: int) -> None:
    """Refuses a port of this computer that is in use."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ControlError(f"127.0.0.1:{port}: cannot listen there: {error.strerror}") from error


def server_names() -> list[str]:
    """Names of servers that have a control socket, running or not."""
    return sorted(path.stem for path in socket_folder().glob("*.ctl") if path.is_socket())
