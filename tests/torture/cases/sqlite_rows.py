"""SQLite by Python's own module: `sqlite_rows.py work|check journal=DELETE synchronous=FULL commits=30`."""

from __future__ import annotations

import sqlite3

from promise import Marks, checked, corrupt, lost, main, mount, sync
from rows import judge, transaction

FILE = "rows.db"


def work(journal: str, synchronous: str, commits: int, sync_every: int) -> None:
    """`commits` transactions, each marked when its COMMIT has returned."""
    say = Marks()
    database = sqlite3.connect(mount() / FILE, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={journal}")
    database.execute(f"PRAGMA synchronous={synchronous}")
    database.execute("PRAGMA wal_autocheckpoint=25")
    database.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, value BLOB)")
    say("commit 0")
    for number in range(1, commits + 1):
        database.execute("BEGIN IMMEDIATE")
        for key, value in transaction(number).items():
            if value is None:
                database.execute("DELETE FROM rows WHERE key = ?", (key,))
            else:
                database.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (key, value))
        database.execute("COMMIT")
        say(f"commit {number}")
        if sync_every and number % sync_every == 0:
            sync(mount())
    database.close()


def read(promised: int) -> None:
    """Lets SQLite recover, and compares all rows."""
    database = sqlite3.connect(mount() / FILE, isolation_level=None)
    said = [row[0] for row in database.execute("PRAGMA integrity_check")]
    if said != ["ok"]:
        raise corrupt(f"PRAGMA integrity_check: {said[0]} ({len(said)} in all)".replace("\n", " "))
    if not database.execute("SELECT * FROM sqlite_schema").fetchall():
        raise lost(f"not even the table is there, commit {promised} had been acknowledged")
    judge(dict(database.execute("SELECT key, value FROM rows")), promised)
    database.close()


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read, (OSError, sqlite3.Error))


if __name__ == "__main__":
    main(work, check, journal="DELETE", synchronous="FULL", commits=30, sync_every=0)
