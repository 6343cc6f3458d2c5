"""Is a mark recorded before it is answered, and refused where it is none?"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from outlast.products.torture.marks import Marks, RefusedError


class Loud:
    """A recorder that keeps what it is told, and answers late: a mark is to be recorded before it is answered."""

    def __init__(self, delay: float = 0) -> None:
        self.request: list[str] = []
        self._delay = delay

    def note(self, mark: str) -> None:
        time.sleep(self._delay)
        if mark == "refuse":
            raise RefusedError("not now")
        self.request.append(mark)


@contextmanager
def listening(server: Loud, path: Path, told: list[str]) -> Iterator[dict[str, str]]:
    with Marks(told.append) as taker:
        yield taker.listen(server.note, path)


def test_marks_are_answered_when_they_are_recorded(tmp_path: Path) -> None:
    server, told = Loud(0.05), list[str]()
    with listening(server, tmp_path / "marks", told) as env:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.bind("")
            sender.connect(env["OUTLAST_MARK_SOCKET"])
            sender.send(b"commit 1\n")
            assert sender.recv(100) == b"ok" and server.request == ["commit 1"]
            for bad, why in (
                (b"", "0 bytes"),
                (b"x" * 4097, "must be 1 to 4096"),
                (b"two\nlines", "must be one line"),
                (b"\x1b[31mred", "without control characters"),
                (b"outlast:end", "does not begin with outlast:"),
                (b"\xff", "not UTF-8"),
                (b"refuse", "not now"),
            ):
                sender.send(bad)
                answer = sender.recv(200).decode()
                assert answer.startswith("error: ") and why in answer
                assert told[-1] == f"mark refused: {answer.removeprefix('error: ')}"
        lines = int(env["OUTLAST_MARK_FD"])
        os.write(lines, b"commit 2\ncommit ")
        assert os.read(lines, 10) == b"\n" and server.request == ["commit 1", "commit 2"]
        os.write(lines, b"3\noutlast:begin\n")
        assert os.read(lines, 1) + os.read(lines, 2) == b"\n!\n" and server.request[2:] == ["commit 3"]
        os.write(lines, b"y" * 5000)
        assert os.read(lines, 2) == b"!\n"


def test_marks_sent_without_waiting_are_recorded_before_the_end(tmp_path: Path) -> None:
    server = Loud(0.002)
    with listening(server, tmp_path / "marks", []) as env:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            # From a socket without an address nobody can wait for an answer.
            for number in range(20):
                sender.sendto(b"%d" % number, env["OUTLAST_MARK_SOCKET"])
        os.write(int(env["OUTLAST_MARK_FD"]), b"last\n")
    assert server.request == [*map(str, range(20)), "last"]
