"""A client's view of a served drive of 96 MiB, through libnbd: `served_by_libnbd.py URI`."""

import errno
import sys

import nbd

from by_libnbd import connected, fails

SIZE = 96 << 20
(uri,) = sys.argv[1:]


def extents(h: nbd.NBD, count: int, offset: int, flags: int = 0) -> dict[str, list[int]]:
    """Extents that the server reports, by context."""
    found: dict[str, list[int]] = {}

    def take(name: str, _at: int, entries: list[int], _error: object) -> int:
        found[name] = entries
        return 0

    h.block_status(count, offset, take, flags)
    return found


def commands(h: nbd.NBD, structured: bool) -> None:
    """Every command, every flag, every refusal."""
    h.pwrite(b"a" * 4096, 0, nbd.CMD_FLAG_FUA)
    h.pwrite(b"b" * 512, 512)
    assert h.pread(1024, 0) == b"a" * 512 + b"b" * 512
    h.flush()
    h.cache(1 << 20, 0)
    h.trim(4096, 0, nbd.CMD_FLAG_FUA)
    assert h.pread(4096, 0) == bytes(4096)
    h.pwrite(b"c" * 8192, 0)
    # Less than a unit is advice, and the data stays.
    h.trim(512, 512)
    assert h.pread(4096, 0) == b"c" * 4096
    h.zero(4096, 0)
    h.zero(4096, 4096, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FUA)
    assert h.pread(8192, 0) == bytes(8192)
    h.pwrite(b"d" * 8192, 0)
    h.zero(4096, 2048)
    assert h.pread(8192, 0) == b"d" * 2048 + bytes(4096) + b"d" * 2048
    h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO)
    fails(errno.ENOTSUP, lambda: h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE))
    fails(errno.ENOTSUP, lambda: h.zero(512, 512, nbd.CMD_FLAG_FAST_ZERO))
    fails(errno.EINVAL, lambda: h.pread(512, SIZE))
    fails(errno.ENOSPC, lambda: h.pwrite(bytes(1024), SIZE - 512))
    fails(errno.EINVAL, lambda: h.trim(1024, SIZE - 512))
    fails(errno.EINVAL, lambda: h.pread(100, 0))
    fails(errno.EINVAL, lambda: h.pwrite(bytes(512), 0, nbd.CMD_FLAG_REQ_ONE))
    fails(errno.EOVERFLOW if structured else errno.EINVAL, lambda: h.pread((32 << 20) + 512, 0))
    assert len(h.pread(32 << 20, 16 << 20)) == 32 << 20
    # All of it, and more than the loop does at once.
    h.pwrite(b"e" * 4096, 70 << 20)
    h.zero(SIZE, 0)
    assert h.pread(4096, 70 << 20) == bytes(4096)
    h.zero(5 << 20, 512, nbd.CMD_FLAG_NO_HOLE)
    h.trim(SIZE, 0)
    h.shutdown()


for structured in (True, False):
    commands(connected(uri, structured), structured)

h = connected(uri)
h.pwrite(b"g" * 4096, 20 << 20)
found = extents(h, 1 << 20, 20 << 20)
assert found["base:allocation"] == [4096, 0, (1 << 20) - 4096, 3], found
# In the volatile buffer, until it is flushed.
assert found["x-outlast:health"][:2] == [4096, 4], found
one = extents(h, 1 << 20, 20 << 20, nbd.CMD_FLAG_REQ_ONE)
assert one["base:allocation"] == [4096, 0], one
h.flush()
assert extents(h, 4096, 20 << 20)["x-outlast:health"] == [4096, 0]

# A connection that negotiates and does not come to an end does not hold up another one.
slow = nbd.NBD()
slow.set_opt_mode(True)
slow.connect_uri(uri)
names: list[str] = []


def name_it(name: str, _description: str) -> int:
    """Collects the names of exports."""
    names.append(name)
    return 0


slow.opt_list(name_it)
assert names == ["small"], names
assert h.pread(512, 20 << 20) == b"g" * 512
for name in ("n" * 4096, "none"):
    slow.set_export_name(name)
    fails(errno.ENOENT, slow.opt_info)
slow.set_export_name("small")
slow.opt_go()
assert slow.get_size() == SIZE
# A flush on one connection covers what came on another.
slow.pwrite(b"h" * 4096, 40 << 20)
h.flush()
assert extents(h, 4096, 40 << 20)["x-outlast:health"] == [4096, 0]
slow.shutdown()
h.shutdown()
print("all as specified")
