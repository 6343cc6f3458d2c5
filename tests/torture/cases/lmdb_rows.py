"""LMDB as it is set without options: `lmdb_rows.py work|check commits=100`."""

from __future__ import annotations

import lmdb

from promise import Marks, checked, main, mount
from rows import judge, transaction


def work(commits: int) -> None:
    """`commits` transactions, each marked when its commit has returned."""
    say = Marks()
    with lmdb.open(str(mount() / "rows.lmdb"), map_size=8 << 20) as environment:
        say("commit 0")
        for number in range(1, commits + 1):
            with environment.begin(write=True) as changes:
                for key, value in transaction(number).items():
                    if value is None:
                        changes.delete(key.encode())
                    else:
                        changes.put(key.encode(), value)
            say(f"commit {number}")


def read(promised: int) -> None:
    """Compares all rows."""
    with lmdb.open(str(mount() / "rows.lmdb"), map_size=8 << 20) as environment, environment.begin() as view:
        judge({bytes(key).decode(): bytes(value) for key, value in view.cursor()}, promised)


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read, (OSError, lmdb.Error))


if __name__ == "__main__":
    main(work, check, commits=100)
