"""The built-in load of a served device: random reads and writes of 4 KiB at a steady rate, by an NBD client of its own.

It is one client among others: it has a connection, and what it writes overwrites what is on the device. A loss of power
closes its connection as it closes theirs; it connects again when power is back.
"""

from __future__ import annotations

import random
import select
import socket
import struct
import threading
import time
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from outlast.errors import ControlError

BLOCK = 4096
"""Bytes of a request."""
READ_PERCENT = 30
"""Share of reads. Most requests write, so that collection soon has something to do."""
DEPTH = 32
"""Most requests without an answer; the load falls behind its rate rather than to exceed it."""
AGAIN_S = 0.2
"""Interval between two attempts to connect."""
READ, WRITE = 0, 1
REQUEST, REPLY = struct.Struct(">IHHQQI"), struct.Struct(">IIQ")
"""Headers of NBD: magic, flags, kind, cookie, offset, length; magic, error, cookie."""
REQUEST_MAGIC, OPTION_MAGIC = 0x25609513, 0x49484156454F5054
GO, ACK, INFO = 7, 1, 3
"""An option that begins transmission, and two kinds of replies to it."""


class Load:
    """Client that loads the export at `uri` with `rate` requests a second, until it is closed."""

    def __init__(self, uri: str, rate: float, seed: int) -> None:
        self._uri, self._rate = uri, rate
        self._random = random.Random(seed)  # noqa: S311 - a load that can be sent again
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        # Whatever is wrong with the device is found here, and not by the thread.
        self._connection = _Connection(uri)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self._send(self._connection)
            except (OSError, ControlError):
                self._connection.close()
                self._connect_again()

    def _connect_again(self) -> None:
        while not self._over.wait(AGAIN_S):
            try:
                self._connection = _Connection(self._uri)
            except (OSError, ControlError):
                continue
            return

    def _send(self, connection: _Connection) -> None:
        """Sends requests when they are due and takes the answers, until the load ends or the connection breaks."""
        due = time.monotonic()
        while not self._over.is_set():
            now = time.monotonic()
            if len(connection.waiting) < DEPTH and now >= due:
                is_read = self._random.randrange(100) < READ_PERCENT
                offset = self._random.randrange(connection.size // BLOCK) * BLOCK
                connection.ask(offset, None if is_read else self._random.randbytes(BLOCK))
                due = max(due + 1 / self._rate, now - DEPTH / self._rate)
            wait = AGAIN_S if len(connection.waiting) >= DEPTH else min(AGAIN_S, max(0.0, due - now))
            if connection.has_answer(wait):
                connection.take_answer()


class _Connection:
    """A connection to an export, ready for requests."""

    def __init__(self, uri: str) -> None:
        self._socket = _connected(uri)
        self.waiting: dict[int, bool] = {}
        """Requests without an answer by their cookie: true for a read."""
        self._cookie = 0
        try:
            self.size = self._negotiate(unquote(urlsplit(uri).path.removeprefix("/")).encode())
        except BaseException:
            self.close()
            raise

    def _negotiate(self, name: bytes) -> int:
        self._take(18)  # two magic numbers and the server's flags
        data = struct.pack(">I", len(name)) + name + struct.pack(">H", 0)
        self._socket.sendall(struct.pack(">IQII", 3, OPTION_MAGIC, GO, len(data)) + data)
        size, flags, kind = 0, 0, INFO
        while kind != ACK:
            _, _, kind, length = struct.unpack(">QIII", self._take(20))
            told = self._take(length)
            if kind & 1 << 31:
                raise ControlError(f"--load: the server refused the connection: {told.decode(errors='replace')}")
            if kind == INFO and told[:2] == b"\0\0":
                size, flags = struct.unpack(">QH", told[2:12])
        if flags & 2:
            raise ControlError("--load: the device is read-only, and the load writes")
        if size < BLOCK:
            raise ControlError(f"--load: the device has {size} bytes, less than one request of the load")
        return size

    def ask(self, offset: int, data: bytes | None) -> None:
        """Sends a write of `data`, or a read without."""
        self._cookie += 1
        self.waiting[self._cookie] = data is None
        kind = READ if data is None else WRITE
        self._socket.sendall(REQUEST.pack(REQUEST_MAGIC, 0, kind, self._cookie, offset, BLOCK) + (data or b""))

    def has_answer(self, wait_s: float) -> bool:
        """True if an answer has begun to arrive within so many seconds."""
        return bool(select.select([self._socket], [], [], wait_s)[0])

    def take_answer(self) -> None:
        """Takes an answer; what a read finds is not looked at, and an error is the client's to see in the figures."""
        _, error, cookie = REPLY.unpack(self._take(REPLY.size))
        if self.waiting.pop(cookie) and not error:
            self._take(BLOCK)

    def _take(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise ConnectionResetError("the server has closed the connection")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()


def _connected(uri: str) -> socket.socket:
    parts = urlsplit(uri)
    if parts.scheme.startswith("nbds"):
        raise ControlError("--load connects without TLS: add --tls offer")
    if parts.scheme == "nbd+unix":
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.connect(parse_qs(parts.query)["socket"][0])
        except BaseException:
            connected.close()
            raise
        return connected
    return socket.create_connection((parts.hostname, parts.port or 10809))
