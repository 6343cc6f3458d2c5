"""Client's view of the members of a degraded array, through libnbd: `members_by_libnbd.py URI-ALIVE URI-DEAD`."""

import errno
import sys

import nbd

from by_libnbd import connected, fails

alive, dead = sys.argv[1:]


def health(h: nbd.NBD, count: int, offset: int) -> list[int]:
    """Lengths and flags."""
    found: dict[str, list[int]] = {}

    def take(name: str, _at: int, entries: list[int], _error: object) -> int:
        found[name] = entries
        return 0

    h.block_status(count, offset, take)
    return found["x-outlast:health"]


def error_offset(h: nbd.NBD, count: int, offset: int) -> int:
    """Offset at which a read reports its error."""
    at: list[int] = []

    def take(_data: bytes, where: int, status: int, _error: object) -> int:
        if status == nbd.READ_ERROR:
            at.append(where)
        return 0

    fails(errno.EIO, lambda: h.pread_structured(count, offset, take))
    (only,) = at
    return only


def refusals(h: nbd.NBD) -> None:
    """Checks that an export refuses writes and access beyond its end."""
    assert h.is_read_only() and not h.can_trim() and not h.can_zero() and h.can_multi_conn()
    fails(errno.EPERM, lambda: h.pwrite(bytes(4096), 0))
    fails(errno.EPERM, lambda: h.trim(4096, 0))
    fails(errno.EPERM, lambda: h.zero(4096, 0))
    fails(errno.EINVAL, lambda: h.pread(512, h.get_size()))
    h.cache(4096, 0)
    h.shutdown()


refusals(connected(alive))
refusals(connected(dead))

h = connected(alive)
assert len(h.pread(1 << 20, 0)) == 1 << 20
assert health(h, 1 << 20, 0) == [1 << 20, 0]
h.shutdown()

h = connected(dead)
assert error_offset(h, 8192, 1 << 20) == 1 << 20
assert health(h, 1 << 20, 4096) == [1 << 20, 1]
h.shutdown()
print("all as specified")
