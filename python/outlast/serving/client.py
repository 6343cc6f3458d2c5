"""Talking to a control socket: one JSON object a line, one line back."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from outlast import foreign
from outlast.errors import ControlError
from outlast.serving import sockets

LONGEST_LINE = 1 << 24
"""Bytes of the longest answer that is read: the state of an array of many drives takes some hundred kilobytes."""

PATIENCE_S = 30.0


class Client:
    """A connection to a server's control socket; to be used in `with`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE_S)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise ControlError(f"{path}: no server listens there ({error.strerror}); see `outlast serve`") from error
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._socket.close()

    def ask(self, request: Mapping[str, Any]) -> Any:
        """Sends a request; returns the answer, or raises the refusal."""
        try:
            # A server that has room for no more clients says so without listening first.
            with suppress(BrokenPipeError):
                self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._lines.readline(LONGEST_LINE)
        except OSError as error:
            raise ControlError(f"{self._path}: the server does not answer ({error})") from error
        if not line.endswith(b"\n"):
            raise ControlError(f"{self._path}: the server ended before it answered")
        try:
            answer = foreign.json_of(line)
        except ValueError as error:
            raise ControlError(f"{self._path}: the answer cannot be read: {error}") from error
        if not isinstance(answer, dict) or not answer.keys() & {"ok", "error"}:
            raise ControlError(f"{self._path}: the answer has neither ok nor error: this is not an Outlast server")
        return value_of(answer)


def value_of(answer: Mapping[str, Any]) -> Any:
    """Value of an answer; raises a refusal."""
    if "error" in answer:
        raise ControlError(str(answer["error"]))
    return answer["ok"]


def path_of(name: str | None) -> Path:
    """The socket of the named server, of the one that this program is recorded by, or of the only one that runs."""
    if name is not None:
        return Path(name) if "/" in name else sockets.socket_path(name)
    if (recorder := os.environ.get("OUTLAST_CONTROL")) is not None:
        return Path(recorder)
    running = [each for each in sockets.server_names() if is_running(sockets.socket_path(each))]
    if len(running) != 1:
        if not running:
            raise ControlError("no server runs; start one with outlast serve")
        raise ControlError(f"several servers run: name one of {', '.join(running)}")
    return sockets.socket_path(running[0])


def is_running(path: Path) -> bool:
    """True if a server listens at the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
