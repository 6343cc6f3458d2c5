"""Promises of the cases: how a program marks them, and how a check reports those that are broken.

A workload marks each promise after the call that makes it has returned. A check ends with 0 where all promises are
kept, LOST where one is not, CORRUPT where what is there is none of the states that the program went through, AHEAD
where a state holds what was not yet asked for, which no crash can do.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOST = 3
CORRUPT = 4
AHEAD = 5


class PromiseError(RuntimeError):
    """A promise that is not kept; `code` is how a check ends."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def lost(text: str) -> PromiseError:
    """Error for acknowledged data that is missing, where the rest is sound."""
    return PromiseError(LOST, f"lost an acknowledged commit: {text}")


def corrupt(text: str) -> PromiseError:
    """Error for a content that no state of the program ever had."""
    return PromiseError(CORRUPT, f"corrupt: {text}")


class Marks:
    """The recorder, by datagrams that are answered."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("")  # an address of the kernel's choice, for the answer
        self.socket.connect(os.environ["OUTLAST_MARK_SOCKET"])

    def __call__(self, text: str) -> None:
        """`text` is promised from here on; returns when the recorder has it."""
        self.socket.send(text.encode())
        answer = self.socket.recv(64)
        if answer != b"ok":
            raise OSError(f"the recorder answered {answer!r} to the mark {text!r}")


def mount() -> Path:
    """The folder that the drive is mounted at."""
    return Path(os.environ["OUTLAST_MOUNT"])


def sync(path: Path) -> None:
    """All of the file system at `path` to its drive, as the kernel does every few seconds, and of no other."""
    subprocess.run(["sync", "--file-system", str(path)], check=True)


def promised() -> int | None:
    """The number at the end of the last mark; None before the first."""
    words = os.environ.get("OUTLAST_MARK", "").split()
    return int(words[-1]) if words else None


def checked(check: Callable[[int], None], unreadable: tuple[type[BaseException], ...] = (OSError,)) -> int:
    """Exit code of a check of the promises. It raises PromiseError, or `unreadable` for data that it cannot read."""
    number = promised()
    if number is None:
        return 0
    try:
        check(number)
    except PromiseError as broken:
        sys.stdout.write(f"{broken}\n")
        return broken.code
    except unreadable as error:
        sys.stdout.write(f"corrupt: {type(error).__name__}: {' '.join(str(error).split())}\n")
        return CORRUPT
    return 0


def nothing(**_: object) -> None:
    """The setup of a workload that needs none."""


def main(
    work: Callable[..., None], check: Callable[..., int], setup: Callable[..., None] = nothing, **options: Any
) -> None:
    """`setup`, `work` or `check` by the first argument, with `NAME=VALUE` from the others in place of `options`."""
    for text in sys.argv[2:]:
        name, _, value = text.partition("=")
        if name not in options:
            raise SystemExit(f"no option {name!r}: {', '.join(options)}")
        options[name] = type(options[name])(value)
    what = {"setup": setup, "work": work, "check": check}.get("".join(sys.argv[1:2]))
    if what is None:
        raise SystemExit(f"{sys.argv[0]} setup|work|check [NAME=VALUE]…")
    sys.exit(what(**options))
