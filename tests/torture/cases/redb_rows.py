"""redb with its default durability: `redb_rows.py work|check program=PATH commits=100`; redb/ has the program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from promise import Marks, checked, corrupt, main, mount
from rows import judge, transaction


@contextmanager
def opened(program: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """The program with the database open: its standard input and output."""
    command = [program, str(mount() / "rows.redb")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin
        assert running.stdout
        assert running.stderr
        try:
            yield running.stdin, running.stdout
        except (BrokenPipeError, EOFError):
            raise corrupt(f"redb: {' '.join(running.stderr.read().split())}") from None


def work(program: str, commits: int) -> None:
    """`commits` transactions, each marked when its commit has returned."""
    say = Marks()
    with opened(program) as (ask, answer):
        for number in range(commits + 1):
            for key, value in transaction(number).items() if number else ():
                ask.write(f"delete {key}\n" if value is None else f"put {key} {value.hex()}\n")
            ask.write("commit\n")
            ask.flush()
            if answer.readline() != "ok\n":
                raise EOFError
            say(f"commit {number}")
        ask.close()


def check(program: str, **_: object) -> int:
    """Is what a state holds what was promised?"""

    def read(promised: int) -> None:
        with opened(program) as (ask, answer):
            ask.write("dump\n")
            ask.flush()
            held = {}
            for line in iter(answer.readline, "ok\n"):
                if not line:
                    raise EOFError
                key, value = line.split()
                held[key] = bytes.fromhex(value)
            ask.close()
        judge(held, promised)

    return checked(read)


if __name__ == "__main__":
    main(work, check, program="redb-rows", commits=100)
