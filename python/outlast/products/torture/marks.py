"""Marks of a workload: what it was promised, noted in the recording before the workload goes on.

Nothing but Python's own library is used: this runs where the workload does, which may be a guest.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

LONGEST = 4096
"""Bytes of a mark."""
OURS = "outlast:"
"""Prefix of marks that the recorder makes itself."""
DONE, REFUSED = b"\n", b"!\n"
"""Answers to a line: lines themselves, so that a shell's `read` ends with each."""


class RefusedError(Exception):
    """A mark that is not recorded, and why."""


class Marks:
    """Takes marks from a Unix datagram socket and from lines on a descriptor, and answers; to be used in `with`.

    `tell` is given a line for each mark that is refused.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        # Before much else is open, so that its number has one digit: some shells can redirect to no other.
        self._lines, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._stop, self._stopped = socket.socketpair()
        self._pending = b""
        self._thread: threading.Thread | None = None

    @property
    def kept(self) -> int:
        """The descriptor that the workload inherits."""
        return self._theirs.fileno()

    def listen(self, note: Callable[[str], None], path: Path) -> dict[str, str]:
        """Marks are taken from now on; the environment by which the workload finds where.

        `note` has a mark recorded, which it is when it returns, or raises `RefusedError`.
        """
        self._datagrams.bind(str(path))
        # Whoever can enter the folder may mark: a workload need not run as this user.
        path.chmod(0o666)
        self._thread = threading.Thread(target=self._serve, args=(note,), name="outlast-marks", daemon=True)
        self._thread.start()
        return {"OUTLAST_MARK_SOCKET": str(path), "OUTLAST_MARK_FD": str(self.kept)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._stop.send(b".")
            self._thread.join()
        for each in (self._lines, self._theirs, self._datagrams, self._stop, self._stopped):
            each.close()

    def _serve(self, note: Callable[[str], None]) -> None:
        with selectors.DefaultSelector() as ready:
            for each in (self._lines, self._datagrams, self._stopped):
                ready.register(each, selectors.EVENT_READ)
            while True:
                waiting = {key.fileobj for key, _ in ready.select()}
                if self._datagrams in waiting:
                    self._take_datagram(note)
                elif self._lines in waiting:
                    self._take_lines(note)
                elif self._stopped in waiting:
                    # Only when nothing is left that had been sent before.
                    return

    def _take_datagram(self, note: Callable[[str], None]) -> None:
        data, sender = self._datagrams.recvfrom(LONGEST + 2)
        refusal = self._take(note, data)
        if sender:
            # Who has gone, or reads no answers, needs none.
            with suppress(OSError):
                answer = b"ok" if refusal is None else f"error: {refusal}".encode()
                self._datagrams.sendto(answer, socket.MSG_DONTWAIT, sender)

    def _take_lines(self, note: Callable[[str], None]) -> None:
        *whole, self._pending = (self._pending + self._lines.recv(1 << 16)).split(b"\n")
        if len(self._pending) > LONGEST:
            whole, self._pending = [*whole, self._pending], b""
        for line in whole:
            answer = DONE if self._take(note, line) is None else REFUSED
            with suppress(OSError):
                self._lines.send(answer, socket.MSG_DONTWAIT)

    def _take(self, note: Callable[[str], None], data: bytes) -> str | None:
        """Has a mark recorded; why not, if it was refused."""
        try:
            note(_text(data))
        except RefusedError as error:
            self._tell(f"mark refused: {error}")
            return str(error)
        return None


def _text(data: bytes) -> str:
    data = data.removesuffix(b"\n")
    if not 1 <= len(data) <= LONGEST:
        raise RefusedError(f"a mark of {len(data)} bytes: must be 1 to {LONGEST}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(f"a mark that is not UTF-8: {os.fsdecode(data[:40])!r}") from error
    if text.startswith(OURS) or any(unicodedata.category(each) == "Cc" and each != "\t" for each in text):
        rule = f"must be one line without control characters that does not begin with {OURS}"
        raise RefusedError(f"mark {text[:40]!r}: {rule}")
    return text
