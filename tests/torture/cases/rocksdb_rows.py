"""RocksDB whose writes are synchronous: `rocksdb_rows.py work|check commits=100`."""

from __future__ import annotations

from rocksdict import AccessType, Options, Rdict, WriteBatch, WriteOptions

from promise import Marks, checked, main, mount
from rows import judge, transaction


def work(commits: int) -> None:
    """`commits` batches, each marked when its write has returned. Small buffers, so that tables are compacted."""
    say = Marks()
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(64 << 10)
    options.set_level_zero_file_num_compaction_trigger(2)
    database = Rdict(str(mount() / "rows.rocksdb"), options=options)
    durable = WriteOptions()
    durable.sync = True
    say("commit 0")
    for number in range(1, commits + 1):
        batch = WriteBatch(raw_mode=True)
        for key, value in transaction(number).items():
            if value is None:
                batch.delete(key.encode())
            else:
                batch.put(key.encode(), value)
        database.write(batch, durable)
        say(f"commit {number}")
    database.close()


def row(part: object) -> bytes:
    """A key or value, which rocksdict has as bytes in its raw mode."""
    assert isinstance(part, bytes)
    return part


def read(promised: int) -> None:
    """Lets RocksDB recover, and compares all rows."""
    database = Rdict(str(mount() / "rows.rocksdb"), options=Options(raw_mode=True), access_type=AccessType.read_write())
    judge({row(key).decode(): row(value) for key, value in database.items()}, promised)
    database.close()


def check(**_: object) -> int:
    """Is what a state holds what was promised? What RocksDB raises has no class of its own."""
    return checked(read, (Exception,))


if __name__ == "__main__":
    main(work, check, commits=100)
