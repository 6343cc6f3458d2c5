"""The control socket of a served machine: one JSON object a line, one line back, for its owner alone."""

from __future__ import annotations

import fcntl
import json
import os
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, Self

from outlast import foreign
from outlast.errors import ControlError
from outlast.serving import sockets
from outlast.serving.client import is_running

LONGEST_REQUEST = 1 << 16
"""Bytes of the longest request."""
MOST_CLIENTS = 64


class Server(Protocol):
    """A server that takes requests and gives answers as JSON, from any thread."""

    def request(self, text: str) -> str:
        """Carries out a request at the server's present time."""


def answer_to(server: Server, line: bytes) -> str:
    """The answer to a line, whatever is in it."""
    try:
        request = request_of(line)
    except ValueError as error:
        return json.dumps({"error": str(error)})
    return answer_of(server, request)


def request_of(text: bytes) -> dict[str, Any]:
    """The request that a line or a body holds; raises ValueError with one line."""
    request = foreign.json_of(text)
    if not isinstance(request, dict):
        raise ValueError('a request is an object, such as {"do": "state"}')
    return request


def answer_of(server: Server, request: Mapping[str, Any]) -> str:
    """The answer to a request, as JSON with `ok` or with `error` and one line; never an exception."""
    try:
        return server.request(json.dumps(request, allow_nan=False))
    except Exception as error:  # whoever asked is told, and nobody else is disturbed
        return json.dumps({"error": " ".join(str(error).split()) or type(error).__name__})


class NameTakenError(ControlError):
    """A server of that name runs."""


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Holds a lock on `folder`, for which other processes wait. The system takes it back from one that is killed."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


class Control:
    """Listens on a Unix socket of mode 600 and passes each line on; to be used in `with`."""

    def __init__(self, server: Server, path: Path) -> None:
        self.path = path
        try:
            # Else two servers that start together find the name free, and one removes the other's socket.
            with _alone_in(path.parent):
                self._listener = _listener(server, path)
        except OSError as error:
            raise ControlError(f"{path}: cannot listen there: {error.strerror}") from error
        self._thread = threading.Thread(target=self._listener.serve_forever, name="outlast-control", daemon=True)

    @classmethod
    def at_free_name(cls, server: Server, export: str) -> Self:
        """Listens at the first name after `export` that no running server has."""
        paths = sockets.paths_for(export)
        while True:
            with suppress(NameTakenError):
                return cls(server, next(paths))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        # Removed while it still listens: nobody else takes the name before, or loses a socket of that name.
        with suppress(FileNotFoundError):
            self.path.unlink()
        self._listener.server_close()
        self._thread.join()


def _listener(server: Server, path: Path) -> _Listener:
    if path.exists() and is_running(path):
        raise NameTakenError(f"{path}: a server of that name runs already; choose another name")
    with suppress(FileNotFoundError):
        path.unlink()
    before = os.umask(0o177)
    try:
        return _Listener(server, path)
    finally:
        os.umask(before)


class _Listener(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 2 * MOST_CLIENTS

    def __init__(self, server: Server, path: Path) -> None:
        self.served = server
        self.room = threading.Semaphore(MOST_CLIENTS)
        super().__init__(str(path), _Connection)


class _Connection(socketserver.StreamRequestHandler):
    server: _Listener

    def handle(self) -> None:
        if not self.server.room.acquire(blocking=False):
            self._answer(f'{{"error":"{MOST_CLIENTS} clients are connected already"}}')
            return
        try:
            with suppress(ConnectionError):
                self._converse()
        finally:
            self.server.room.release()

    def _converse(self) -> None:
        while line := self.rfile.readline(LONGEST_REQUEST + 1):
            if len(line) > LONGEST_REQUEST:
                self._answer(f'{{"error":"a request is at most {LONGEST_REQUEST} bytes long"}}')
                return
            self._answer(answer_to(self.server.served, line))

    def _answer(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\n")
