"""PostgreSQL as initdb sets it up: `postgres_rows.py setup|work|check commits=60`.

The server refuses to run as root: as root, it is run as the user `postgres` on a folder of the mount. A check runs the
server in its single-user mode, which recovers as the server does and needs no port.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from promise import Marks, checked, corrupt, main, mount, sync
from rows import judge, transaction

TABLE = "CREATE EXTENSION amcheck; CREATE TABLE rows (key text PRIMARY KEY, value bytea);"


def data() -> Path:
    """The server's data folder."""
    return mount() / "data"


def as_server() -> dict[str, Any]:
    """Arguments for subprocess that run a program as the user who owns the server's files."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


def program(name: str) -> str:
    """A program of the server, which Debian keeps off the path."""
    folder = subprocess.run(["pg_config", "--bindir"], check=True, capture_output=True, text=True).stdout.strip()
    return str(Path(folder) / name)


def alone(statements: str) -> None:
    """Runs statements in single-user mode, one a line; corrupt if the server says that it cannot."""
    command = [program("postgres"), "--single", "-D", str(data()), "template1"]
    done = subprocess.run(command, input=statements, capture_output=True, text=True, cwd="/", **as_server())
    said = [line for line in done.stderr.splitlines() if re.search(r"\b(ERROR|FATAL|PANIC):", line)]
    if said or done.returncode:
        raise corrupt(f"PostgreSQL: {said[0] if said else f'ended with {done.returncode}'}")


def setup(**_: object) -> None:
    """A cluster of one database with an empty table, and all of it synced."""
    data().mkdir(mode=0o700)
    if os.geteuid() == 0:
        import pwd

        account = pwd.getpwnam("postgres")
        os.chown(data(), account.pw_uid, account.pw_gid)
    subprocess.run(
        [program("initdb"), "--wal-segsize=1", "--no-locale", "--encoding=UTF8", "-D", str(data())],
        check=True, stdout=subprocess.DEVNULL, cwd="/", **as_server(),
    )  # fmt: skip
    with (data() / "postgresql.conf").open("a") as settings:
        settings.write("min_wal_size = 2MB\nmax_wal_size = 4MB\nshared_buffers = 8MB\nlisten_addresses = ''\n")
    alone(f"{TABLE}\nDROP DATABASE postgres;\n".replace("; ", ";\n"))
    sync(mount())


def work(commits: int) -> None:
    """`commits` transactions by psql, each marked when its COMMIT has been answered."""
    say = Marks()
    with tempfile.TemporaryDirectory() as sockets:
        Path(sockets).chmod(0o777)
        server = subprocess.Popen(
            [program("postgres"), "-D", str(data()), "-k", sockets],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **as_server(),
        )  # fmt: skip
        try:
            _wait(sockets)
            _transactions(sockets, commits, say)
        finally:
            server.terminate()
            server.wait()


def _wait(sockets: str) -> None:
    for _ in range(300):
        if not subprocess.run([program("pg_isready"), "-q", "-h", sockets, "-t", "1"]).returncode:
            return
    raise TimeoutError("PostgreSQL does not start")


def _transactions(sockets: str, commits: int, say: Marks) -> None:
    client = subprocess.Popen(
        ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", sockets, "template1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", **as_server(),
    )  # fmt: skip
    assert client.stdin
    assert client.stdout
    for number in range(commits + 1):
        client.stdin.write("BEGIN;\n")
        for key, value in transaction(number).items() if number else ():
            client.stdin.write(f"DELETE FROM rows WHERE key = '{key}';\n")
            if value is not None:
                client.stdin.write(f"INSERT INTO rows VALUES ('{key}', '\\x{value.hex()}');\n")
        client.stdin.write("COMMIT;\n\\echo done\n")
        client.stdin.flush()
        if client.stdout.readline() != "done\n":
            raise OSError("psql has ended")
        say(f"commit {number}")
        if number % 25 == 20:
            client.stdin.write("CHECKPOINT;\n")
    client.stdin.close()
    client.wait()


def read(promised: int) -> None:
    """Lets the server recover, checks the index by amcheck, and compares all rows."""
    # The machine has been started anew since: no server runs.
    (data() / "postmaster.pid").unlink(missing_ok=True)
    rows = data() / "rows.txt"
    alone(
        f"COPY (SELECT key, encode(value, 'hex') FROM rows) TO '{rows}';\n"
        "SELECT bt_index_check('rows_pkey', true);\n"
    )  # fmt: skip
    lines = [line.split("\t") for line in rows.read_text().splitlines()]
    judge({key: bytes.fromhex(value) for key, value in lines}, promised)


def check(**_: object) -> int:
    """Is what a state holds what was promised?"""
    return checked(read)


if __name__ == "__main__":
    main(work, check, setup, commits=60)
